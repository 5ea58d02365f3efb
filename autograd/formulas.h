// Helpers of derivative formulas: gradients that take more than an expression. They are written with public operators
// that are differentiable themselves, so that a gradient's own gradient follows. A header for each group of operators.
//
// Their types, as formulas see them, stand in codegen/expr/formula_helpers.cpp. `grad` is the gradient of the
// result, `sizes` are those of the input that the helper computes a gradient for. A gradient may have more dimensions,
// or sizes where the input has 1: the engine sums those away.
#pragma once

#include <keyway/autograd/attention_formulas.h>
#include <keyway/autograd/convolution_formulas.h>
#include <keyway/autograd/decomposition_formulas.h>
#include <keyway/autograd/formula_words.h>
#include <keyway/autograd/indexing_formulas.h>
#include <keyway/autograd/joining_formulas.h>
#include <keyway/autograd/normalization_formulas.h>
#include <keyway/autograd/pointwise_formulas.h>
#include <keyway/autograd/pooling_formulas.h>
#include <keyway/autograd/product_formulas.h>
#include <keyway/autograd/recurrent_formulas.h>
#include <keyway/autograd/reduction_formulas.h>
#include <keyway/autograd/shape_formulas.h>
#include <keyway/autograd/softmax_formulas.h>
#include <keyway/autograd/sorting_formulas.h>
