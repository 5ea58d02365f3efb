// TensorImpl: the object behind every tensor handle. Final and without virtual functions; what is more than
// strided data hangs in `extra`, what belongs to gradients in `autograd_meta`.
#pragma once

#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/device/block_cache.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/keys/dispatch_key_set.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/autograd_meta.h>
#include <keyway/core/tensor/sizes_and_strides.h>
#include <keyway/core/tensor/storage.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace keyway::inline v1 {

// What a tensor carries beyond strided data: sparse parts, a quantizer, a wrapped tensor, a plug-in's own.
class KEYWAY_API TensorExtra {
 public:
  virtual ~TensorExtra();
};

class KEYWAY_API TensorImpl final : public RefCounted {
 public:
  // A contiguous tensor over `storage`, from its start. The key set gets the backend's Dense key and the keys
  // of birth. Requires: the storage holds `numel` elements, and numel is the product of sizes.
  [[gnu::always_inline]] TensorImpl(Storage storage, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                                    std::int64_t numel, bool contiguous)
      : storage_(std::move(storage)),
        key_set_(DispatchKeySet(Functionality::Dense) | DispatchKeySet(storage_.device().type()) |
                 keys_of_new_tensors()),
        numel_(numel),
        dtype_(dtype),
        device_(storage_.device()) {
    geometry_.set(sizes, strides);
    if (storage_.impl()->is_marked_shared()) [[unlikely]]
      key_set_ = key_set_.add(Functionality::CopyOnWrite);
    // Of a contiguous tensor only "channels last" is open, and only for ranks that have it.
    if (contiguous) {
      const bool known = sizes.size() != 4 && sizes.size() != 5;
      set_layout(static_cast<std::uint8_t>(kContiguous | kDense | (known ? kKnown : 0)));
    }
  }

  // A second tensor over the storage of `base`, with its dtype and another geometry: the beginning of every view. It
  // has the keys of `base` but Autograd; so a view made in inference mode of a tensor that was not is no inference
  // tensor. Requires: the geometry lies within the storage, and numel is the product of sizes.
  [[gnu::always_inline]] TensorImpl(const TensorImpl& base, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset,
                                    std::int64_t numel)
      : RefCounted(),
        storage_(base.storage_),
        key_set_(base.key_set() - kAutogradKeys),
        storage_offset_(offset),
        numel_(numel),
        dtype_(base.dtype_),
        device_(base.device_) {
    geometry_.set(sizes, strides);
  }

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* block, std::size_t size) { free_block(block, size); }

  IntArrayRef sizes() const { return geometry_.sizes(); }
  IntArrayRef strides() const { return geometry_.strides(); }
  std::int64_t dim() const { return static_cast<std::int64_t>(geometry_.rank()); }
  std::int64_t numel() const { return numel_; }
  std::int64_t storage_offset() const { return storage_offset_; }
  ScalarType dtype() const { return dtype_; }
  std::size_t itemsize() const { return element_size(dtype_); }
  Device device() const { return device_; }
  // Atomic, since the first lazy clone of a tensor adds a key while other threads may read it (copy_on_write.h).
  DispatchKeySet key_set() const {
    DispatchKeySet keys;
    __atomic_load(&key_set_, &keys, __ATOMIC_RELAXED);
    return keys;
  }
  const Storage& storage() const { return storage_; }

  bool is_contiguous() const { return known_contiguous() || (layout() & kContiguous) != 0; }
  bool is_channels_last() const { return (layout() & kChannelsLast) != 0; }
  bool is_non_overlapping_and_dense() const { return (layout() & kDense) != 0; }
  // A contiguous tensor whose flag needs no computing: the fast path's question.
  bool known_contiguous() const { return (layout_.load(std::memory_order_relaxed) & kContiguous) != 0; }

  // First element; null for Meta tensors. Requires: the caller reads or writes within the geometry.
  void* data() const {
    char* start = static_cast<char*>(storage_.data());
    return start == nullptr ? nullptr : start + storage_offset_ * static_cast<std::int64_t>(itemsize());
  }

  // Born in inference mode: it has no version, and the graph refuses it.
  bool is_inference() const { return !key_set().has(Functionality::ADInplaceOrView); }
  std::uint32_t version() const { return storage_.version(); }
  void bump_version() { storage_.impl()->bump_version(); }

  // Requires: the geometry lies within the storage, and numel is the product of sizes.
  void set_geometry(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset, std::int64_t numel) {
    geometry_.set(sizes, strides);
    storage_offset_ = offset;
    numel_ = numel;
    set_layout(0);
  }
  // The tensor is then where the storage is. Requires: there is one.
  void set_storage(Storage storage) {
    const Device device = storage.device();
    key_set_ = key_set_.remove_backend(device_.type()).remove(Functionality::CopyOnWrite) |
               DispatchKeySet(device.type()) | keys_of_sharing(storage);
    device_ = device;
    storage_ = std::move(storage);
  }
  void set_dtype(ScalarType dtype) { dtype_ = dtype; }
  void set_key_set(DispatchKeySet keys) { __atomic_store(&key_set_, &keys, __ATOMIC_RELAXED); }

  AutogradMetaInterface* autograd_meta() const { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) { autograd_meta_ = std::move(meta); }
  TensorExtra* extra() const { return extra_.get(); }
  void set_extra(std::unique_ptr<TensorExtra> extra) { extra_ = std::move(extra); }
  // What another language keeps of a tensor, as Python does of its object. Guarded by that language's lock.
  TensorExtra* binding() const { return binding_.get(); }
  void set_binding(std::unique_ptr<TensorExtra> binding) { binding_ = std::move(binding); }

  void release_resources() {
    autograd_meta_.reset();
    extra_.reset();
    binding_.reset();
    storage_ = Storage();
  }

 private:
  static DispatchKeySet keys_of_sharing(const Storage& storage) {
    return storage.impl()->is_shared() ? DispatchKeySet(Functionality::CopyOnWrite) : DispatchKeySet();
  }

  // Flags of the layout: a pure function of the geometry, computed when first asked for. Two threads may do
  // so at once; they store the same byte.
  static constexpr std::uint8_t kKnown = 1, kContiguous = 2, kDense = 4, kChannelsLast = 8;
  std::uint8_t layout() const {
    const std::uint8_t flags = layout_.load(std::memory_order_relaxed);
    return (flags & kKnown) != 0 ? flags : compute_layout();
  }
  void set_layout(std::uint8_t flags) const { layout_.store(flags, std::memory_order_relaxed); }
  std::uint8_t compute_layout() const;

  Storage storage_;
  DispatchKeySet key_set_;
  std::int64_t storage_offset_ = 0;
  std::int64_t numel_;
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
  std::unique_ptr<TensorExtra> extra_;
  std::unique_ptr<TensorExtra> binding_;
  ScalarType dtype_;
  Device device_;
  mutable std::atomic<std::uint8_t> layout_{0};
  SizesAndStrides geometry_;
};
static_assert(sizeof(TensorImpl) <= 192);

}  // namespace keyway::inline v1
