// NeverDestroyed<T>: an object of the process that outlives all others and takes no memory from the heap, so that its
// first use may be where nothing may be thrown.
#pragma once

#include <cstddef>
#include <new>

namespace keyway::inline v1 {

// For static variables. Requires: making a T allocates nothing.
template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() : object_(::new (storage_) T) {}
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& operator*() const { return *object_; }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
  T* object_;
};

}  // namespace keyway::inline v1
