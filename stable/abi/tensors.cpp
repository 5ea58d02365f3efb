// What a tensor is: handles of it, and its metadata.
#include <keyway/autograd/variable.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>

using namespace keyway;
using namespace keyway::abi;

namespace {

// Writes something that is asked of a defined tensor.
template <typename Result, typename F>
AOTITorchError get(const char* function, AtenTensorHandle tensor, Result* result, const F& f) {
  return guarded(function, [&] { checked(result, "the result") = static_cast<Result>(f(tensor_of(tensor))); });
}

// The ABI's type is not const, but nothing may be written there.
std::int64_t* borrowed(IntArrayRef list) { return const_cast<std::int64_t*>(list.data()); }

}  // namespace

AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle* result) {
  return guarded(__func__, [&] { give_handle(result); });
}
AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle* result) {
  return guarded(__func__, [&] { give_handle(result, held(tensor)); });
}
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
  return guarded(__func__, [&] { delete_handle(tensor); });
}
AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle source, AtenTensorHandle target) {
  return guarded(__func__, [&] { held(target) = held(source); });
}
AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle source, AtenTensorHandle* result) {
  return guarded(__func__, [&] { give_handle(result, held(source)); });
}
AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor, bool* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(tensor).defined(); });
}
AOTITorchError torch_has_storage(AtenTensorHandle tensor, bool* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(tensor).defined(); });
}

AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.dim(); });
}
AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, std::int64_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.numel(); });
}
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, std::int64_t** result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return borrowed(t.sizes()); });
}
AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, std::int64_t** result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return borrowed(t.strides()); });
}
AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, std::int64_t dim, std::int64_t* result) {
  return get(__func__, tensor, result, [&](const TensorBase& t) { return t.size(dim); });
}
AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, std::int64_t dim, std::int64_t* result) {
  return get(__func__, tensor, result, [&](const TensorBase& t) { return t.stride(dim); });
}
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, std::int32_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.dtype(); });
}
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, std::int32_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.device().type(); });
}
AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, std::int32_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.device().index(); });
}
AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor, std::int32_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.layout(); });
}
AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor, std::int64_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.storage_offset(); });
}
AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor, std::int64_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.storage().nbytes(); });
}
AOTITorchError aoti_torch_get_storage_numel(AtenTensorHandle tensor, std::int64_t* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.storage().nbytes() / t.itemsize(); });
}
AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.is_contiguous(); });
}
AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.mutable_data_ptr(); });
}
AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.mutable_data_ptr(); });
}
AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** result) {
  return get(__func__, tensor, result, [](const TensorBase& t) { return t.const_data_ptr(); });
}
AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad) {
  return guarded(__func__, [&] { autograd::set_requires_grad(tensor_of(tensor), requires_grad); });
}
