// A library of operators in plain C over the stable C ABI. FAULT says what is wrong with it: 0 for nothing.
#include <keyway/stable/abi.h>

#ifndef FAULT
#define FAULT 0
#endif

#define CHECK(call)                              \
  do {                                           \
    if ((call) != KEYWAY_ABI_SUCCESS) goto fail; \
  } while (0)

// plain::scale(Tensor self, float by) -> Tensor: of contiguous float64 tensors.
static void scale(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  AtenTensorHandle self = (AtenTensorHandle)(uintptr_t)stack[0], result = NULL;
  union {
    StableIValue slot;
    double number;
  } by = {stack[1]};
  int32_t dtype = 0, device_type = 0, device_index = 0;
  int64_t numel = 0, dim = 0, *sizes = NULL, *strides = NULL;
  const void* from = NULL;
  void* to = NULL;
  (void)num_arguments, (void)num_results;
  CHECK(aoti_torch_get_dtype(self, &dtype));
  if (dtype != aoti_torch_dtype_float64()) {
    keyway_abi_fail("plain::scale takes float64");
    goto done;
  }
  CHECK(aoti_torch_get_dim(self, &dim));
  CHECK(aoti_torch_get_numel(self, &numel));
  CHECK(aoti_torch_get_sizes(self, &sizes));
  CHECK(aoti_torch_get_strides(self, &strides));
  CHECK(aoti_torch_get_device_type(self, &device_type));
  CHECK(aoti_torch_get_device_index(self, &device_index));
  CHECK(aoti_torch_empty_strided(dim, sizes, strides, dtype, device_type, device_index, &result));
  CHECK(torch_get_const_data_ptr(self, &from));
  CHECK(torch_get_mutable_data_ptr(result, &to));
  for (int64_t i = 0; i < numel; ++i) ((double*)to)[i] = ((const double*)from)[i] * by.number;
  stack[0] = (StableIValue)(uintptr_t)result;
  goto done;
fail:
  keyway_abi_fail(NULL);
  if (result != NULL) aoti_torch_delete_tensor_object(result);
done:
  aoti_torch_delete_tensor_object(self);
}

// Gives back what it gets: arguments and results are in the same slots.
static void echo(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  (void)stack, (void)num_arguments, (void)num_results;
}

// plain::failing() -> Tensor: asks for what it cannot have, and passes the message on.
static void failing(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  int64_t dim = 0;
  (void)stack, (void)num_arguments, (void)num_results;
  if (aoti_torch_get_dim(NULL, &dim) != KEYWAY_ABI_SUCCESS) keyway_abi_fail(NULL);
}

// plain::wrong_slot(int what) -> Tensor: leaves what is no tensor.
static void wrong_slot(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  const StableIValue what = stack[0];
  StableListHandle list = NULL;
  (void)num_arguments, (void)num_results;
  if (what == 0) stack[0] = 0;
  if (what == 1) stack[0] = 17;
  if (what == 2 && torch_new_list_reserve_size(0, &list) == KEYWAY_ABI_SUCCESS)
    stack[0] = (StableIValue)(uintptr_t)list;
}

static int64_t deleted = 0;
static void count_deleted(void* data, void* context) {
  (void)data;
  *(int64_t*)context += 1;
}

// plain::borrow() -> Tensor: memory of this library, which is not given back before the tensor goes.
static void borrow(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  static double numbers[6] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[] = {2, 3}, strides[] = {3, 1};
  AtenTensorHandle result = NULL;
  (void)num_arguments, (void)num_results;
  if (torch_from_blob(numbers, 2, sizes, strides, 0, aoti_torch_dtype_float64(), aoti_torch_device_type_cpu(), -1,
                      &result, aoti_torch_layout_strided(), NULL, 0, count_deleted, &deleted) != KEYWAY_ABI_SUCCESS)
    keyway_abi_fail(NULL);
  stack[0] = (StableIValue)(uintptr_t)result;
}

// plain::deleted() -> int
static void how_many_deleted(StableIValue* stack, uint64_t num_arguments, uint64_t num_results) {
  (void)num_arguments, (void)num_results;
  stack[0] = (StableIValue)deleted;
}

static TorchLibraryHandle definitions, kernels, other_device;

__attribute__((constructor)) static void register_operators(void) {
  const int32_t tags[] = {torch_tag_pointwise(), torch_tag_core()};
  aoti_torch_library_init_def("plain", __FILE__, __LINE__, &definitions);
  torch_library_def_with_tags(definitions, "scale(Tensor self, float by) -> Tensor", tags, 2);
  aoti_torch_library_def(definitions, "failing() -> Tensor");
  aoti_torch_library_def(definitions, "wrong_slot(int what) -> Tensor");
  aoti_torch_library_def(definitions, "borrow() -> Tensor");
  aoti_torch_library_def(definitions, "deleted() -> int");
  aoti_torch_library_def(definitions,
                         "echo(Tensor a, Tensor? b, int c, float d, bool e, str f, ScalarType g, Layout h, "
                         "MemoryFormat i, Device j, Generator? k, Scalar l, complex m, int? n, str? o, int[] p, "
                         "float[] q, bool[] r, Tensor[] s, Tensor?[] t, str[] u, int?[] v, int[][] w, Tensor[][] x, "
                         "Scalar[] y, ScalarType[] z, SymInt aa, float[]? bb) -> "
                         "(Tensor, Tensor?, int, float, bool, str, ScalarType, Layout, MemoryFormat, Device, "
                         "Generator?, Scalar, complex, int?, str?, int[], float[], bool[], Tensor[], Tensor?[], str[], "
                         "int?[], int[][], Tensor[][], Scalar[], ScalarType[], int, float[]?)");
  aoti_torch_library_init_impl("plain", "CPU", __FILE__, __LINE__, &kernels);
  torch_library_impl(kernels, "scale", scale, KEYWAY_ABI_VERSION);
  torch_library_impl(kernels, "echo", echo, KEYWAY_ABI_VERSION);
  TorchLibraryHandle composite = NULL;
  aoti_torch_library_init_impl("plain", "CompositeExplicitAutograd", __FILE__, __LINE__, &composite);
  torch_library_impl(composite, "failing", failing, KEYWAY_ABI_VERSION);
  torch_library_impl(composite, "wrong_slot", wrong_slot, KEYWAY_ABI_VERSION);
  torch_library_impl(composite, "borrow", borrow, KEYWAY_ABI_VERSION);
  torch_library_impl(composite, "deleted", how_many_deleted, KEYWAY_ABI_VERSION);
  aoti_torch_delete_library_object(composite);
#if FAULT == 1
  aoti_torch_library_def(definitions, "broken(Tensor self");
#elif FAULT == 2
  TorchLibraryHandle unknown = NULL;
  aoti_torch_library_init_impl("plain", "Nowhere", __FILE__, __LINE__, &unknown);
  torch_library_impl(unknown, "scale", scale, KEYWAY_ABI_VERSION);
  aoti_torch_delete_library_object(unknown);
#elif FAULT == 3
  TorchLibraryHandle aten = NULL;
  aoti_torch_library_init_fragment("aten", __FILE__, __LINE__, &aten);
  keyway_abi_library_expect(aten, "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, float value=2) -> Tensor");
  keyway_abi_library_expect(aten, "no_such_operator(Tensor self) -> Tensor");
  aoti_torch_delete_library_object(aten);
#elif FAULT == 4
  torch_library_impl(kernels, "scale", scale, UINT64_C(3) << 56);
#elif FAULT == 5
  aoti_torch_library_def(NULL, "more() -> Tensor");
  torch_library_impl(kernels, NULL, scale, KEYWAY_ABI_VERSION);
  torch_library_impl(kernels, "scale", NULL, KEYWAY_ABI_VERSION);
#endif
  aoti_torch_library_init_impl("plain", "XPU", __FILE__, __LINE__, &other_device);
  torch_library_impl(other_device, "scale", scale, KEYWAY_ABI_VERSION);
}

__attribute__((destructor)) static void delete_libraries(void) {
  aoti_torch_delete_library_object(definitions);
  aoti_torch_delete_library_object(kernels);
  aoti_torch_delete_library_object(other_device);
}
