// The stable C ABI of Keyway: tensors, operators and kernels as plain C functions, for libraries that outlive versions
// of Keyway and of compilers.
//
// The functions aoti_torch_* and torch_* are those of PyTorch's stable C ABI, under the same names, so that a library
// that is built against either header loads into both. The functions keyway_abi_* are Keyway's own; PyTorch has none.
//
// A library leaves these functions undefined, or links libkeyway_torch_abi.so. load_library, load_plugin and
// `keyway --plugin` see that it needs them and open that library first.
//
// Versions: functions are added and never changed or taken away. A library can tell by aoti_torch_abi_version() what
// there is; one that needs a function that is not there does not load, and the error names the function. It says in
// torch_library_impl and torch_call_dispatcher for which version it was built (KEYWAY_ABI_VERSION): another major
// version is an error.
//
// Errors: functions return KEYWAY_ABI_SUCCESS or KEYWAY_ABI_FAILURE; torch_exception_get_what_without_backtrace() has
// the message of the thread's last failure. A null handle, or a handle of another kind, is a failure. A pointer that is
// no handle at all, or a handle that was deleted, cannot always be told from one.
//
// Ownership: a handle that a function returns through a pointer belongs to the caller, who deletes it once. Handles
// that are passed as arguments are borrowed, but those in slots: who passes a slot gives away what is in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYWAY_ABI_EXPORT __attribute__((visibility("default")))

// The version: PyTorch's major and minor version of the functions that both have, in the two highest bytes, and in the
// lowest byte the number of Keyway's own additions, which is 0 where PyTorch serves the library.
#define KEYWAY_ABI_VERSION ((UINT64_C(2) << 56) | (UINT64_C(15) << 48) | UINT64_C(1))

#define KEYWAY_ABI_SUCCESS 0
#define KEYWAY_ABI_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t AOTITorchError;

typedef struct AtenTensorOpaque* AtenTensorHandle;
typedef struct AtenGeneratorOpaque* AtenGeneratorHandle;
typedef struct StableListOpaque* StableListHandle;
typedef struct StringOpaque* StringHandle;
typedef struct TorchLibraryOpaque* TorchLibraryHandle;
typedef struct DeviceGuardOpaque* DeviceGuardHandle;
typedef struct StreamOpaque* StreamHandle;
typedef struct KeywayScalarOpaque* KeywayScalarHandle;

// One argument or result of a boxed call, in 64 bits. Numbers stand in the low bytes, as memory has them:
//
//   Tensor                    AtenTensorHandle
//   int, float                int64_t, double
//   bool                      0 or 1
//   ScalarType, Layout,
//   MemoryFormat              the int32_t of the getters below
//   Device                    the device type in the high half, the index in the low half
//   str                       StringHandle
//   Generator                 AtenGeneratorHandle
//   Scalar, complex           KeywayScalarHandle (PyTorch has no slot for them)
//   T?                        0, or the address of a slot of T, made by torch_new_stable_ivalue
//   T[]                       StableListHandle, of slots of T
typedef uint64_t StableIValue;

// A kernel: the arguments are in the first slots, and it leaves the results in the first slots. The arguments belong to
// it, and the results to the caller. It reports an error by keyway_abi_fail, or by an exception if it is C++.
typedef void (*KeywayKernel)(StableIValue* stack, uint64_t num_arguments, uint64_t num_results);

// ---- Versions and errors ----

// KEYWAY_ABI_VERSION of the library that serves the caller.
KEYWAY_ABI_EXPORT uint64_t aoti_torch_abi_version(void);

// What the last failure of this thread was; empty if there was none. Valid until the next failure.
KEYWAY_ABI_EXPORT const char* torch_exception_get_what(void);
KEYWAY_ABI_EXPORT const char* torch_exception_get_what_without_backtrace(void);
// The call of the kernel that is running on this thread ends in an error once the kernel returns: with this message or,
// if it is null, with that of the last failure. The results are not read.
KEYWAY_ABI_EXPORT void keyway_abi_fail(const char* message);

// Throws std::runtime_error of the message, unless the condition holds: for kernels in C++.
KEYWAY_ABI_EXPORT void aoti_torch_check(bool condition, const char* function, const char* file, uint32_t line,
                                        const char* message);
// Warns: the text is followed by where it was written.
KEYWAY_ABI_EXPORT void aoti_torch_warn(const char* function, const char* file, uint32_t line, const char* message);

// ---- Constants ----

KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_cpu(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_cuda(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_meta(void);
// Numbers of device types that no tensor of Keyway has.
KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_xpu(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_mps(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_device_type_privateuse1(void);
// "cuda:1": the device type, and the index or -1.
KEYWAY_ABI_EXPORT AOTITorchError torch_parse_device_string(const char* text, uint32_t* device_type,
                                                           int32_t* device_index);

KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_uint8(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_uint16(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_uint32(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_uint64(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_int8(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_int16(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_int32(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_int64(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float16(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_bfloat16(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float32(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float64(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_bool(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_complex32(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_complex64(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_complex128(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float8_e5m2(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float8_e4m3fn(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float8_e5m2fnuz(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float8_e4m3fnuz(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float8_e8m0fnu(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_dtype_float4_e2m1fn_x2(void);
KEYWAY_ABI_EXPORT int32_t torch_dtype_float8_e8m0fnu(void);
KEYWAY_ABI_EXPORT int32_t torch_dtype_float4_e2m1fn_x2(void);
// Bytes of one element; 0 for what is no dtype.
KEYWAY_ABI_EXPORT size_t aoti_torch_dtype_element_size(int32_t dtype);

KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_strided(void);
// Layouts that no tensor of Keyway has.
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_sparse_coo(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_sparse_csr(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_sparse_csc(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_sparse_bsr(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_sparse_bsc(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout__mkldnn(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_layout_jagged(void);

KEYWAY_ABI_EXPORT int32_t aoti_torch_memory_format_contiguous_format(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_memory_format_preserve_format(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_memory_format_channels_last(void);
KEYWAY_ABI_EXPORT int32_t aoti_torch_memory_format_channels_last_3d(void);

// Tags of operators, for torch_library_def_with_tags.
KEYWAY_ABI_EXPORT int32_t torch_tag_core(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_cudagraph_unsafe(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_data_dependent_output(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_dynamic_output_shape(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_flexible_layout(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_generated(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_inplace_view(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_maybe_aliasing_or_mutating(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_needs_contiguous_strides(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_needs_exact_strides(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_needs_fixed_stride_order(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_nondeterministic_bitwise(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_nondeterministic_seeded(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_out_variant(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_pointwise(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_pt2_compliant_tag(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_reduction(void);
KEYWAY_ABI_EXPORT int32_t torch_tag_view_copy(void);

// ---- Tensors ----

// A handle of an undefined tensor.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle* result);
// Another handle of the same tensor.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
// `target` becomes a handle of the tensor of `source`.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle source, AtenTensorHandle target);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle source, AtenTensorHandle* result);

KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor, bool* result);
// Of all that follows, an undefined tensor is a failure.
KEYWAY_ABI_EXPORT AOTITorchError torch_has_storage(AtenTensorHandle tensor, bool* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, int64_t* result);
// Borrowed from the tensor, as long as it lives and is not resized.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t** result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, int64_t** result);
// `dim` may count from the end.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, int64_t dim, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, int64_t dim, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t* result);
// -1 on the CPU.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, int32_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor, int32_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor, int64_t* result);
// Of the storage: bytes, and how many elements of the tensor's dtype that is.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_storage_numel(AtenTensorHandle tensor, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* result);
// The address of the first element.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad);

// A new uninitialised tensor.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                                                          int32_t dtype, int32_t device_type, int32_t device_index,
                                                          AtenTensorHandle* result);
// A tensor over memory of the caller, who keeps it until the tensor and all its views are gone.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_create_tensor_from_blob(void* data, int64_t ndim, const int64_t* sizes,
                                                                    const int64_t* strides, int64_t storage_offset,
                                                                    int32_t dtype, int32_t device_type,
                                                                    int32_t device_index, AtenTensorHandle* result);
// The same with a layout, which must be strided, and without metadata, which only other layouts have.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_create_tensor_from_blob_v2(void* data, int64_t ndim, const int64_t* sizes,
                                                                       const int64_t* strides, int64_t storage_offset,
                                                                       int32_t dtype, int32_t device_type,
                                                                       int32_t device_index, AtenTensorHandle* result,
                                                                       int32_t layout, const uint8_t* metadata,
                                                                       int64_t metadata_size);
// The same, where `deleter(data, context)` is called once nothing refers to the memory; null for none.
KEYWAY_ABI_EXPORT AOTITorchError torch_from_blob(void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides,
                                                 int64_t storage_offset, int32_t dtype, int32_t device_type,
                                                 int32_t device_index, AtenTensorHandle* result, int32_t layout,
                                                 const uint8_t* metadata, int64_t metadata_size,
                                                 void (*deleter)(void* data, void* context), void* context);
// A view of the storage with another geometry. The sizes and strides are as many as the tensor's dimensions.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_as_strided(AtenTensorHandle self, const int64_t* sizes,
                                                       const int64_t* strides, AtenTensorHandle* result);
// The same with any number of dimensions.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim,
                                                                const int64_t* sizes, const int64_t* strides,
                                                                int64_t storage_offset, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_clone(AtenTensorHandle self, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle self, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle source, int32_t non_blocking);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_zero_(AtenTensorHandle self);

// The number in a tensor of one element. Narrow floats are their bits, complex numbers a pair of real and imaginary
// part. The tensor's dtype must be that of the name.
typedef struct KeywayComplexFloat {
  float re, im;
} KeywayComplexFloat;
typedef struct KeywayComplexDouble {
  double re, im;
} KeywayComplexDouble;
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_float16(AtenTensorHandle tensor, uint16_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_bfloat16(AtenTensorHandle tensor, uint16_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_float32(AtenTensorHandle tensor, float* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_float64(AtenTensorHandle tensor, double* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_uint8(AtenTensorHandle tensor, uint8_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_uint16(AtenTensorHandle tensor, uint16_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_uint32(AtenTensorHandle tensor, uint32_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_uint64(AtenTensorHandle tensor, uint64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_int8(AtenTensorHandle tensor, int8_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_int16(AtenTensorHandle tensor, int16_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_int32(AtenTensorHandle tensor, int32_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_int64(AtenTensorHandle tensor, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_bool(AtenTensorHandle tensor, bool* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_item_complex64(AtenTensorHandle tensor, KeywayComplexFloat* result);

// A tensor of no dimensions on the CPU.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_float32(float value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_float64(double value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_uint8(uint8_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_uint16(uint16_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_uint32(uint32_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_uint64(uint64_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_int8(int8_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_int16(int16_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_int32(int32_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_int64(int64_t value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_bool(bool value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_complex64(KeywayComplexFloat value,
                                                                       AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_scalar_to_tensor_complex128(KeywayComplexDouble value,
                                                                        AtenTensorHandle* result);

// ---- What slots hold besides tensors ----

// A list of slots. torch_delete_list leaves what the slots refer to, which belongs to who read them.
KEYWAY_ABI_EXPORT AOTITorchError torch_new_list_reserve_size(size_t capacity, StableListHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError torch_list_size(StableListHandle list, size_t* result);
KEYWAY_ABI_EXPORT AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue* result);
KEYWAY_ABI_EXPORT AOTITorchError torch_list_set_item(StableListHandle list, size_t index, StableIValue item);
KEYWAY_ABI_EXPORT AOTITorchError torch_list_push_back(StableListHandle list, StableIValue item);
KEYWAY_ABI_EXPORT AOTITorchError torch_delete_list(StableListHandle list);

KEYWAY_ABI_EXPORT AOTITorchError torch_new_string_handle(const char* data, size_t length, StringHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError torch_string_length(StringHandle string, size_t* result);
// Borrowed, with a zero at the end.
KEYWAY_ABI_EXPORT AOTITorchError torch_string_c_str(StringHandle string, const char** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_delete_string(StringHandle string);

// The slot that stands for a value of an optional type.
KEYWAY_ABI_EXPORT AOTITorchError torch_new_stable_ivalue(StableIValue** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_delete_stable_ivalue(StableIValue* slot);

// Another handle of the same generator.
KEYWAY_ABI_EXPORT AOTITorchError torch_new_generator_handle(AtenGeneratorHandle generator, AtenGeneratorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError torch_generator_get_device(AtenGeneratorHandle generator, int32_t* device_type,
                                                            int32_t* device_index);
KEYWAY_ABI_EXPORT AOTITorchError torch_delete_generator(AtenGeneratorHandle generator);

// One number of the types Scalar and complex.
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_new_scalar_bool(bool value, KeywayScalarHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_new_scalar_int64(int64_t value, KeywayScalarHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_new_scalar_float64(double value, KeywayScalarHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_new_scalar_complex128(double re, double im, KeywayScalarHandle* result);
// What it is: aoti_torch_dtype_bool, _int64, _uint64, _float64 or _complex128.
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_scalar_get_dtype(KeywayScalarHandle scalar, int32_t* result);
// The number converted, where the type can hold it.
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_scalar_get_int64(KeywayScalarHandle scalar, int64_t* result);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_scalar_get_float64(KeywayScalarHandle scalar, double* result);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_scalar_get_complex128(KeywayScalarHandle scalar, double* re, double* im);
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_delete_scalar(KeywayScalarHandle scalar);

// ---- Libraries of operators ----

// What a library registers while it is loaded (in a constructor function or a static object) is registered once it is
// loaded: all of it or, with every error listed, nothing. What it registers later is registered at once. The namespace
// "aten" is Keyway's own, "keyway". Deleting a library object takes nothing back here, but in PyTorch it does: keep the
// object as long as the library is loaded.

// The block that owns a namespace: one a process.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line,
                                                             TorchLibraryHandle* result);
// Adds operators to a namespace.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line,
                                                                  TorchLibraryHandle* result);
// Kernels for a dispatch key: "CPU", "AutogradCPU", "CompositeImplicitAutograd", ... Those for devices that Keyway
// does not have are left out, with a warning.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_library_init_impl(const char* ns, const char* key, const char* file,
                                                              uint32_t line, TorchLibraryHandle* result);
// Defines an operator: "scale(Tensor self, float by) -> Tensor".
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, const char* schema);
KEYWAY_ABI_EXPORT AOTITorchError torch_library_def_with_tags(TorchLibraryHandle library, const char* schema,
                                                             const int32_t* tags, int32_t num_tags);
// Has no effect: Python finds operators without it.
KEYWAY_ABI_EXPORT AOTITorchError torch_library_set_python_module(TorchLibraryHandle library, const char* module,
                                                                 const char* context);
// Registers a kernel of an operator, "scale" or "add.Tensor".
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_library_impl(TorchLibraryHandle library, const char* name,
                                                         KeywayKernel kernel);
KEYWAY_ABI_EXPORT AOTITorchError torch_library_impl(TorchLibraryHandle library, const char* name, KeywayKernel kernel,
                                                    uint64_t built_version);
// Says which schema an operator must have that the library calls or has kernels of, without its namespace. Another
// one, or none, is an error that shows the difference.
KEYWAY_ABI_EXPORT AOTITorchError keyway_abi_library_expect(TorchLibraryHandle library, const char* schema);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library);

// ---- Calls ----

// Calls an operator: the arguments are in the first slots of `stack`, all of them, and the results take their place.
// The arguments are given away, whether the call fails or not, unless there is no such operator.
KEYWAY_ABI_EXPORT AOTITorchError torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack,
                                                       uint64_t built_version);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_call_dispatcher(const char* name, const char* overload,
                                                            StableIValue* stack);

// Operators by functions of their own. Lists are an address and a length; of options null means absent. Some hundred
// more, aoti_torch_cpu_abs and others, are there for libraries that name them; torch_call_dispatcher calls any
// operator.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_amax(AtenTensorHandle self, const int64_t* dim, int64_t dim_length,
                                                      int32_t keepdim, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self, double value);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_full(const int64_t* size, int64_t size_length, double fill_value,
                                                      int32_t* dtype, int32_t* layout, int32_t* device_type,
                                                      int32_t device_index, int32_t* pin_memory,
                                                      AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_narrow(AtenTensorHandle self, int64_t dim, int64_t start,
                                                        int64_t length, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_new_empty(AtenTensorHandle self, const int64_t* size,
                                                           int64_t size_length, int32_t* dtype, int32_t* layout,
                                                           int32_t* device_type, int32_t device_index,
                                                           int32_t* pin_memory, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_new_zeros(AtenTensorHandle self, const int64_t* size,
                                                           int64_t size_length, int32_t* dtype, int32_t* layout,
                                                           int32_t* device_type, int32_t device_index,
                                                           int32_t* pin_memory, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_pad(AtenTensorHandle self, const int64_t* pad, int64_t pad_length,
                                                     const char* mode, double* value, AtenTensorHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_aten_subtract_Tensor(AtenTensorHandle self, AtenTensorHandle other,
                                                                 double alpha, AtenTensorHandle* result);

// ---- Threads, devices and streams ----

// Calls `function` with parts of [begin, end), from several threads; a part has at least `grain` numbers, but the last
// one. Returns when all are done.
KEYWAY_ABI_EXPORT AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain,
                                                    void (*function)(int64_t begin, int64_t end, void* context),
                                                    void* context);
KEYWAY_ABI_EXPORT AOTITorchError torch_get_num_threads(uint32_t* result);

KEYWAY_ABI_EXPORT bool aoti_torch_grad_mode_is_enabled(void);
KEYWAY_ABI_EXPORT void aoti_torch_grad_mode_set_enabled(bool enabled);

// Of CUDA devices. Makes one current as long as the guard is not deleted.
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_create_device_guard(int32_t device_index, DeviceGuardHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_device_guard_set_index(DeviceGuardHandle guard, int32_t device_index);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_current_device_index(int32_t* result);

KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_current_stream(int32_t device_index, StreamHandle* result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_stream_id(StreamHandle stream, int64_t* result);
// What the device's own functions take: a cudaStream_t.
KEYWAY_ABI_EXPORT AOTITorchError torch_stream_native_handle(StreamHandle stream, void** result);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_delete_stream(StreamHandle stream);
KEYWAY_ABI_EXPORT AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device_index, void** result);
// `stream` must be one that Keyway gave out.
KEYWAY_ABI_EXPORT AOTITorchError torch_set_current_cuda_stream(void* stream, int32_t device_index);
KEYWAY_ABI_EXPORT AOTITorchError torch_get_cuda_stream_from_pool(bool high_priority, int32_t device_index,
                                                                 void** result);
KEYWAY_ABI_EXPORT AOTITorchError torch_cuda_stream_synchronize(void* stream, int32_t device_index);
// The message of a cudaError_t, or null for success; deleted by torch_c10_cuda_free_error_msg.
KEYWAY_ABI_EXPORT AOTITorchError torch_c10_cuda_check_msg(int32_t error, const char* file, const char* function,
                                                          uint32_t line, bool include_device_assertions,
                                                          char** message);
KEYWAY_ABI_EXPORT void torch_c10_cuda_free_error_msg(char* message);

#ifdef __cplusplus
}
#endif
