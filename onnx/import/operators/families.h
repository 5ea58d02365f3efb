// The rows of the table of operators, family by family.
#pragma once

#include <keyway/onnx/import/operators/table.h>

namespace keyway::inline v1::onnx {

Family activation_family();
Family control_family();
Family conversion_family();
Family convolution_family();
Family image_family();
Family indexing_family();
Family math_family();
Family matrix_family();
Family normalization_family();
Family pooling_family();
Family quantization_family();
Family random_family();
Family recurrent_family();
Family reduction_family();
Family resize_family();
Family shape_family();
Family signal_family();
Family text_family();
Family training_family();

}  // namespace keyway::inline v1::onnx
