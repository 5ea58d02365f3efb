// Normalisation of batches and of samples, as functions.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/nn/option.h>
#include <keyway/tensor.h>

namespace keyway::inline v1::nn::functional {

class BatchNormFuncOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(Tensor, bias) = {};
  KEYWAY_OPTION(bool, training) = false;
  KEYWAY_OPTION(double, momentum) = 0.1;
  KEYWAY_OPTION(double, eps) = 1e-5;
};
// (x - mean) / sqrt(variance + eps) of each channel of an input [batch, channels, ...], times a weight [channels] plus
// a bias [channels]. While training, mean and variance are those of the batch, and a part `momentum` of them (of the
// variance, of its unbiased estimate) goes into `running_mean` and `running_var`, if these are defined; else they are
// these. Throws keyway::Error if they are needed and undefined, and for one value per channel while training.
KEYWAY_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                             const BatchNormFuncOptions& options = {});

class InstanceNormFuncOptions {
  KEYWAY_OPTION(Tensor, running_mean) = {};
  KEYWAY_OPTION(Tensor, running_var) = {};
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(Tensor, bias) = {};
  KEYWAY_OPTION(bool, use_input_stats) = true;
  KEYWAY_OPTION(double, momentum) = 0.1;
  KEYWAY_OPTION(double, eps) = 1e-5;
};
// batch_norm of each sample by itself: what goes into the running statistics is the mean over samples; they are what is
// taken without `use_input_stats`.
KEYWAY_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

// input / max(its p-norm along `dim`, eps).
KEYWAY_API Tensor normalize(const Tensor& input, double p = 2, std::int64_t dim = 1, double eps = 1e-12);

// x / (k + alpha * the mean of the squares of `size` channels around each)^beta, of an input [batch, channels, ...]
// (Krizhevsky et al., 2012). Throws keyway::Error for fewer than 3 dimensions.
KEYWAY_API Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha = 1e-4, double beta = 0.75,
                                      double k = 1);

}  // namespace keyway::inline v1::nn::functional
