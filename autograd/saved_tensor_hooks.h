// SavedTensorHooks: who keeps what nodes save: tensors of another device or dtype, files, ways to compute them again.
#pragma once

#include <keyway/tensor.h>

#include <memory>
#include <utility>

namespace keyway::inline v1::autograd {

// What is kept in the place of a tensor.
class KEYWAY_API PackedTensor {
 public:
  virtual ~PackedTensor();
  // A tensor like the one that was packed. Called whenever backward needs it, by the thread that runs it.
  virtual Tensor unpack() const = 0;
};

class KEYWAY_API SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks();
  // `tensor` shares memory and version with what is saved, and has no history. A hook that keeps it keeps that memory,
  // and must detect later in-place changes itself. While a hook runs, lazy clones are made at once.
  virtual std::unique_ptr<PackedTensor> pack(const Tensor& tensor) = 0;
};

// The hooks that the calling thread's calls are recorded with; null for none. While a hook runs, there are none.
extern KEYWAY_API constinit thread_local SavedTensorHooks* saved_tensor_hooks
    __attribute__((tls_model("initial-exec")));

// While it lives, the thread's calls are recorded with other hooks.
class SavedTensorHooksGuard {
 public:
  explicit SavedTensorHooksGuard(SavedTensorHooks* hooks) : before_(std::exchange(saved_tensor_hooks, hooks)) {}
  ~SavedTensorHooksGuard() { saved_tensor_hooks = before_; }
  SavedTensorHooksGuard(const SavedTensorHooksGuard&) = delete;
  SavedTensorHooksGuard& operator=(const SavedTensorHooksGuard&) = delete;

 private:
  SavedTensorHooks* before_;
};

}  // namespace keyway::inline v1::autograd
