#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/kernel_arguments.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/python_kernel.h>
#include <keyway/python/recursion.h>
#include <keyway/python/text.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::python {
namespace {

// An attribute as text; empty if there is none.
std::string attribute_text(nb::handle object, const char* name) {
  const nb::object value = nb::getattr(object, name, nb::none());
  return PyUnicode_Check(value.ptr()) ? std::string(text_in(value.ptr())) : std::string();
}

}  // namespace

PythonKernel::PythonKernel(nb::object function, Takes takes) : function_(std::move(function)), takes_(takes) {
  KEYWAY_CHECK_AS(Registration, PyCallable_Check(function_.ptr()), "a kernel is a function, not {}",
                  class_name(function_));
  name_ = attribute_text(function_, "__qualname__");
  if (name_.empty()) name_ = class_name(function_);
  const nb::object written = nb::module_::import_("inspect").attr("unwrap")(function_);
  const nb::object code = nb::getattr(written, "__code__", nb::none());
  if (code.is_none()) return;
  site_.file = attribute_text(code, "co_filename");
  site_.line = nb::cast<int>(code.attr("co_firstlineno"));
}

void PythonKernel::call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
  KEYWAY_CHECK_AS(Registration, Py_IsInitialized(), "its kernel is a Python function, and Python has ended");
  const LockHeld lock;
  static_cast<const PythonKernel*>(kernel.context)->run(op, keys, stack);
}

void PythonKernel::run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) const {
  // What a kernel gives back is converted when its own frame is gone, by calls that may come to the kernel again: a
  // tensor that stands for a number, to a kernel of what reads numbers.
  const Recursion recursion;
  const KernelArguments& arguments = KernelArguments::of(op);
  std::vector<nb::object> first;
  if (takes_.keys) first.push_back(nb::cast(keys));
  if (takes_.op) first.push_back(overload_function(OperatorHandle(op)));
  const nb::object returned = arguments.call(function_, first, stack, takes_.defaults);
  const std::string who = site_.file.empty() ? fmt::format("the Python kernel {}", name_)
                                             : fmt::format("the Python kernel {} ({})", name_, site_.str());
  arguments.take_results(returned, who, stack);
}

}  // namespace keyway::inline v1::python
