// Operators as C functions, by the rule of schema_call.h. abi.h declares those for every device, aoti_torch_aten_*. The
// others are called after the CPU, and serve tensors of every device too.
#include <keyway/stable/abi/schema_call.h>

#include <array>

// function: its name; parameters: with types, and without.
#define KEYWAY_ABI_OPERATOR(function, op, parameters, ...)                                                  \
  extern "C" KEYWAY_ABI_EXPORT AOTITorchError function parameters;                                          \
  AOTITorchError function parameters {                                                                      \
    const auto words = [](auto... each) { return std::array{keyway::abi::word_of(each)...}; }(__VA_ARGS__); \
    return keyway::abi::call_by_schema(__func__, op, words);                                                \
  }

KEYWAY_ABI_OPERATOR(aoti_torch_aten_amax, "amax",
                    (AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_length, std::int32_t keepdim,
                     AtenTensorHandle* ret0),
                    self, dim, dim_length, keepdim, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_fill__Scalar, "fill_.Scalar", (AtenTensorHandle self, double value), self, value)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_full, "full",
                    (const std::int64_t* size, std::int64_t size_length, double fill_value, std::int32_t* dtype,
                     std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    size, size_length, fill_value, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_narrow, "narrow",
                    (AtenTensorHandle self, std::int64_t dim, std::int64_t start, std::int64_t length,
                     AtenTensorHandle* ret0),
                    self, dim, start, length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_empty, "new_empty",
                    (AtenTensorHandle self, const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype,
                     std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    self, size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_zeros, "new_zeros",
                    (AtenTensorHandle self, const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype,
                     std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    self, size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_pad, "pad",
                    (AtenTensorHandle self, const std::int64_t* pad, std::int64_t pad_length, const char* mode,
                     double* value, AtenTensorHandle* ret0),
                    self, pad, pad_length, mode, value, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_subtract_Tensor, "sub.Tensor",
                    (AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle* ret0), self, other,
                    alpha, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d, "_adaptive_avg_pool2d",
                    (AtenTensorHandle self, const std::int64_t* output_size, std::int64_t output_size_length,
                     AtenTensorHandle* ret0),
                    self, output_size, output_size_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d_backward, "_adaptive_avg_pool2d_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, AtenTensorHandle* ret0), grad_output, self,
                    ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d, "_adaptive_avg_pool3d",
                    (AtenTensorHandle self, const std::int64_t* output_size, std::int64_t output_size_length,
                     AtenTensorHandle* ret0),
                    self, output_size, output_size_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d_backward, "_adaptive_avg_pool3d_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, AtenTensorHandle* ret0), grad_output, self,
                    ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__cdist_forward, "_cdist_forward",
                    (AtenTensorHandle x1, AtenTensorHandle x2, double p, std::int64_t* compute_mode,
                     AtenTensorHandle* ret0),
                    x1, x2, p, compute_mode, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__embedding_bag, "_embedding_bag",
                    (AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
                     std::int32_t scale_grad_by_freq, std::int64_t mode, std::int32_t sparse,
                     AtenTensorHandle* per_sample_weights, std::int32_t include_last_offset, std::int64_t padding_idx,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1, AtenTensorHandle* ret2, AtenTensorHandle* ret3),
                    weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                    padding_idx, ret0, ret1, ret2, ret3)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_c2c, "_fft_c2c",
                    (AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_length,
                     std::int64_t normalization, std::int32_t forward, AtenTensorHandle* ret0),
                    self, dim, dim_length, normalization, forward, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_r2c, "_fft_r2c",
                    (AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_length,
                     std::int64_t normalization, std::int32_t onesided, AtenTensorHandle* ret0),
                    self, dim, dim_length, normalization, onesided, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__pdist_forward, "_pdist_forward",
                    (AtenTensorHandle self, double p, AtenTensorHandle* ret0), self, p, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_abs, "abs", (AtenTensorHandle self, AtenTensorHandle* ret0), self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool2d, "adaptive_max_pool2d",
                    (AtenTensorHandle self, const std::int64_t* output_size, std::int64_t output_size_length,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, output_size, output_size_length, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool3d, "adaptive_max_pool3d",
                    (AtenTensorHandle self, const std::int64_t* output_size, std::int64_t output_size_length,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, output_size, output_size_length, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Scalar, "add.Scalar",
                    (AtenTensorHandle self, double other, double alpha, AtenTensorHandle* ret0), self, other, alpha,
                    ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Tensor, "add.Tensor",
                    (AtenTensorHandle self, AtenTensorHandle other, double alpha, AtenTensorHandle* ret0), self, other,
                    alpha, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addbmm, "addbmm",
                    (AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2, double beta, double alpha,
                     AtenTensorHandle* ret0),
                    self, batch1, batch2, beta, alpha, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmm_out, "addmm.out",
                    (AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat1, AtenTensorHandle mat2,
                     double beta, double alpha),
                    out, self, mat1, mat2, beta, alpha)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmv, "addmv",
                    (AtenTensorHandle self, AtenTensorHandle mat, AtenTensorHandle vec, double beta, double alpha,
                     AtenTensorHandle* ret0),
                    self, mat, vec, beta, alpha, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_angle, "angle", (AtenTensorHandle self, AtenTensorHandle* ret0), self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d, "avg_pool2d",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* stride, std::int64_t stride_length, const std::int64_t* padding,
                     std::int64_t padding_length, std::int32_t ceil_mode, std::int32_t count_include_pad,
                     std::int64_t* divisor_override, AtenTensorHandle* ret0),
                    self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length, ceil_mode,
                    count_include_pad, divisor_override, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d_backward, "avg_pool2d_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, const std::int64_t* kernel_size,
                     std::int64_t kernel_size_length, const std::int64_t* stride, std::int64_t stride_length,
                     const std::int64_t* padding, std::int64_t padding_length, std::int32_t ceil_mode,
                     std::int32_t count_include_pad, std::int64_t* divisor_override, AtenTensorHandle* ret0),
                    grad_output, self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length,
                    ceil_mode, count_include_pad, divisor_override, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d, "avg_pool3d",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* stride, std::int64_t stride_length, const std::int64_t* padding,
                     std::int64_t padding_length, std::int32_t ceil_mode, std::int32_t count_include_pad,
                     std::int64_t* divisor_override, AtenTensorHandle* ret0),
                    self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length, ceil_mode,
                    count_include_pad, divisor_override, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d_backward, "avg_pool3d_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, const std::int64_t* kernel_size,
                     std::int64_t kernel_size_length, const std::int64_t* stride, std::int64_t stride_length,
                     const std::int64_t* padding, std::int64_t padding_length, std::int32_t ceil_mode,
                     std::int32_t count_include_pad, std::int64_t* divisor_override, AtenTensorHandle* ret0),
                    grad_output, self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length,
                    ceil_mode, count_include_pad, divisor_override, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_baddbmm_out, "baddbmm.out",
                    (AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle batch1, AtenTensorHandle batch2,
                     double beta, double alpha),
                    out, self, batch1, batch2, beta, alpha)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__Tensor, "bernoulli_.Tensor",
                    (AtenTensorHandle self, AtenTensorHandle p, AtenGeneratorHandle* generator), self, p, generator)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__float, "bernoulli_.float",
                    (AtenTensorHandle self, double p, AtenGeneratorHandle* generator), self, p, generator)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bmm_out, "bmm.out",
                    (AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2), out, self, mat2)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bucketize_Tensor, "bucketize.Tensor",
                    (AtenTensorHandle self, AtenTensorHandle boundaries, std::int32_t out_int32, std::int32_t right,
                     AtenTensorHandle* ret0),
                    self, boundaries, out_int32, right, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cat, "cat",
                    (const AtenTensorHandle* tensors, std::int64_t tensors_length, std::int64_t dim,
                     AtenTensorHandle* ret0),
                    tensors, tensors_length, dim, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_inverse, "cholesky_inverse",
                    (AtenTensorHandle self, std::int32_t upper, AtenTensorHandle* ret0), self, upper, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_solve, "cholesky_solve",
                    (AtenTensorHandle self, AtenTensorHandle input2, std::int32_t upper, AtenTensorHandle* ret0), self,
                    input2, upper, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution, "convolution",
                    (AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle* bias,
                     const std::int64_t* stride, std::int64_t stride_length, const std::int64_t* padding,
                     std::int64_t padding_length, const std::int64_t* dilation, std::int64_t dilation_length,
                     std::int32_t transposed, const std::int64_t* output_padding, std::int64_t output_padding_length,
                     std::int64_t groups, AtenTensorHandle* ret0),
                    input, weight, bias, stride, stride_length, padding, padding_length, dilation, dilation_length,
                    transposed, output_padding, output_padding_length, groups, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution_backward, "convolution_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle input, AtenTensorHandle weight,
                     const std::int64_t** bias_sizes, std::int64_t bias_sizes_length, const std::int64_t* stride,
                     std::int64_t stride_length, const std::int64_t* padding, std::int64_t padding_length,
                     const std::int64_t* dilation, std::int64_t dilation_length, std::int32_t transposed,
                     const std::int64_t* output_padding, std::int64_t output_padding_length, std::int64_t groups,
                     const std::int32_t* output_mask, std::int64_t output_mask_length, AtenTensorHandle* ret0,
                     AtenTensorHandle* ret1, AtenTensorHandle* ret2),
                    grad_output, input, weight, bias_sizes, bias_sizes_length, stride, stride_length, padding,
                    padding_length, dilation, dilation_length, transposed, output_padding, output_padding_length,
                    groups, output_mask, output_mask_length, ret0, ret1, ret2)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummax, "cummax",
                    (AtenTensorHandle self, std::int64_t dim, AtenTensorHandle* ret0, AtenTensorHandle* ret1), self,
                    dim, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummin, "cummin",
                    (AtenTensorHandle self, std::int64_t dim, AtenTensorHandle* ret0, AtenTensorHandle* ret1), self,
                    dim, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumprod, "cumprod",
                    (AtenTensorHandle self, std::int64_t dim, std::int32_t* dtype, AtenTensorHandle* ret0), self, dim,
                    dtype, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumsum, "cumsum",
                    (AtenTensorHandle self, std::int64_t dim, std::int32_t* dtype, AtenTensorHandle* ret0), self, dim,
                    dtype, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fill__Scalar, "fill_.Scalar", (AtenTensorHandle self, double value), self, value)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool2d, "fractional_max_pool2d",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* output_size, std::int64_t output_size_length, AtenTensorHandle random_samples,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, kernel_size, kernel_size_length, output_size, output_size_length, random_samples, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool3d, "fractional_max_pool3d",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* output_size, std::int64_t output_size_length, AtenTensorHandle random_samples,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, kernel_size, kernel_size_length, output_size, output_size_length, random_samples, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_gcd, "gcd", (AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle* ret0),
                    self, other, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_geqrf, "geqrf",
                    (AtenTensorHandle self, AtenTensorHandle* ret0, AtenTensorHandle* ret1), self, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_grid_sampler_3d, "grid_sampler_3d",
                    (AtenTensorHandle input, AtenTensorHandle grid, std::int64_t interpolation_mode,
                     std::int64_t padding_mode, std::int32_t align_corners, AtenTensorHandle* ret0),
                    input, grid, interpolation_mode, padding_mode, align_corners, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_hann_window, "hann_window",
                    (std::int64_t window_length, std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                     std::int32_t device_index, std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    window_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_histc, "histc",
                    (AtenTensorHandle self, std::int64_t bins, double min, double max, AtenTensorHandle* ret0), self,
                    bins, min, max, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_Tensor, "index.Tensor",
                    (AtenTensorHandle self, const AtenTensorHandle** indices, std::int64_t indices_length,
                     AtenTensorHandle* ret0),
                    self, indices, indices_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_put, "index_put",
                    (AtenTensorHandle self, const AtenTensorHandle** indices, std::int64_t indices_length,
                     AtenTensorHandle values, std::int32_t accumulate, AtenTensorHandle* ret0),
                    self, indices, indices_length, values, accumulate, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_reduce, "index_reduce",
                    (AtenTensorHandle self, std::int64_t dim, AtenTensorHandle index, AtenTensorHandle source,
                     const char* reduce, std::int32_t include_self, AtenTensorHandle* ret0),
                    self, dim, index, source, reduce, include_self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_kthvalue, "kthvalue",
                    (AtenTensorHandle self, std::int64_t k, std::int64_t dim, std::int32_t keepdim,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, k, dim, keepdim, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_logcumsumexp, "logcumsumexp",
                    (AtenTensorHandle self, std::int64_t dim, AtenTensorHandle* ret0), self, dim, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_lu_unpack, "lu_unpack",
                    (AtenTensorHandle LU_data, AtenTensorHandle LU_pivots, std::int32_t unpack_data,
                     std::int32_t unpack_pivots, AtenTensorHandle* ret0, AtenTensorHandle* ret1,
                     AtenTensorHandle* ret2),
                    LU_data, LU_pivots, unpack_data, unpack_pivots, ret0, ret1, ret2)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_scatter, "masked_scatter",
                    (AtenTensorHandle self, AtenTensorHandle mask, AtenTensorHandle source, AtenTensorHandle* ret0),
                    self, mask, source, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_select, "masked_select",
                    (AtenTensorHandle self, AtenTensorHandle mask, AtenTensorHandle* ret0), self, mask, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices, "max_pool2d_with_indices",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* stride, std::int64_t stride_length, const std::int64_t* padding,
                     std::int64_t padding_length, const std::int64_t* dilation, std::int64_t dilation_length,
                     std::int32_t ceil_mode, AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length, dilation,
                    dilation_length, ceil_mode, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices_backward, "max_pool2d_with_indices_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, const std::int64_t* kernel_size,
                     std::int64_t kernel_size_length, const std::int64_t* stride, std::int64_t stride_length,
                     const std::int64_t* padding, std::int64_t padding_length, const std::int64_t* dilation,
                     std::int64_t dilation_length, std::int32_t ceil_mode, AtenTensorHandle indices,
                     AtenTensorHandle* ret0),
                    grad_output, self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length,
                    dilation, dilation_length, ceil_mode, indices, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices, "max_pool3d_with_indices",
                    (AtenTensorHandle self, const std::int64_t* kernel_size, std::int64_t kernel_size_length,
                     const std::int64_t* stride, std::int64_t stride_length, const std::int64_t* padding,
                     std::int64_t padding_length, const std::int64_t* dilation, std::int64_t dilation_length,
                     std::int32_t ceil_mode, AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length, dilation,
                    dilation_length, ceil_mode, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices_backward, "max_pool3d_with_indices_backward",
                    (AtenTensorHandle grad_output, AtenTensorHandle self, const std::int64_t* kernel_size,
                     std::int64_t kernel_size_length, const std::int64_t* stride, std::int64_t stride_length,
                     const std::int64_t* padding, std::int64_t padding_length, const std::int64_t* dilation,
                     std::int64_t dilation_length, std::int32_t ceil_mode, AtenTensorHandle indices,
                     AtenTensorHandle* ret0),
                    grad_output, self, kernel_size, kernel_size_length, stride, stride_length, padding, padding_length,
                    dilation, dilation_length, ceil_mode, indices, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool2d, "max_unpool2d",
                    (AtenTensorHandle self, AtenTensorHandle indices, const std::int64_t* output_size,
                     std::int64_t output_size_length, AtenTensorHandle* ret0),
                    self, indices, output_size, output_size_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool3d, "max_unpool3d",
                    (AtenTensorHandle self, AtenTensorHandle indices, const std::int64_t* output_size,
                     std::int64_t output_size_length, const std::int64_t* stride, std::int64_t stride_length,
                     const std::int64_t* padding, std::int64_t padding_length, AtenTensorHandle* ret0),
                    self, indices, output_size, output_size_length, stride, stride_length, padding, padding_length,
                    ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_median, "median", (AtenTensorHandle self, AtenTensorHandle* ret0), self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mm_out, "mm.out",
                    (AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2), out, self, mat2)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mode, "mode",
                    (AtenTensorHandle self, std::int64_t dim, std::int32_t keepdim, AtenTensorHandle* ret0,
                     AtenTensorHandle* ret1),
                    self, dim, keepdim, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Scalar, "mul.Scalar",
                    (AtenTensorHandle self, double other, AtenTensorHandle* ret0), self, other, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Tensor, "mul.Tensor",
                    (AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle* ret0), self, other, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nanmedian, "nanmedian", (AtenTensorHandle self, AtenTensorHandle* ret0), self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_narrow, "narrow",
                    (AtenTensorHandle self, std::int64_t dim, std::int64_t start, std::int64_t length,
                     AtenTensorHandle* ret0),
                    self, dim, start, length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_native_dropout, "native_dropout",
                    (AtenTensorHandle input, double p, std::int32_t* train, AtenTensorHandle* ret0,
                     AtenTensorHandle* ret1),
                    input, p, train, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nonzero, "nonzero", (AtenTensorHandle self, AtenTensorHandle* ret0), self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_ormqr, "ormqr",
                    (AtenTensorHandle self, AtenTensorHandle input2, AtenTensorHandle input3, std::int32_t left,
                     std::int32_t transpose, AtenTensorHandle* ret0),
                    self, input2, input3, left, transpose, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pad, "pad",
                    (AtenTensorHandle self, const std::int64_t* pad, std::int64_t pad_length, const char* mode,
                     double* value, AtenTensorHandle* ret0),
                    self, pad, pad_length, mode, value, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_permute, "permute",
                    (AtenTensorHandle self, const std::int64_t* dims, std::int64_t dims_length, AtenTensorHandle* ret0),
                    self, dims, dims_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_polar, "polar",
                    (AtenTensorHandle abs, AtenTensorHandle angle, AtenTensorHandle* ret0), abs, angle, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Scalar, "pow.Scalar",
                    (double self, AtenTensorHandle exponent, AtenTensorHandle* ret0), self, exponent, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Scalar, "pow.Tensor_Scalar",
                    (AtenTensorHandle self, double exponent, AtenTensorHandle* ret0), self, exponent, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Tensor, "pow.Tensor_Tensor",
                    (AtenTensorHandle self, AtenTensorHandle exponent, AtenTensorHandle* ret0), self, exponent, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand, "rand",
                    (const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype, std::int32_t* layout,
                     std::int32_t* device_type, std::int32_t device_index, std::int32_t* pin_memory,
                     AtenTensorHandle* ret0),
                    size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_generator, "rand.generator",
                    (const std::int64_t* size, std::int64_t size_length, AtenGeneratorHandle* generator,
                     std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    size, size_length, generator, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_like, "rand_like",
                    (AtenTensorHandle self, std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                     std::int32_t device_index, std::int32_t* pin_memory, std::int32_t* memory_format,
                     AtenTensorHandle* ret0),
                    self, dtype, layout, device_type, device_index, pin_memory, memory_format, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint, "randint",
                    (std::int64_t high, const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype,
                     std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    high, size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_generator, "randint.generator",
                    (std::int64_t high, const std::int64_t* size, std::int64_t size_length,
                     AtenGeneratorHandle* generator, std::int32_t* dtype, std::int32_t* layout,
                     std::int32_t* device_type, std::int32_t device_index, std::int32_t* pin_memory,
                     AtenTensorHandle* ret0),
                    high, size, size_length, generator, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low, "randint.low",
                    (std::int64_t low, std::int64_t high, const std::int64_t* size, std::int64_t size_length,
                     std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    low, high, size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low_out, "randint.low_out",
                    (AtenTensorHandle out, std::int64_t low, std::int64_t high, const std::int64_t* size,
                     std::int64_t size_length),
                    out, low, high, size, size_length)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like, "randint_like",
                    (AtenTensorHandle self, std::int64_t high, std::int32_t* dtype, std::int32_t* layout,
                     std::int32_t* device_type, std::int32_t device_index, std::int32_t* pin_memory,
                     std::int32_t* memory_format, AtenTensorHandle* ret0),
                    self, high, dtype, layout, device_type, device_index, pin_memory, memory_format, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like_low_dtype, "randint_like.low_dtype",
                    (AtenTensorHandle self, std::int64_t low, std::int64_t high, std::int32_t* dtype,
                     std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, std::int32_t* memory_format, AtenTensorHandle* ret0),
                    self, low, high, dtype, layout, device_type, device_index, pin_memory, memory_format, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn, "randn",
                    (const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype, std::int32_t* layout,
                     std::int32_t* device_type, std::int32_t device_index, std::int32_t* pin_memory,
                     AtenTensorHandle* ret0),
                    size, size_length, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_generator, "randn.generator",
                    (const std::int64_t* size, std::int64_t size_length, AtenGeneratorHandle* generator,
                     std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                     std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    size, size_length, generator, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_like, "randn_like",
                    (AtenTensorHandle self, std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                     std::int32_t device_index, std::int32_t* pin_memory, std::int32_t* memory_format,
                     AtenTensorHandle* ret0),
                    self, dtype, layout, device_type, device_index, pin_memory, memory_format, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randperm, "randperm",
                    (std::int64_t n, std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                     std::int32_t device_index, std::int32_t* pin_memory, AtenTensorHandle* ret0),
                    n, dtype, layout, device_type, device_index, pin_memory, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_repeat_interleave_Tensor, "repeat_interleave.Tensor",
                    (AtenTensorHandle repeats, std::int64_t* output_size, AtenTensorHandle* ret0), repeats, output_size,
                    ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_reshape, "reshape",
                    (AtenTensorHandle self, const std::int64_t* shape, std::int64_t shape_length,
                     AtenTensorHandle* ret0),
                    self, shape, shape_length, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_resize_, "resize_",
                    (AtenTensorHandle self, const std::int64_t* size, std::int64_t size_length,
                     std::int32_t* memory_format),
                    self, size, size_length, memory_format)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_src_out, "scatter.src_out",
                    (AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim, AtenTensorHandle index,
                     AtenTensorHandle src),
                    out, self, dim, index, src)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_value_out, "scatter.value_out",
                    (AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim, AtenTensorHandle index,
                     double value),
                    out, self, dim, index, value)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_reduce_two_out, "scatter_reduce.two_out",
                    (AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim, AtenTensorHandle index,
                     AtenTensorHandle src, const char* reduce, std::int32_t include_self),
                    out, self, dim, index, src, reduce, include_self)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Scalar, "searchsorted.Scalar",
                    (AtenTensorHandle sorted_sequence, double self, std::int32_t out_int32, std::int32_t right,
                     const char** side, AtenTensorHandle* sorter, AtenTensorHandle* ret0),
                    sorted_sequence, self, out_int32, right, side, sorter, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Tensor, "searchsorted.Tensor",
                    (AtenTensorHandle sorted_sequence, AtenTensorHandle self, std::int32_t out_int32,
                     std::int32_t right, const char** side, AtenTensorHandle* sorter, AtenTensorHandle* ret0),
                    sorted_sequence, self, out_int32, right, side, sorter, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_slice_Tensor, "slice.Tensor",
                    (AtenTensorHandle self, std::int64_t dim, std::int64_t* start, std::int64_t* end, std::int64_t step,
                     AtenTensorHandle* ret0),
                    self, dim, start, end, step, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort, "sort",
                    (AtenTensorHandle self, std::int64_t dim, std::int32_t descending, AtenTensorHandle* ret0,
                     AtenTensorHandle* ret1),
                    self, dim, descending, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort_stable, "sort.stable",
                    (AtenTensorHandle self, std::int32_t* stable, std::int64_t dim, std::int32_t descending,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, stable, dim, descending, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_squeeze_dim, "squeeze.dim",
                    (AtenTensorHandle self, std::int64_t dim, AtenTensorHandle* ret0), self, dim, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_topk, "topk",
                    (AtenTensorHandle self, std::int64_t k, std::int64_t dim, std::int32_t largest, std::int32_t sorted,
                     AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, k, dim, largest, sorted, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_triangular_solve, "triangular_solve",
                    (AtenTensorHandle self, AtenTensorHandle A, std::int32_t upper, std::int32_t transpose,
                     std::int32_t unitriangular, AtenTensorHandle* ret0, AtenTensorHandle* ret1),
                    self, A, upper, transpose, unitriangular, ret0, ret1)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_dtype, "view.dtype",
                    (AtenTensorHandle self, std::int32_t dtype, AtenTensorHandle* ret0), self, dtype, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_complex, "view_as_complex", (AtenTensorHandle self, AtenTensorHandle* ret0),
                    self, ret0)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_real, "view_as_real", (AtenTensorHandle self, AtenTensorHandle* ret0), self,
                    ret0)
