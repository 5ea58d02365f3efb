// What autograd does to tensors without calling an operator, told to who captures a graph of the calls.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::autograd {

struct CaptureListener {
  // `alias` is a tensor of its own over the memory of `of`, without history: what a node saves, for example.
  void (*alias_made)(const TensorBase& of, const TensorBase& alias);
  // The gradient that a leaf keeps is asked for; it becomes another one, or undefined.
  void (*grad_asked)(const TensorBase& leaf);
  void (*grad_set)(const TensorBase& leaf, const TensorBase& grad);
  // The history of a tensor changes: it gets another one, or a hook, or comes to require grad; of the tensors that a
  // Function gives, `tensor` is undefined. `how` is for people.
  void (*history_changed)(const TensorBase& tensor, const char* how);
};

// Who is told of what this thread does; null: nobody.
extern KEYWAY_API constinit thread_local const CaptureListener* capture_listener
    __attribute__((tls_model("initial-exec")));

inline void note_history_change(const TensorBase& tensor, const char* how) {
  if (capture_listener != nullptr) [[unlikely]]
    capture_listener->history_changed(tensor, how);
}

}  // namespace keyway::inline v1::autograd
