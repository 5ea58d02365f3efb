// FunctionContext: the `ctx` of a keyway.autograd.Function.
#pragma once

#include <keyway/autograd/function.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

struct FunctionContext {
  autograd::FunctionNode* node = nullptr;  // held by what forward returned; null once that is gone
  nb::object needs_input_grad;             // a tuple of bools
  nb::object saved_for_forward;            // what jvp wants kept, a tuple; null once that has run

  // The node's own context. Throws if it is gone.
  autograd::AutogradContext& live() const;
};

}  // namespace keyway::inline v1::python
