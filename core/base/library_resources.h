// LibraryResources: what the process holds of a library that can be unloaded, and must give back through its code.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace keyway::inline v1 {

// Memory of devices, memory of the CPU that is pinned for them, events, graphs, and objects of classes that the library
// registered (custom_class_holder.h).
enum class ResourceKind : std::uint8_t { Memory, Pinned, Event, Graph, Object };
inline constexpr std::size_t kResourceKinds = 5;

// One for each library that is being loaded or can be unloaded. Thread-safe.
class KEYWAY_API LibraryResources {
 public:
  // The record for a newly loaded library. Its memory is never freed, since a thread may still read it just after the
  // library is gone; it is reused for another library.
  static LibraryResources& begin();
  // The library is gone, and another may be counted here.
  void end() noexcept;

  // The library stays as long as the process runs: nothing is counted from now on.
  void stay() noexcept { stays_.store(true, std::memory_order_release); }
  bool stays() const noexcept { return stays_.load(std::memory_order_acquire); }

  // Returns false after close(). acquire() counts first and then reads `closed`; LoadedPlugin::unload() closes first
  // and then reads the counts, so at least one of them sees the other.
  [[nodiscard]] bool acquire(ResourceKind what, std::size_t bytes) noexcept;
  void release(ResourceKind what, std::size_t bytes) noexcept;
  // Nothing more can be held, until reopen().
  void close() noexcept { closed_.store(true); }
  void reopen() noexcept { closed_.store(false); }

  // "2 tensors of 96 bytes, 1 event": what its devices have, so no objects; empty if nothing is held.
  std::string held() const;
  std::int64_t objects() const noexcept;

 private:
  struct alignas(64) Atomics {
    std::atomic<std::int64_t> things[kResourceKinds]{}, bytes[kResourceKinds]{};
  };
  Atomics now_;
  std::atomic<bool> closed_{false}, stays_{false};
};

// One thing is held of a library. Movable; empty where nothing is to be counted.
class LibraryResource {
 public:
  LibraryResource() = default;
  // Of what the library has counted with acquire().
  LibraryResource(LibraryResources& library, ResourceKind what, std::size_t bytes)
      : library_(&library), bytes_(bytes), what_(what) {}
  LibraryResource(LibraryResource&& other) noexcept
      : library_(std::exchange(other.library_, nullptr)), bytes_(other.bytes_), what_(other.what_) {}
  LibraryResource& operator=(LibraryResource&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(bytes_, other.bytes_);
    std::swap(what_, other.what_);
    return *this;
  }
  ~LibraryResource() {
    if (library_ != nullptr) library_->release(what_, bytes_);
  }
  // The thing is never given back.
  void leave() noexcept { library_ = nullptr; }
  explicit operator bool() const { return library_ != nullptr; }

 private:
  LibraryResources* library_ = nullptr;
  std::size_t bytes_ = 0;
  ResourceKind what_ = ResourceKind::Memory;
};

}  // namespace keyway::inline v1
