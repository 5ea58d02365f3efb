// TensorBase: the tensor handle that everything below the generated operators uses. It has metadata, storage
// and keys, and no operators; the public Tensor derives from it and adds those.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/tensor/accessor.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/core/tensor/tensor_options.h>
#include <keyway/core/tensor/type_properties.h>

#include <cstdint>

namespace keyway::inline v1 {

// Copies share one TensorImpl. A default-made handle is undefined: it has an empty key set and nothing else;
// asking it for anything but defined() and key_set() is an error of the caller that wrappers exclude.
class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const intrusive_ptr<TensorImpl>& impl_ptr() const { return impl_; }
  intrusive_ptr<TensorImpl> take_impl() && { return std::move(impl_); }
  bool is_same(const TensorBase& other) const { return impl_ == other.impl_; }
  std::uint32_t use_count() const { return impl_ ? impl_->use_count() : 0; }
  void reset() { impl_.reset(); }

  DispatchKeySet key_set() const { return impl_ ? impl_->key_set() : DispatchKeySet(); }

  IntArrayRef sizes() const { return impl_->sizes(); }
  IntArrayRef strides() const { return impl_->strides(); }
  // `dim` may count from the end. Throws keyway::Error(Index).
  std::int64_t size(std::int64_t dim) const { return sizes()[dim_index(dim, this->dim())]; }
  std::int64_t stride(std::int64_t dim) const { return strides()[dim_index(dim, this->dim())]; }
  std::int64_t dim() const { return impl_->dim(); }
  std::int64_t numel() const { return impl_->numel(); }
  std::int64_t storage_offset() const { return impl_->storage_offset(); }
  std::size_t itemsize() const { return impl_->itemsize(); }
  std::size_t element_size() const { return itemsize(); }
  std::int64_t ndimension() const { return dim(); }
  std::size_t nbytes() const { return itemsize() * static_cast<std::size_t>(numel()); }
  const Storage& storage() const { return impl_->storage(); }

  ScalarType dtype() const { return impl_->dtype(); }
  ScalarType scalar_type() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  Layout layout() const { return Layout::Strided; }
  TensorOptions options() const { return TensorOptions().dtype(dtype()).device(device()).layout(layout()); }
  DeprecatedTypeProperties type() const { return {dtype(), device().type()}; }
  // The index of a tensor's device; -1 on the CPU.
  std::int64_t get_device() const { return device().index(); }
  bool is_cpu() const { return device().type() == DeviceType::CPU; }
  bool is_cuda() const { return device().type() == DeviceType::CUDA; }
  bool is_meta() const { return device().type() == DeviceType::Meta; }
  bool is_floating_point() const { return keyway::is_floating_point(dtype()); }
  bool is_complex() const { return keyway::is_complex(dtype()); }

  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return impl_->is_contiguous();
    return impl_->is_channels_last() && dim() == (format == MemoryFormat::ChannelsLast ? 4 : 5);
  }
  bool is_non_overlapping_and_dense() const { return impl_->is_non_overlapping_and_dense(); }
  bool is_alias_of(const TensorBase& other) const { return storage().is_alias_of(other.storage()); }
  // The format a result made "like this one" gets: channels-last if this one is that and not row-major.
  MemoryFormat suggest_memory_format() const {
    if (!impl_->is_contiguous() && impl_->is_channels_last()) {
      return dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
    }
    return MemoryFormat::Contiguous;
  }

  // The address of the first element, for kernels: to read, and to write to what the operator's schema says is written,
  // which has bytes of its own by then (copy_on_write.h). Who writes otherwise asks for mutable_data_ptr(), as
  // data_ptr() of a Tensor does. The typed one throws keyway::Error(Type) if T is not the tensor's dtype.
  void* data_ptr() const { return impl_->data(); }
  template <typename T>
  T* data_ptr() const {
    check_data_access(cpp_type_to_scalar_type<std::remove_const_t<T>>);
    return static_cast<T*>(impl_->data());
  }
  template <typename T>
  const T* const_data_ptr() const {
    return data_ptr<const T>();
  }
  const void* const_data_ptr() const { return data_ptr(); }
  // The same to write to, or to keep: bytes that are shared until they are written to become the tensor's own first.
  template <typename T>
  T* mutable_data_ptr() const {
    check_data_access(cpp_type_to_scalar_type<T>);
    expose_bytes();
    return static_cast<T*>(impl_->data());
  }
  void* mutable_data_ptr() const {
    expose_bytes();
    return impl_->data();
  }

  // Its elements by brackets: x.accessor<float, 2>()[i][j]. For the CPU, while the tensor lives. Throw keyway::Error if
  // the tensor has another dtype or number of dimensions.
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor() const& {
    return accessor_of<TensorAccessor<T, N>, T>(N);
  }
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  // The same with sizes and strides inside, for kernels on devices that take it by value.
  template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits,
            typename index_t = std::int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    return accessor_of<GenericPackedTensorAccessor<T, N, PtrTraits, index_t>, T>(N);
  }
  template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits,
            typename index_t = std::int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() && = delete;
  template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits,
            typename index_t = std::int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }
  // Throws keyway::Error, too, if an element lies out of reach of 32 bits.
  template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    check_reach_of_32_bits();
    return generic_packed_accessor<T, N, PtrTraits, std::int32_t>();
  }
  template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, std::int64_t>();
  }

  bool requires_grad() const { return impl_->autograd_meta() != nullptr && impl_->autograd_meta()->requires_grad(); }
  bool is_leaf() const { return impl_->autograd_meta() == nullptr || impl_->autograd_meta()->is_leaf(); }
  bool is_inference() const { return impl_->is_inference(); }
  std::uint32_t _version() const { return impl_->version(); }

 protected:
  KEYWAY_API void check_data_access(ScalarType asked) const;
  // What somebody has the address of is shared no more, and not shared later.
  KEYWAY_API void expose_bytes() const;
  KEYWAY_API void check_reach_of_32_bits() const;
  template <typename Accessor, typename T>
  Accessor accessor_of(std::size_t rank) const {
    KEYWAY_CHECK(static_cast<std::size_t>(dim()) == rank, "an accessor of {} dimensions to a tensor of {}", rank,
                 dim());
    if constexpr (std::is_const_v<T>) {
      return Accessor(data_ptr<T>(), sizes().data(), strides().data());
    } else {
      return Accessor(mutable_data_ptr<T>(), sizes().data(), strides().data());
    }
  }

  intrusive_ptr<TensorImpl> impl_;
};

// A new uninitialised tensor. `strides` must describe it without overlap beyond what the caller wants; the
// contiguous form computes them. Throws keyway::Error on sizes that overflow, OutOfMemory on what exceeds the
// limit.
KEYWAY_API TensorBase make_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
KEYWAY_API TensorBase make_tensor_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);

// A view of `base` with another geometry; shares storage and version. Records nothing for autograd.
// Requires: the geometry lies within base's storage.
KEYWAY_API TensorBase make_view(const TensorBase& base, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset);

// A tensor of its own over the same memory.
inline TensorBase make_view(const TensorBase& base) {
  return make_view(base, base.sizes(), base.strides(), base.storage_offset());
}

// How memory of two tensors meets.
enum class Overlap {
  None,
  Same,     // the same elements at the same addresses
  Partial,  // some, or not known
};
KEYWAY_API Overlap overlap(const TensorBase& a, const TensorBase& b);

// Gives `tensor` other sizes in place, contiguous unless `strides` is given; its storage grows if it must,
// and keeps its bytes. Throws keyway::Error if the storage belongs to somebody else and is too small.
KEYWAY_API void resize_tensor(const TensorBase& tensor, IntArrayRef sizes, IntArrayRef strides = {});

// "float32[2, 3] on cpu", for error texts.
KEYWAY_API std::string describe(const TensorBase& tensor);

}  // namespace keyway::inline v1
