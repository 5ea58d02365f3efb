// KernelArguments: between the stack of a boxed call and a call of a Python function that stands for an operator: the
// other direction of Signature.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/python/nanobind.h>
#include <keyway/python/values.h>

#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1::python {

class KernelArguments {
 public:
  // Of an operator; made once, and kept for the length of the program. Requires: the interpreter lock.
  static const KernelArguments& of(const OperatorEntry& op);

  // Calls the function with `first`, then the arguments on top of the stack under the names of the schema. Those that
  // have their default value are left out as far as that can be, so that a function need not know them; not if it
  // asked for `all`.
  nb::object call(nb::handle function, const std::vector<nb::object>& first, const Stack& stack, bool all) const;
  // The same arguments as a tuple, and a dictionary of those that have to be named.
  struct Objects {
    nb::tuple positional;
    nb::dict named;
  };
  Objects objects(const Stack& stack) const;
  // Puts what the function returned in the place of the arguments. Of several results, those that are tensors may be
  // None, as those of a backward that are not asked for, if `some_undefined`. Throws keyway::Error, which begins with
  // `who`, for results that the schema does not allow.
  void take_results(nb::handle returned, const std::string& who, Stack& stack, bool some_undefined = false) const;

 private:
  struct Parameter {
    PyObject* name;  // for the length of the program
    bool has_default;
    IValue default_value;
  };
  struct Result {
    ValueType type;
    std::string text;                  // "Tensor(a!)", for people
    std::vector<std::size_t> written;  // it is one of these arguments; none: any value
  };

  explicit KernelArguments(const OperatorEntry& op);
  const IValue* first_on(const Stack& stack) const { return stack.data() + (stack.size() - parameters_.size()); }
  bool is_default(std::size_t i, const IValue& value) const;
  // How many arguments are to be given by position: behind them all have their default values.
  std::size_t given_positional(const IValue* values) const;
  IValue result(std::size_t i, nb::handle returned, const std::string& who, const Stack& stack) const;

  std::vector<Parameter> parameters_;
  std::vector<Result> results_;
  std::size_t positional_;
};

}  // namespace keyway::inline v1::python
