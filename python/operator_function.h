// OperatorFunction: a callable of Python that stands for the overloads of an operator: `keyway.add`, the method
// `Tensor.add`, `keyway.ops.keyway.add` and `keyway.ops.keyway.add.Tensor` are such objects.
#pragma once

#include <keyway/python/nanobind.h>
#include <keyway/python/signature.h>

#include <string>
#include <vector>

namespace keyway::inline v1::python {

// A function of this name. Of several overloads, a call means the first that takes its arguments. Requires: there is
// one.
nb::object make_operator_function(const std::string& name, const std::vector<OperatorHandle>& overloads,
                                  CallStyle style, const std::string& doc);

// The function of one overload: the same object each time.
nb::object overload_function(const OperatorHandle& op);

// A call that was not made: the overload that takes the arguments, and these as its stack.
struct ParsedCall {
  OperatorHandle op;
  Stack stack;
};
// Throws keyway::Error if `function` is no OperatorFunction, or none of its overloads takes the arguments.
ParsedCall parse_call(nb::handle function, const nb::args& args, const nb::kwargs& kwargs);

}  // namespace keyway::inline v1::python
