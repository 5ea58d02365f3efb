// Functions of the ABI that Keyway does not serve: libraries that name them load, and a call is a failure that says
// why. abi.h does not declare them.
#include <keyway/core/base/warning.h>
#include <keyway/stable/abi/errors.h>

using namespace keyway;
using namespace keyway::abi;

// Whatever the arguments are, they are not read. With C++ linkage the type would be a part of the name.
#define KEYWAY_ABI_UNSERVED(function, why)                                                              \
  extern "C" KEYWAY_ABI_EXPORT AOTITorchError function(...);                                            \
  AOTITorchError function(...) {                                                                        \
    return guarded(#function, [] { KEYWAY_FAIL(NotImplemented, "Keyway does not have it: {}", why); }); \
  }

namespace {
constexpr const char* kOfCompiledModels = "it is for models that PyTorch's compiler has compiled";
constexpr const char* kOfPython = "tensors of Python do not cross the stable C ABI";
constexpr const char* kOfLibrary = "it serves a library that Keyway is built without";
}  // namespace

KEYWAY_ABI_UNSERVED(aoti_torch_int64_to_ivalue, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_strlist_to_ivalue, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_str_to_ivalue, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_tensor_to_ivalue, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_delete_c10_value_object, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_record_function_start, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_record_function_end, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch__alloc_from_pool, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_check_inf_and_nan, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_proxy_executor_call_function, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_empty_strided_pinned, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_cuda_caching_allocator_raw_alloc, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_cuda_caching_allocator_raw_delete, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_create_cuda_guard, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_delete_cuda_guard, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_cuda_guard_set_index, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_create_cuda_stream_guard, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(aoti_torch_delete_cuda_stream_guard, kOfCompiledModels)
KEYWAY_ABI_UNSERVED(torch_get_thread_idx, "what a kernel computes must not depend on the number of the thread")
KEYWAY_ABI_UNSERVED(torch_get_current_cuda_blas_handle, "its products of matrices have no handle of cuBLAS")
KEYWAY_ABI_UNSERVED(torch_mps_set_arg_bytes, kOfLibrary)
KEYWAY_ABI_UNSERVED(aoti_torch_cpu_wrapped_fbgemm_pack_gemm_matrix_fp16, kOfLibrary)
KEYWAY_ABI_UNSERVED(aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight, kOfLibrary)
KEYWAY_ABI_UNSERVED(aoti_torch_cpu__wrapped_linear_prepack, kOfLibrary)
KEYWAY_ABI_UNSERVED(aoti_torch_cpu__wrapped_quantized_linear_prepacked, kOfLibrary)
KEYWAY_ABI_UNSERVED(torch_tensor_from_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_tensor_to_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_is_tensor_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_dtype_from_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_dtype_to_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_device_from_pyobject, kOfPython)
KEYWAY_ABI_UNSERVED(torch_device_to_pyobject, kOfPython)
