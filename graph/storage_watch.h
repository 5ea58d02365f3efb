// What threads do to memory while programs are captured. A capture sees the calls of its own thread; tensors that
// others make or write to meanwhile would be constants of its graph.
#pragma once

#include <keyway/core/tensor/storage.h>

#include <cstdint>

namespace keyway::inline v1::graph {

// While it lives, storages of all threads are watched, which costs each a lock. The process pays nothing without one.
class StorageWatch {
 public:
  StorageWatch();
  ~StorageWatch();
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

  // Whether another thread than this one has made a storage, or written to it, since the watch began.
  struct Elsewhere {
    bool is_made = false, is_written = false;
  };
  Elsewhere elsewhere(const Storage& storage) const;

 private:
  std::uint64_t begin_;
};

}  // namespace keyway::inline v1::graph
