// Copy on write: storages that have the same bytes until one of them is written to. Each has a version and an identity
// of its own, so they are to everybody like copies. What writes gives its storage bytes of its own first:
//
// - A call that writes to an argument does so on its way to the backend: all tensors over a storage that shares bytes
//   have the key CopyOnWrite, at which the operators that write have a fallback
//   (dispatch/registry/copy_on_write_kernel.h). The others skip the key, so reading costs nothing. Who computed the
//   keys of such a call before other code ran asks with_sharing() for this one (dispatch/call/sharing_keys.h).
// - Who asks a tensor for an address to write to, or to keep, gets one of its own bytes: mutable_data_ptr() of
//   TensorBase, data_ptr() of Tensor.
// - Code that writes by other ways, such as a plan of a graph, calls own_bytes().
#pragma once

#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// A tensor like this one, in every size and stride, over a storage of its own that shares the bytes. Undefined where
// they cannot be shared: memory that is not the CPU's, is pinned, is small, belongs to somebody else or has been given
// out by its address; a tensor that reaches less than half of its storage; and a storage that other tensors hold, which
// would not have the key. May be called while other threads read the tensor. Requires: the fallback is registered.
KEYWAY_API TensorBase share_bytes(const TensorBase& tensor);

// Gives a storage bytes of its own if others share them; the last one keeps those that there are. What expose_bytes()
// kept for readers is freed. Those who share them may do so at once in several threads. Requires: no other thread uses
// this storage meanwhile.
KEYWAY_API void own_bytes(const Storage& storage);
// The same for a tensor that is written to, which needs the key no longer.
KEYWAY_API void own_bytes(const TensorBase& tensor);

// Says that somebody has the address of a storage, and may write there: it has bytes of its own, and shares none later.
// May be called while other threads read, or do the same: until the next own_bytes() the storage keeps the bytes that
// they may still be reading. Requires: there is a storage.
KEYWAY_API void expose_bytes(const Storage& storage);

// While it lives, this thread shares no bytes: for code that writes to tensors without a call of an operator.
class KEYWAY_API NoSharing {
 public:
  NoSharing();
  ~NoSharing();
  NoSharing(const NoSharing&) = delete;
  NoSharing& operator=(const NoSharing&) = delete;

 private:
  bool outer_;
};

}  // namespace keyway::inline v1
