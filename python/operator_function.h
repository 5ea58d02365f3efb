// OperatorFunction: a callable of Python that stands for the overloads of an operator: `keyway.add`, the method
// `Tensor.add`, `keyway.ops.keyway.add` and `keyway.ops.keyway.add.Tensor` are such objects.
#pragma once

#include <keyway/python/signature.h>

#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace keyway::inline v1::python {

void add_operator_function_class(nanobind::module_& module);

// A function of this name. Of several overloads, a call means the first that takes its arguments. Requires: there is
// one.
nanobind::object make_operator_function(const std::string& name, const std::vector<OperatorHandle>& overloads,
                                        CallStyle style, const std::string& doc);

// The function of one overload: the same object each time.
nanobind::object overload_function(const OperatorHandle& op);

// A call that was not made: the overload that takes the arguments, and these as its stack.
struct ParsedCall {
  OperatorHandle op;
  Stack stack;
};
// Throws keyway::Error if `function` is no OperatorFunction, or none of its overloads takes the arguments.
ParsedCall parse_call(nanobind::handle function, const nanobind::args& args, const nanobind::kwargs& kwargs);

}  // namespace keyway::inline v1::python
