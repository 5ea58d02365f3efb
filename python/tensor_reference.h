// TensorReference: for an object of Python that holds a tensor in C++, and shows that to the garbage collector: it
// holds the tensor's object, too, which it visits. A cycle of references through both can be collected then.
#pragma once

#include <keyway/python/nanobind.h>
#include <keyway/tensor.h>

#include <utility>

namespace keyway::inline v1::python {

class TensorReference {
 public:
  // One reference of `tensor` in C++ is shown as long as this lives. Requires, of all functions: the interpreter lock
  // is held.
  explicit TensorReference(const Tensor& tensor);
  ~TensorReference();
  TensorReference(TensorReference&&) noexcept = default;
  TensorReference& operator=(TensorReference&&) = delete;

  // What tp_traverse visits.
  PyObject* object() const { return object_.ptr(); }

 private:
  void change(int by) const;

  nb::object object_;
};

}  // namespace keyway::inline v1::python
