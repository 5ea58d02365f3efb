// Signature: how an overload is called from Python: its parameters in Python's order and under Python's names, and how
// arguments become the stack of a boxed call.
//
// What differs from the schema is what differs in PyTorch: `self` is called `input` in functions and comes first in
// methods; results that are given go into one argument `out`; factories take `requires_grad`, and options beside `out`;
// where a list of integers is all there is, it may be written without brackets: `x.view(2, 3)`; some tensors may be
// numbers, but not the one that a method belongs to; some names have a second one, mostly NumPy's: `x.sum(axis=0,
// keepdims=True)`. Of this, operators of other namespaces have only `out`: their arguments have the names that their
// schemas give them, and no others. An overload in `keyway.ops` takes the schema's names in any case.
//
// A keyword is one argument's: a second name that is the name of another argument means that one.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/python/nanobind.h>
#include <keyway/python/values.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::python {

// What a vectorcall gives: positional arguments, then those of the keywords.
struct CallArguments {
  PyObject* const* values;
  std::size_t positional;
  PyObject* keywords;  // a tuple of names, or null

  std::size_t keyword_count() const {
    return keywords == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(keywords));
  }
  PyObject* keyword(std::size_t i) const { return PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(i)); }
};

// A function `keyway.add`, a method `Tensor.add`, or an operator of `keyway.ops`.
enum class CallStyle : std::uint8_t { Function, Method, Operator };

class Keywords;

class Signature {
 public:
  Signature(const OperatorHandle& op, CallStyle style);

  const OperatorHandle& op() const { return op_; }
  // Fills `stack` with the arguments of the operator, and says whether the result is to require a gradient; false if
  // the call is not one of this overload, and then, unless `why` is null, why not.
  bool parse(const CallArguments& given, Stack& stack, bool& requires_grad, std::string* why) const;
  // "(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)".
  std::string str() const;
  // As inspect.signature has it.
  nb::object python_signature() const;
  // Another overload of the function gives results into `out`, which may be None here.
  bool has_out() const { return !outs_.empty(); }
  void take_no_out() { takes_no_out_ = true; }
  // Another overload makes its result from options: with `out` they may be given too, and have to be those of `out`.
  bool is_factory() const { return factory_; }
  bool is_built_in() const { return built_in_; }
  void take_options_of_out() { takes_options_of_out_ = has_out(); }
  // Whether an argument that fits both means the other: that takes a tensor where this takes a number, or, of an
  // operator of `keyway.ops`, an int where this takes a float.
  bool yields_to(const Signature& other) const;

 private:
  struct Parameter {
    std::string name;
    PyObject* key;                      // the name as Python's dictionaries hold it, for the length of the program
    std::vector<PyObject*> other_keys;  // those of its other names
    std::size_t position;               // on the stack
    ValueType type;
    std::string default_text;
    IValue default_value;
    bool has_default;
    bool keyword_only;
    bool takes_number;  // instead of a tensor
    bool is_out;        // a result that may be given into `out`, too
  };

  Parameter parameter_of(std::size_t i) const;
  std::vector<PyObject*> other_names(std::string_view argument, std::string_view name) const;
  static bool is_name(PyObject* key, const Parameter& parameter);
  // What is given for a parameter by one of its names; null if nothing is.
  static PyObject* take_argument(Keywords& keywords, const Parameter& parameter);
  bool parse_positional(const CallArguments& given, std::size_t i, bool is_open, Stack& stack, std::string* why) const;
  bool parse_parameters(const CallArguments& given, Keywords& keywords, std::size_t& outs, Stack& stack,
                        std::string* why) const;
  bool parse_one(const Parameter& parameter, std::size_t i, PyObject* object, Stack& stack, std::string* why) const;
  bool parse_out(PyObject* object, Stack& stack, std::string* why) const;
  bool check_options_of_out(Keywords& keywords, const Stack& stack, std::string* why) const;
  bool explain_keywords(const CallArguments& given, std::string* why) const;

  OperatorHandle op_;
  CallStyle style_;
  bool built_in_;                      // of the namespace keyway
  std::vector<Parameter> parameters_;  // of `keyway.ops` with those of `out` that have a name of their own
  std::vector<std::size_t> outs_;      // positions of the results that are given
  std::vector<std::size_t> numbers_;   // positions of the tensors that may be numbers
  std::size_t arguments_;
  // Position of the device of a factory of no tensors, which may be the default one; else arguments_.
  std::size_t device_;
  std::size_t positional_ = 0;
  bool open_list_ = false;  // the last positional parameter may be written without brackets
  bool factory_ = false;
  bool takes_no_out_ = false;
  bool takes_options_of_out_ = false;
};

}  // namespace keyway::inline v1::python
