// Operators as C functions, by the rule of schema_call.h. abi.h declares those for every device, aoti_torch_aten_*. The
// others are called after the CPU, and serve tensors of every device too.
#include <keyway/stable/abi/schema_call.h>

#include <array>

namespace {

using Handle = AtenTensorHandle;
using Result = AtenTensorHandle*;
using Int = std::int64_t;
using Flag = std::int32_t;  // a bool, or a value of an enumeration

}  // namespace

#define INTS const Int*, Int                      // a list and its length
#define OPTIONS Flag*, Flag*, Flag*, Flag, Flag*  // dtype, layout, device by type and index, pin_memory

// Of up to 27 types: parameters that have them, named p, p0, p00 and so on; and these names alone. A macro is not
// expanded within itself, so each further parameter needs a further scan of the text.
#define SCANNED(...) SCANNED_9(SCANNED_9(SCANNED_9(__VA_ARGS__)))
#define SCANNED_9(...) SCANNED_3(SCANNED_3(SCANNED_3(__VA_ARGS__)))
#define SCANNED_3(...) SCANNED_1(SCANNED_1(SCANNED_1(__VA_ARGS__)))
#define SCANNED_1(...) __VA_ARGS__
#define NEXT ()
#define PARAMETERS(name, type, ...) type name __VA_OPT__(, PARAMETERS_AGAIN NEXT(name##0, __VA_ARGS__))
#define PARAMETERS_AGAIN() PARAMETERS
#define NAMES(name, type, ...) name __VA_OPT__(, NAMES_AGAIN NEXT(name##0, __VA_ARGS__))
#define NAMES_AGAIN() NAMES

// function: its name; then the operator, and the types of the parameters.
#define KEYWAY_ABI_OPERATOR(function, op, ...)                                               \
  extern "C" KEYWAY_ABI_EXPORT AOTITorchError function(SCANNED(PARAMETERS(p, __VA_ARGS__))); \
  AOTITorchError function(SCANNED(PARAMETERS(p, __VA_ARGS__))) {                             \
    const auto words = [](auto... each) {                                                    \
      return std::array{keyway::abi::word_of(each)...};                                      \
    }(SCANNED(NAMES(p, __VA_ARGS__)));                                                       \
    return keyway::abi::call_by_schema(__func__, op, words);                                 \
  }

KEYWAY_ABI_OPERATOR(aoti_torch_aten_amax, "amax", Handle, INTS, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_fill__Scalar, "fill_.Scalar", Handle, double)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_full, "full", INTS, double, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_narrow, "narrow", Handle, Int, Int, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_empty, "new_empty", Handle, INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_new_zeros, "new_zeros", Handle, INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_pad, "pad", Handle, INTS, const char*, double*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_aten_subtract_Tensor, "sub.Tensor", Handle, Handle, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d, "_adaptive_avg_pool2d", Handle, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool2d_backward, "_adaptive_avg_pool2d_backward", Handle, Handle,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d, "_adaptive_avg_pool3d", Handle, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__adaptive_avg_pool3d_backward, "_adaptive_avg_pool3d_backward", Handle, Handle,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__cdist_forward, "_cdist_forward", Handle, Handle, double, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__embedding_bag, "_embedding_bag", Handle, Handle, Handle, Flag, Int, Flag, Handle*,
                    Flag, Int, Result, Result, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_c2c, "_fft_c2c", Handle, INTS, Int, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__fft_r2c, "_fft_r2c", Handle, INTS, Int, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu__pdist_forward, "_pdist_forward", Handle, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_abs, "abs", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool2d, "adaptive_max_pool2d", Handle, INTS, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_adaptive_max_pool3d, "adaptive_max_pool3d", Handle, INTS, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Scalar, "add.Scalar", Handle, double, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_add_Tensor, "add.Tensor", Handle, Handle, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addbmm, "addbmm", Handle, Handle, Handle, double, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmm_out, "addmm.out", Handle, Handle, Handle, Handle, double, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_addmv, "addmv", Handle, Handle, Handle, double, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_angle, "angle", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d, "avg_pool2d", Handle, INTS, INTS, INTS, Flag, Flag, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool2d_backward, "avg_pool2d_backward", Handle, Handle, INTS, INTS, INTS, Flag,
                    Flag, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d, "avg_pool3d", Handle, INTS, INTS, INTS, Flag, Flag, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_avg_pool3d_backward, "avg_pool3d_backward", Handle, Handle, INTS, INTS, INTS, Flag,
                    Flag, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_baddbmm_out, "baddbmm.out", Handle, Handle, Handle, Handle, double, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__Tensor, "bernoulli_.Tensor", Handle, Handle, AtenGeneratorHandle*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bernoulli__float, "bernoulli_.float", Handle, double, AtenGeneratorHandle*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bmm_out, "bmm.out", Handle, Handle, Handle)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_bucketize_Tensor, "bucketize.Tensor", Handle, Handle, Flag, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cat, "cat", const Handle*, Int, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_inverse, "cholesky_inverse", Handle, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cholesky_solve, "cholesky_solve", Handle, Handle, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution, "convolution", Handle, Handle, Handle*, INTS, INTS, INTS, Flag, INTS,
                    Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_convolution_backward, "convolution_backward", Handle, Handle, Handle, const Int**,
                    Int, INTS, INTS, INTS, Flag, INTS, Int, const Flag*, Int, Result, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummax, "cummax", Handle, Int, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cummin, "cummin", Handle, Int, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumprod, "cumprod", Handle, Int, Flag*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_cumsum, "cumsum", Handle, Int, Flag*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fill__Scalar, "fill_.Scalar", Handle, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool2d, "fractional_max_pool2d", Handle, INTS, INTS, Handle, Result,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_fractional_max_pool3d, "fractional_max_pool3d", Handle, INTS, INTS, Handle, Result,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_gcd, "gcd", Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_geqrf, "geqrf", Handle, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_grid_sampler_3d, "grid_sampler_3d", Handle, Handle, Int, Int, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_hann_window, "hann_window", Int, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_histc, "histc", Handle, Int, double, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_Tensor, "index.Tensor", Handle, const Handle**, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_put, "index_put", Handle, const Handle**, Int, Handle, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_index_reduce, "index_reduce", Handle, Int, Handle, Handle, const char*, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_kthvalue, "kthvalue", Handle, Int, Int, Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_logcumsumexp, "logcumsumexp", Handle, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_lu_unpack, "lu_unpack", Handle, Handle, Flag, Flag, Result, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_scatter, "masked_scatter", Handle, Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_masked_select, "masked_select", Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices, "max_pool2d_with_indices", Handle, INTS, INTS, INTS, INTS,
                    Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool2d_with_indices_backward, "max_pool2d_with_indices_backward", Handle, Handle,
                    INTS, INTS, INTS, INTS, Flag, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices, "max_pool3d_with_indices", Handle, INTS, INTS, INTS, INTS,
                    Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_pool3d_with_indices_backward, "max_pool3d_with_indices_backward", Handle, Handle,
                    INTS, INTS, INTS, INTS, Flag, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool2d, "max_unpool2d", Handle, Handle, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_max_unpool3d, "max_unpool3d", Handle, Handle, INTS, INTS, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_median, "median", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mm_out, "mm.out", Handle, Handle, Handle)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mode, "mode", Handle, Int, Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Scalar, "mul.Scalar", Handle, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_mul_Tensor, "mul.Tensor", Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nanmedian, "nanmedian", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_narrow, "narrow", Handle, Int, Int, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_native_dropout, "native_dropout", Handle, double, Flag*, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_nonzero, "nonzero", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_ormqr, "ormqr", Handle, Handle, Handle, Flag, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pad, "pad", Handle, INTS, const char*, double*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_permute, "permute", Handle, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_polar, "polar", Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Scalar, "pow.Scalar", double, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Scalar, "pow.Tensor_Scalar", Handle, double, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_pow_Tensor_Tensor, "pow.Tensor_Tensor", Handle, Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand, "rand", INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_generator, "rand.generator", INTS, AtenGeneratorHandle*, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_rand_like, "rand_like", Handle, OPTIONS, Flag*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint, "randint", Int, INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_generator, "randint.generator", Int, INTS, AtenGeneratorHandle*, OPTIONS,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low, "randint.low", Int, Int, INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_low_out, "randint.low_out", Handle, Int, Int, INTS)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like, "randint_like", Handle, Int, OPTIONS, Flag*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randint_like_low_dtype, "randint_like.low_dtype", Handle, Int, Int, OPTIONS, Flag*,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn, "randn", INTS, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_generator, "randn.generator", INTS, AtenGeneratorHandle*, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randn_like, "randn_like", Handle, OPTIONS, Flag*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_randperm, "randperm", Int, OPTIONS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_repeat_interleave_Tensor, "repeat_interleave.Tensor", Handle, Int*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_reshape, "reshape", Handle, INTS, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_resize_, "resize_", Handle, INTS, Flag*)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_src_out, "scatter.src_out", Handle, Handle, Int, Handle, Handle)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_value_out, "scatter.value_out", Handle, Handle, Int, Handle, double)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_scatter_reduce_two_out, "scatter_reduce.two_out", Handle, Handle, Int, Handle,
                    Handle, const char*, Flag)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Scalar, "searchsorted.Scalar", Handle, double, Flag, Flag, const char**,
                    Handle*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_searchsorted_Tensor, "searchsorted.Tensor", Handle, Handle, Flag, Flag, const char**,
                    Handle*, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_slice_Tensor, "slice.Tensor", Handle, Int, Int*, Int*, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort, "sort", Handle, Int, Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_sort_stable, "sort.stable", Handle, Flag*, Int, Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_squeeze_dim, "squeeze.dim", Handle, Int, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_topk, "topk", Handle, Int, Int, Flag, Flag, Result, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_triangular_solve, "triangular_solve", Handle, Handle, Flag, Flag, Flag, Result,
                    Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_dtype, "view.dtype", Handle, Flag, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_complex, "view_as_complex", Handle, Result)
KEYWAY_ABI_OPERATOR(aoti_torch_cpu_view_as_real, "view_as_real", Handle, Result)
