// Helpers of derivative formulas: gradients that take more than an expression. They are written with public operators
// that are differentiable themselves, so that a gradient's own gradient follows. A header for each group of operators.
//
// Their types, as formulas see them, stand in codegen/expr/formula_helpers.cpp. `grad` is the gradient of the
// result, `sizes` are those of the input that the helper computes a gradient for. A gradient may have more dimensions,
// or sizes where the input has 1: the engine sums those away.
#pragma once

#include <keyway/autograd/formulas/attention_formulas.h>
#include <keyway/autograd/formulas/convolution_formulas.h>
#include <keyway/autograd/formulas/decomposition_formulas.h>
#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/formulas/indexing_formulas.h>
#include <keyway/autograd/formulas/joining_formulas.h>
#include <keyway/autograd/formulas/normalization_formulas.h>
#include <keyway/autograd/formulas/pointwise_formulas.h>
#include <keyway/autograd/formulas/pooling_formulas.h>
#include <keyway/autograd/formulas/product_formulas.h>
#include <keyway/autograd/formulas/recurrent_formulas.h>
#include <keyway/autograd/formulas/reduction_formulas.h>
#include <keyway/autograd/formulas/shape_formulas.h>
#include <keyway/autograd/formulas/softmax_formulas.h>
#include <keyway/autograd/formulas/sorting_formulas.h>
