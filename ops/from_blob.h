// from_blob: a tensor over memory that the caller has, without a copy.
//
//   float numbers[6] = {...};
//   Tensor x = from_blob(numbers, {2, 3}, kFloat);   // valid while `numbers` is
//
// With a deleter, the memory is given back when the last tensor over it goes.
#pragma once

#include <keyway/core/tensor/foreign_memory.h>
#include <keyway/ops/adapters.h>
#include <keyway/ops/unrecorded.h>
#include <keyway/tensor.h>

#include <concepts>
#include <memory>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

// Calls a deleter with the memory when it goes.
template <typename Deleter>
struct BlobOwner {
  BlobOwner(Deleter d, void* m) : deleter(std::move(d)), memory(m) {}
  BlobOwner(const BlobOwner&) = delete;
  BlobOwner& operator=(const BlobOwner&) = delete;
  ~BlobOwner() { deleter(memory); }
  Deleter deleter;
  void* memory;
};

inline Tensor tensor_over_blob(DataPtr data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) {
  KEYWAY_CHECK(!is_recorded(),
               "from_blob: within a capture, whose graph would keep the address: make the tensor before");
  KEYWAY_CHECK(strides.size() == sizes.size(), "from_blob: {} strides for {} sizes", strides.size(), sizes.size());
  return with_grad(Tensor(tensor_over(std::move(data), sizes, strides, options.dtype())), options);
}

}  // namespace detail

// Strides count elements. `options` says of what dtype, and on what device the memory is. Errors (Value): negative
// sizes or strides; an address that is no multiple of an element's size.
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {}) {
  return detail::tensor_over_blob(DataPtr(data, options.device()), sizes, strides, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options = {}) {
  return from_blob(data, sizes, contiguous_strides(sizes), options);
}
// The deleter is called with `data`, also when this throws.
template <std::invocable<void*> Deleter>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, Deleter deleter, TensorOptions options = {}) {
  auto owner = std::make_unique<detail::BlobOwner<Deleter>>(std::move(deleter), data);
  return detail::tensor_over_blob(data_of(std::move(owner), data, options.device()), sizes, strides, options);
}
template <std::invocable<void*> Deleter>
Tensor from_blob(void* data, IntArrayRef sizes, Deleter deleter, TensorOptions options = {}) {
  return from_blob(data, sizes, contiguous_strides(sizes), std::move(deleter), options);
}

}  // namespace keyway::inline v1
