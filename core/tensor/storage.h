// Storage: the bytes that a tensor and its views share, with their version.
#pragma once

#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/device/allocator.h>
#include <keyway/core/device/block_cache.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace keyway::inline v1 {

// The counter of changes stands here, so that every tensor that shares the bytes shares it, and a view counts
// no further reference.
//
// A storage of up to kMaxInlineBytes on the CPU is one block with its data behind the header: making a tensor
// of a few elements takes two blocks from the thread's cache and nothing else.
class KEYWAY_API StorageImpl final : public RefCounted {
 public:
  static constexpr std::size_t kMaxInlineBytes = kMaxCachedBlock - 128;

  // Takes over `data` of `bytes` bytes. Memory that belongs to somebody else is not `resizable`.
  StorageImpl(DataPtr data, std::size_t bytes, bool resizable)
      : data_(std::move(data)), bytes_(bytes), block_bytes_(sizeof(StorageImpl)), resizable_(resizable) {}

  // A CPU storage with its bytes in the same block. Requires: bytes <= kMaxInlineBytes.
  static intrusive_ptr<StorageImpl> make_inline(std::size_t bytes) {
    void* block = allocate_block(kHeader + bytes);
    return intrusive_ptr<StorageImpl>::adopt(new (block) StorageImpl(Inline{}, bytes));
  }

  // Its block is not of one size, so intrusive_ptr hands it over whole.
  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void* operator new(std::size_t, void* at) { return at; }
  static void operator delete(void* block, std::size_t size) { free_block(block, size); }
  static void operator delete(void*, void*) {}
  static void destroy_counted(StorageImpl* self) {
    const std::size_t bytes = self->block_bytes_;
    self->~StorageImpl();
    free_block(self, bytes);
  }

  void* data() const { return data_.get(); }
  std::size_t nbytes() const { return bytes_; }
  Device device() const { return data_.device(); }
  bool resizable() const { return resizable_.load(std::memory_order_relaxed); }

  // Writers of one storage must be ordered by the caller, as for its bytes; so the increment is no
  // read-modify-write.
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.store(version() + 1, std::memory_order_relaxed); }

  // For bytes whose address somebody else has: an array of NumPy's, say, that was made of them. Other threads may ask
  // meanwhile.
  void forbid_resize() { resizable_.store(false, std::memory_order_relaxed); }

  // Replaces the bytes; the old ones are freed. Requires: nobody uses them.
  void set_data(DataPtr data, std::size_t bytes) {
    data_ = std::move(data);
    bytes_ = bytes;
    is_shared_.store(false, std::memory_order_release);
  }

  // Whether other storages may have the same bytes, until one of them is written to (copy_on_write.h). All tensors over
  // it have the key CopyOnWrite then.
  bool is_shared() const { return is_shared_.load(std::memory_order_acquire); }
  // The same without a memory barrier, for the path of every new tensor.
  bool is_marked_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  // Whether somebody may write to the bytes by an address that was given out.
  bool is_exposed() const { return is_exposed_.load(std::memory_order_relaxed); }
  void note_exposed() { is_exposed_.store(true, std::memory_order_relaxed); }

  void release_resources() { set_data(DataPtr(nullptr, device()), 0); }

 private:
  friend class SharedBytes;
  struct Inline {};
  StorageImpl(Inline, std::size_t bytes)
      : data_(reinterpret_cast<char*>(this) + kHeader, Device(DeviceType::CPU)),
        bytes_(bytes),
        block_bytes_(kHeader + bytes) {}

  static constexpr std::size_t kHeader = 128;  // keeps inline data aligned to 64

  DataPtr data_;
  std::size_t bytes_;
  std::size_t block_bytes_;
  std::atomic<std::uint32_t> version_{0};
  std::atomic<bool> resizable_{true}, is_shared_{false}, is_exposed_{false};
};
static_assert(sizeof(StorageImpl) <= 128);

// Handle of a storage: copies share it.
class Storage {
 public:
  Storage() = default;
  explicit Storage(intrusive_ptr<StorageImpl> impl) : impl_(std::move(impl)) {}

  explicit operator bool() const { return static_cast<bool>(impl_); }
  void* data() const { return impl_ ? impl_->data() : nullptr; }
  std::size_t nbytes() const { return impl_ ? impl_->nbytes() : 0; }
  Device device() const { return impl_->device(); }
  std::uint32_t version() const { return impl_->version(); }
  StorageImpl* impl() const { return impl_.get(); }
  // Of tensors and others that hold the memory by this.
  std::uint32_t use_count() const { return impl_ ? impl_->use_count() : 0; }
  bool is_alias_of(const Storage& other) const { return impl_ && impl_ == other.impl_; }
  bool is_shared() const { return impl_ && impl_->is_shared(); }

 private:
  intrusive_ptr<StorageImpl> impl_;
};

// A new storage of `bytes` uninitialised bytes on a device. On Meta it has a size and no data.
KEYWAY_API Storage make_storage(std::size_t bytes, Device device);

}  // namespace keyway::inline v1
