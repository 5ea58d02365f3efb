// What autograd does to tensors without calling an operator, told to who captures a graph of the calls.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::autograd {

struct CaptureListener {
  // `alias` is a tensor of its own over the memory of `of`, without history: what a node saves, for example.
  void (*alias_made)(const TensorBase& of, const TensorBase& alias);
  // The gradient that a leaf keeps is asked for; it becomes another one, or undefined.
  void (*grad_asked)(const TensorBase& leaf);
  void (*grad_set)(const TensorBase& leaf, const Tensor& grad);
};

// Who is told of what this thread does; null: nobody. Gives who was before.
KEYWAY_API const CaptureListener* exchange_capture_listener(const CaptureListener* listener);

// Makes such an alias.
KEYWAY_API TensorBase plain_alias(const TensorBase& tensor);

}  // namespace keyway::inline v1::autograd
