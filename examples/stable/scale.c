// A library of operators in plain C: it works with every version of Keyway from this one on, whatever compiler made
// either, and with PyTorch but for keyway_abi_fail.
//
//   cc -std=c99 -shared -fPIC -I<include folder of Keyway> scale.c -o libscale.so
//   keyway --plugin ./libscale.so show c_example::scale
#include <keyway/stable/abi.h>

// c_example::scale(Tensor self, float by) -> Tensor: of float32. The kernel owns its arguments, and deletes what it
// does not give back.
static void scale(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  const AtenTensorHandle self = (AtenTensorHandle)(uintptr_t)stack[0];
  union {
    StableIValue slot;
    double number;
  } by;
  AtenTensorHandle result = NULL;
  void* data = NULL;
  int64_t numel = 0;
  int32_t dtype = 0;
  (void)num_arguments;
  (void)num_results;
  by.slot = stack[1];

  if (aoti_torch_get_dtype(self, &dtype) != KEYWAY_ABI_SUCCESS) {
    keyway_abi_fail(NULL);  // with the message of what failed
  } else if (dtype != aoti_torch_dtype_float32()) {
    keyway_abi_fail("c_example::scale takes float32");
  } else if (aoti_torch_clone(self, &result) != KEYWAY_ABI_SUCCESS ||
             aoti_torch_get_numel(result, &numel) != KEYWAY_ABI_SUCCESS ||
             torch_get_mutable_data_ptr(result, &data) != KEYWAY_ABI_SUCCESS) {
    keyway_abi_fail(NULL);
    if (result != NULL) aoti_torch_delete_tensor_object(result);
  } else {
    float* const numbers = (float*)data;
    for (int64_t i = 0; i < numel; ++i) numbers[i] *= (float)by.number;
    stack[0] = (StableIValue)(uintptr_t)result;
  }
  aoti_torch_delete_tensor_object(self);
}

// They stay as long as the library is loaded.
static TorchLibraryHandle definitions, kernels;

// Runs as the library is loaded. What is wrong is told at the end, so that nothing need be checked here.
__attribute__((constructor)) static void register_operators(void) {
  aoti_torch_library_init_def("c_example", __FILE__, __LINE__, &definitions);
  aoti_torch_library_def(definitions, "scale(Tensor self, float by) -> Tensor");
  aoti_torch_library_init_impl("c_example", "CPU", __FILE__, __LINE__, &kernels);
  torch_library_impl(kernels, "scale", scale, KEYWAY_ABI_VERSION);
}
__attribute__((destructor)) static void delete_libraries(void) {
  aoti_torch_delete_library_object(definitions);
  aoti_torch_delete_library_object(kernels);
}
