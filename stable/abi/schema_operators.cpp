// Operators as C functions, by the rule of schema_call.h. abi.h declares those for every device, aoti_torch_aten_*. The
// others are called after the CPU, and serve tensors of every device too.
#include <keyway/stable/abi/schema_call.h>

#include <array>

namespace {

using TensorIn = AtenTensorHandle;
using TensorOut = AtenTensorHandle*;
using Integer = std::int64_t;
using Flag = std::int32_t;  // a bool, or a value of an enumeration

}  // namespace

#define INTEGERS const Integer*, Integer          // a list and its length
#define OPTIONS Flag*, Flag*, Flag*, Flag, Flag*  // dtype, layout, device by type and index, pin_memory

// Of up to 27 types: parameters that have them, named p, p0, p00 and so on; and these names alone. A macro is not
// expanded within itself, so each further parameter needs a further scan of the text.
#define KEYWAY_ABI_SCANNED(...) KEYWAY_ABI_SCANNED_9(KEYWAY_ABI_SCANNED_9(KEYWAY_ABI_SCANNED_9(__VA_ARGS__)))
#define KEYWAY_ABI_SCANNED_9(...) KEYWAY_ABI_SCANNED_3(KEYWAY_ABI_SCANNED_3(KEYWAY_ABI_SCANNED_3(__VA_ARGS__)))
#define KEYWAY_ABI_SCANNED_3(...) KEYWAY_ABI_SCANNED_1(KEYWAY_ABI_SCANNED_1(KEYWAY_ABI_SCANNED_1(__VA_ARGS__)))
#define KEYWAY_ABI_SCANNED_1(...) __VA_ARGS__
#define KEYWAY_ABI_NEXT ()
#define KEYWAY_ABI_PARAMETERS(name, type, ...) \
  type name __VA_OPT__(, KEYWAY_ABI_PARAMETERS_AGAIN KEYWAY_ABI_NEXT(name##0, __VA_ARGS__))
#define KEYWAY_ABI_PARAMETERS_AGAIN() KEYWAY_ABI_PARAMETERS
#define KEYWAY_ABI_NAMES(name, type, ...) \
  name __VA_OPT__(, KEYWAY_ABI_NAMES_AGAIN KEYWAY_ABI_NEXT(name##0, __VA_ARGS__))
#define KEYWAY_ABI_NAMES_AGAIN() KEYWAY_ABI_NAMES

// function: its name; then the operator, and the types of the parameters.
#define KEYWAY_ABI_OPERATOR(function, op, ...)                                                                     \
  extern "C" KEYWAY_ABI_EXPORT AOTITorchError function(KEYWAY_ABI_SCANNED(KEYWAY_ABI_PARAMETERS(p, __VA_ARGS__))); \
  AOTITorchError function(KEYWAY_ABI_SCANNED(KEYWAY_ABI_PARAMETERS(p, __VA_ARGS__))) {                             \
    const auto words = [](auto... each) {                                                                          \
      return std::array{keyway::abi::word_of(each)...};                                                            \
    }(KEYWAY_ABI_SCANNED(KEYWAY_ABI_NAMES(p, __VA_ARGS__)));                                                       \
    return keyway::abi::call_by_schema(__func__, op, words);                                                       \
  }

KEYWAY_ABI_OPERATOR(aoti_torch_aten_amax, "amax", TensorIn, INTEGERS, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_fill__Scalar, "fill_.Scalar", TensorIn, double)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_full, "full", INTEGERS, double, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_narrow, "narrow", TensorIn, Integer, Integer, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_empty, "new_empty", TensorIn, INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_zeros, "new_zeros", TensorIn, INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_pad, "pad", TensorIn, INTEGERS, const char*, double*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_subtract_Tensor, "sub.Tensor", TensorIn, TensorIn, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d, "_adaptive_avg_pool2d", TensorIn, INTEGERS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d_backward, "_adaptive_avg_pool2d_backward", TensorIn, TensorIn,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d, "_adaptive_avg_pool3d", TensorIn, INTEGERS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d_backward, "_adaptive_avg_pool3d_backward", TensorIn, TensorIn,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__cdist_forward, "_cdist_forward", TensorIn, TensorIn, double, Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__embedding_bag, "_embedding_bag", TensorIn, TensorIn, TensorIn, Flag, Integer, Flag,
                    TensorIn*, Flag, Integer, TensorOut, TensorOut, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_c2c, "_fft_c2c", TensorIn, INTEGERS, Integer, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_r2c, "_fft_r2c", TensorIn, INTEGERS, Integer, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__pdist_forward, "_pdist_forward", TensorIn, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_abs, "abs", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool2d, "adaptive_max_pool2d", TensorIn, INTEGERS, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool3d, "adaptive_max_pool3d", TensorIn, INTEGERS, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Scalar, "add.Scalar", TensorIn, double, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Tensor, "add.Tensor", TensorIn, TensorIn, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addbmm, "addbmm", TensorIn, TensorIn, TensorIn, double, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmm_out, "addmm.out", TensorIn, TensorIn, TensorIn, TensorIn, double, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmv, "addmv", TensorIn, TensorIn, TensorIn, double, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_angle, "angle", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d, "avg_pool2d", TensorIn, INTEGERS, INTEGERS, INTEGERS, Flag, Flag,
                    Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d_backward, "avg_pool2d_backward", TensorIn, TensorIn, INTEGERS, INTEGERS,
                    INTEGERS, Flag, Flag, Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d, "avg_pool3d", TensorIn, INTEGERS, INTEGERS, INTEGERS, Flag, Flag,
                    Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d_backward, "avg_pool3d_backward", TensorIn, TensorIn, INTEGERS, INTEGERS,
                    INTEGERS, Flag, Flag, Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_baddbmm_out, "baddbmm.out", TensorIn, TensorIn, TensorIn, TensorIn, double, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__Tensor, "bernoulli_.Tensor", TensorIn, TensorIn, AtenGeneratorHandle*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__float, "bernoulli_.float", TensorIn, double, AtenGeneratorHandle*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bmm_out, "bmm.out", TensorIn, TensorIn, TensorIn)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bucketize_Tensor, "bucketize.Tensor", TensorIn, TensorIn, Flag, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cat, "cat", const TensorIn*, Integer, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_inverse, "cholesky_inverse", TensorIn, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_solve, "cholesky_solve", TensorIn, TensorIn, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution, "convolution", TensorIn, TensorIn, TensorIn*, INTEGERS, INTEGERS,
                    INTEGERS, Flag, INTEGERS, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution_backward, "convolution_backward", TensorIn, TensorIn, TensorIn,
                    const Integer**, Integer, INTEGERS, INTEGERS, INTEGERS, Flag, INTEGERS, Integer, const Flag*,
                    Integer, TensorOut, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummax, "cummax", TensorIn, Integer, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummin, "cummin", TensorIn, Integer, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumprod, "cumprod", TensorIn, Integer, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumsum, "cumsum", TensorIn, Integer, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fill__Scalar, "fill_.Scalar", TensorIn, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool2d, "fractional_max_pool2d", TensorIn, INTEGERS, INTEGERS,
                    TensorIn, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool3d, "fractional_max_pool3d", TensorIn, INTEGERS, INTEGERS,
                    TensorIn, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_gcd, "gcd", TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_geqrf, "geqrf", TensorIn, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_grid_sampler_3d, "grid_sampler_3d", TensorIn, TensorIn, Integer, Integer, Flag,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_hann_window, "hann_window", Integer, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_histc, "histc", TensorIn, Integer, double, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_Tensor, "index.Tensor", TensorIn, const TensorIn**, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_put, "index_put", TensorIn, const TensorIn**, Integer, TensorIn, Flag,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_reduce, "index_reduce", TensorIn, Integer, TensorIn, TensorIn, const char*,
                    Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_kthvalue, "kthvalue", TensorIn, Integer, Integer, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_logcumsumexp, "logcumsumexp", TensorIn, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_lu_unpack, "lu_unpack", TensorIn, TensorIn, Flag, Flag, TensorOut, TensorOut,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_scatter, "masked_scatter", TensorIn, TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_select, "masked_select", TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices, "max_pool2d_with_indices", TensorIn, INTEGERS, INTEGERS,
                    INTEGERS, INTEGERS, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices_backward, "max_pool2d_with_indices_backward", TensorIn,
                    TensorIn, INTEGERS, INTEGERS, INTEGERS, INTEGERS, Flag, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices, "max_pool3d_with_indices", TensorIn, INTEGERS, INTEGERS,
                    INTEGERS, INTEGERS, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices_backward, "max_pool3d_with_indices_backward", TensorIn,
                    TensorIn, INTEGERS, INTEGERS, INTEGERS, INTEGERS, Flag, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool2d, "max_unpool2d", TensorIn, TensorIn, INTEGERS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool3d, "max_unpool3d", TensorIn, TensorIn, INTEGERS, INTEGERS, INTEGERS,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_median, "median", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mm_out, "mm.out", TensorIn, TensorIn, TensorIn)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mode, "mode", TensorIn, Integer, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Scalar, "mul.Scalar", TensorIn, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Tensor, "mul.Tensor", TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nanmedian, "nanmedian", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_narrow, "narrow", TensorIn, Integer, Integer, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_native_dropout, "native_dropout", TensorIn, double, Flag*, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nonzero, "nonzero", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_ormqr, "ormqr", TensorIn, TensorIn, TensorIn, Flag, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pad, "pad", TensorIn, INTEGERS, const char*, double*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_permute, "permute", TensorIn, INTEGERS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_polar, "polar", TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Scalar, "pow.Scalar", double, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Scalar, "pow.Tensor_Scalar", TensorIn, double, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Tensor, "pow.Tensor_Tensor", TensorIn, TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand, "rand", INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_generator, "rand.generator", INTEGERS, AtenGeneratorHandle*, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_like, "rand_like", TensorIn, OPTIONS, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint, "randint", Integer, INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_generator, "randint.generator", Integer, INTEGERS, AtenGeneratorHandle*,
                    OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low, "randint.low", Integer, Integer, INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low_out, "randint.low_out", TensorIn, Integer, Integer, INTEGERS)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like, "randint_like", TensorIn, Integer, OPTIONS, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like_low_dtype, "randint_like.low_dtype", TensorIn, Integer, Integer,
                    OPTIONS, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn, "randn", INTEGERS, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_generator, "randn.generator", INTEGERS, AtenGeneratorHandle*, OPTIONS,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_like, "randn_like", TensorIn, OPTIONS, Flag*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randperm, "randperm", Integer, OPTIONS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_repeat_interleave_Tensor, "repeat_interleave.Tensor", TensorIn, Integer*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_reshape, "reshape", TensorIn, INTEGERS, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_resize_, "resize_", TensorIn, INTEGERS, Flag*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_src_out, "scatter.src_out", TensorIn, TensorIn, Integer, TensorIn, TensorIn)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_value_out, "scatter.value_out", TensorIn, TensorIn, Integer, TensorIn,
                    double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_reduce_two_out, "scatter_reduce.two_out", TensorIn, TensorIn, Integer,
                    TensorIn, TensorIn, const char*, Flag)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Scalar, "searchsorted.Scalar", TensorIn, double, Flag, Flag,
                    const char**, TensorIn*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Tensor, "searchsorted.Tensor", TensorIn, TensorIn, Flag, Flag,
                    const char**, TensorIn*, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_slice_Tensor, "slice.Tensor", TensorIn, Integer, Integer*, Integer*, Integer,
                    TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort, "sort", TensorIn, Integer, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort_stable, "sort.stable", TensorIn, Flag*, Integer, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_squeeze_dim, "squeeze.dim", TensorIn, Integer, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_topk, "topk", TensorIn, Integer, Integer, Flag, Flag, TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_triangular_solve, "triangular_solve", TensorIn, TensorIn, Flag, Flag, Flag,
                    TensorOut, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_dtype, "view.dtype", TensorIn, Flag, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_complex, "view_as_complex", TensorIn, TensorOut)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_real, "view_as_real", TensorIn, TensorOut)

#undef INTEGERS
#undef OPTIONS
