// DLPack's protocol of Python: __dlpack__, and capsules that hold a tensor until somebody takes it
// (core/tensor/dlpack.h).
#pragma once

#include <keyway/core/tensor/dlpack.h>
#include <keyway/python/buffers.h>

namespace keyway::inline v1::python {

// A capsule's name says what it holds, and whether somebody has taken that.
template <typename Managed>
struct CapsuleNames;
template <>
struct CapsuleNames<dlpack::DLManagedTensor> {
  static constexpr const char *kFresh = "dltensor", *kTaken = "used_dltensor";
};
template <>
struct CapsuleNames<dlpack::DLManagedTensorVersioned> {
  static constexpr const char *kFresh = "dltensor_versioned", *kTaken = "used_dltensor_versioned";
};

// Whether `object` hands its memory out by DLPack.
bool has_dlpack(PyObject* object);
// A tensor over the memory of an object that has_dlpack, or of a capsule, which is taken then. Errors: Python's
// BufferError for what no tensor can be over; what the object throws.
ForeignTensor import_dlpack(PyObject* object);

}  // namespace keyway::inline v1::python
