// Schema checks: for every kernel that is called, whether it wrote to and gave back memory of exactly those arguments
// that the operator's schema names.
//
//   const ObserverHandle checks = observe_calls(schema_checker());
//
// After a kernel ran: an argument that the schema does not write to has its sizes, strides, dtype and elements as
// before, unless it shares memory with one that is written to; a result without an annotation shares no memory with an
// argument; one with an annotation, Tensor(a), shares memory with no argument of another alias set; one that is written
// to, Tensor(a!), is the very argument; two results without annotations have no memory in common. Elements are compared
// of CPU tensors only. Results of kernels at CompositeImplicitAutograd, Batched, ForwardAD, Tracer and Functionalize,
// which run other operators that are checked themselves, may share memory with arguments and with each other: such a
// kernel may return an argument unchanged.
//
// KEYWAY_CHECK_SCHEMAS=1 in the environment turns them on for the whole program. They copy what arguments hold, so
// that calls take many times as long; while they are off, they cost nothing.
#pragma once

#include <keyway/dispatch/registry/observer.h>

#include <memory>

namespace keyway::inline v1 {

// An observer that throws keyway::Error(Internal), which names operator, kernel, argument and rule, from the call that
// broke its schema.
KEYWAY_API std::shared_ptr<CallObserver> schema_checker();

}  // namespace keyway::inline v1
