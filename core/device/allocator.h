// Allocator and DataPtr: where a storage's bytes come from and how they go back.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>

#include <cstddef>
#include <utility>

namespace keyway::inline v1 {

using DeleterFn = void (*)(void* context);

// Owns memory of a device: `data` is what kernels use, `context` what the deleter gets. Movable only.
class DataPtr {
 public:
  constexpr DataPtr() = default;
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFn free, Device device)
      : data_(data), context_(context), deleter_(free), device_(device) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    DataPtr moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(context_, moved.context_);
    std::swap(deleter_, moved.deleter_);
    std::swap(device_, moved.device_);
    return *this;
  }
  ~DataPtr() {
    if (deleter_ != nullptr) deleter_(context_);
  }

  void* get() const { return __atomic_load_n(&data_, __ATOMIC_ACQUIRE); }
  void* context() const { return context_; }
  DeleterFn deleter() const { return deleter_; }
  Device device() const { return device_; }
  // Refers to other memory, or to the same with another owner, from now on; gives back what it owned. Threads may call
  // get() meanwhile.
  DataPtr exchange(void* data, void* context, DeleterFn free) {
    DataPtr before(data_, std::exchange(context_, context), std::exchange(deleter_, free), device_);
    __atomic_store_n(&data_, data, __ATOMIC_RELEASE);
    return before;
  }
  // Says that the memory is of another device, for allocators that have it from another allocator.
  void set_device(Device device) { device_ = device; }
  explicit operator bool() const { return data_ != nullptr || context_ != nullptr; }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFn deleter_ = nullptr;
  Device device_ = DeviceType::CPU;
};

// A source of memory for one device type. Implementations are thread-safe. They live as long as the process, or as the
// plug-in that brings them.
class KEYWAY_API Allocator {
 public:
  virtual ~Allocator();
  // `bytes` of uninitialised memory aligned to 64; null data for 0 bytes. Throws keyway::Error(OutOfMemory).
  virtual DataPtr allocate(std::size_t bytes) = 0;
  // Copies bytes within the current device, after what its current stream has to do before: what a storage that grows
  // keeps. Without an implementation it throws keyway::Error(NotImplemented). Never asked of the CPU's.
  virtual void copy_data(void* to, const void* from, std::size_t bytes);
  // Copy bytes between the CPU and the current device, after what its current stream has to do before, and return when
  // that is done: what cpu_fallback moves tensors by. Without an implementation they throw
  // keyway::Error(NotImplemented). Never asked of the CPU's.
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes);
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes);
  // Memory of the CPU that devices of this type copy from and to while the host goes on: it is freed at once, and
  // given out again when they are done with it. Without an implementation it throws keyway::Error(NotImplemented).
  virtual Allocator& pinned();
  // Whether memory of the CPU is such, whoever made it so.
  virtual bool is_pinned(const void* memory) const;
};

// The allocator of a device type: what its backend set, or what a caller plugged in. Throws keyway::Error if
// the backend is not loaded. Thread-safe.
KEYWAY_API Allocator& get_allocator(DeviceType type);
// The same; null instead of an error, and no backend is loaded for the question.
KEYWAY_API Allocator* find_allocator(DeviceType type);
// Plugs `allocator` in for storages made from now on; null takes back what the caller plugged in, the program or the
// plug-in that is being loaded. Returns the one before. What a plug-in's setup function plugs in goes with it, and
// then the one before is in force, unless another was plugged in since. Requires: it lives as long as the process,
// or as the plug-in.
KEYWAY_API Allocator* set_allocator(DeviceType type, Allocator* allocator);
// Takes `allocator` back wherever it stands, whoever plugged it in.
KEYWAY_API void remove_allocator(DeviceType type, Allocator* allocator);

}  // namespace keyway::inline v1
