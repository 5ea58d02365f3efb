// Tensor over the stable C ABI: a handle with the members that kernels need. Operators are called by name (ops.h).
#pragma once

#include <keyway/stable/types.h>

#include <cstdint>
#include <span>
#include <utility>

#pragma GCC visibility push(hidden)
namespace keyway::stable {

using IntArrayRef = std::span<const std::int64_t>;

// Copies share one tensor. Members throw std::runtime_error of an undefined one.
class Tensor {
 public:
  Tensor() = default;
  // Takes over the handle.
  explicit Tensor(AtenTensorHandle handle) : handle_(handle) {}
  Tensor(const Tensor& other) : handle_(other.new_handle()) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
  }

  // Borrowed; null if nothing was ever there.
  AtenTensorHandle get() const { return handle_; }
  // A handle of its own, which the caller deletes; null if nothing was ever there.
  AtenTensorHandle new_handle() const {
    return handle_ == nullptr ? nullptr : stable::get<AtenTensorHandle>(aoti_torch_new_tensor_handle, handle_);
  }
  // The handle, which the caller deletes.
  AtenTensorHandle release() && { return std::exchange(handle_, nullptr); }

  bool defined() const { return handle_ != nullptr && stable::get<bool>(aoti_torch_is_defined, handle_); }
  std::int64_t dim() const { return stable::get<std::int64_t>(aoti_torch_get_dim, handle_); }
  std::int64_t numel() const { return stable::get<std::int64_t>(aoti_torch_get_numel, handle_); }
  IntArrayRef sizes() const { return list(aoti_torch_get_sizes); }
  IntArrayRef strides() const { return list(aoti_torch_get_strides); }
  // `dim` may count from the end.
  std::int64_t size(std::int64_t dim) const { return stable::get<std::int64_t>(aoti_torch_get_size, handle_, dim); }
  std::int64_t stride(std::int64_t dim) const { return stable::get<std::int64_t>(aoti_torch_get_stride, handle_, dim); }
  std::int64_t storage_offset() const { return stable::get<std::int64_t>(aoti_torch_get_storage_offset, handle_); }
  ScalarType dtype() const { return {stable::get<std::int32_t>(aoti_torch_get_dtype, handle_)}; }
  Layout layout() const { return {stable::get<std::int32_t>(aoti_torch_get_layout, handle_)}; }
  Device device() const {
    return {DeviceType{stable::get<std::int32_t>(aoti_torch_get_device_type, handle_)},
            stable::get<std::int32_t>(aoti_torch_get_device_index, handle_)};
  }
  bool is_cpu() const { return device().type == kCPU; }
  bool is_cuda() const { return device().type == kCUDA; }
  bool is_contiguous() const { return stable::get<bool>(aoti_torch_is_contiguous, handle_); }

  void* data_ptr() const { return stable::get<void*>(torch_get_mutable_data_ptr, handle_); }
  // Throws if the tensor's elements are of another type.
  template <typename T>
  T* data_ptr() const {
    check_elements<T>();
    return static_cast<T*>(data_ptr());
  }
  template <typename T>
  const T* const_data_ptr() const {
    check_elements<T>();
    return static_cast<const T*>(stable::get<const void*>(torch_get_const_data_ptr, handle_));
  }
  const Tensor& set_requires_grad(bool requires_grad) const {
    check(torch_set_requires_grad(handle_, requires_grad));
    return *this;
  }

 private:
  IntArrayRef list(AOTITorchError (*function)(AtenTensorHandle, std::int64_t**)) const {
    return {stable::get<std::int64_t*>(function, handle_), static_cast<std::size_t>(dim())};
  }
  template <typename T>
  void check_elements() const {
    KEYWAY_STABLE_CHECK(dtype() == dtype_of<T>(), "the tensor's dtype has the number ", dtype().number,
                        ", but elements of number ", dtype_of<T>().number, " are asked for");
  }

  AtenTensorHandle handle_ = nullptr;
};

}  // namespace keyway::stable
#pragma GCC visibility pop
