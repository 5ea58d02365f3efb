// Who hears that memory of tensors is made or written to, in any thread: a capture of a program (graph/capture.h),
// which has to know what other threads do meanwhile.
#pragma once

#include <keyway/core/tensor/storage.h>

#include <atomic>

namespace keyway::inline v1 {

struct StorageListener {
  void (*made)(const StorageImpl& storage);
  void (*written)(const StorageImpl& storage);
};

// Of the whole process. Null: nobody hears, which is all that it costs then to ask.
extern KEYWAY_API constinit std::atomic<const StorageListener*> storage_listener;

// For who makes a storage, and for who writes to one and changes its version.
inline void note_made(const Storage& storage) {
  if (const StorageListener* const listener = storage_listener.load(std::memory_order_acquire)) [[unlikely]]
    listener->made(*storage.impl());
}
inline void note_written(const Storage& storage) {
  if (const StorageListener* const listener = storage_listener.load(std::memory_order_acquire)) [[unlikely]]
    if (storage) listener->written(*storage.impl());
}

}  // namespace keyway::inline v1
