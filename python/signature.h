// Signature: how an overload is called from Python: its parameters in Python's order and under Python's names, and how
// arguments become the stack of a boxed call.
//
// What differs from the schema is what differs in PyTorch: `self` is called `input` in functions and comes first in
// methods; results that are given go into one argument `out`; factories take `requires_grad`, and options beside `out`;
// where a list of integers is all there is, it may be written without brackets: `x.view(2, 3)`; some tensors may be
// numbers, but not the one that a method belongs to; some names have a second one, mostly NumPy's: `x.sum(axis=0,
// keepdims=True)`.
#pragma once

#include <keyway/dispatch/dispatcher.h>
#include <keyway/python/values.h>

#include <cstddef>
#include <cstdint>
#include <nanobind/nanobind.h>
#include <string>
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

enum class CallStyle : std::uint8_t { Function, Method };

class Signature {
 public:
  Signature(const OperatorHandle& op, CallStyle style);

  const OperatorHandle& op() const { return op_; }
  // Fills `stack` with the arguments of the operator, and says whether the result is to require a gradient; false if
  // the call is not one of this overload, and then, unless `why` is null, why not.
  bool parse(const CallArguments& given, Stack& stack, bool& requires_grad, std::string* why) const;
  // "(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)".
  std::string str() const;
  // Another overload of the function gives results into `out`, which may be None here.
  bool has_out() const { return !outs_.empty(); }
  void take_no_out() { takes_no_out_ = true; }
  // Another overload makes its result from options: with `out` they may be given too, and have to be those of `out`.
  bool is_factory() const { return factory_; }
  void take_options_of_out() { takes_options_of_out_ = has_out(); }
  // Whether a number that fits both means the other: that takes a tensor where this takes a number.
  bool yields_to(const Signature& other) const;

 private:
  struct Parameter {
    std::string name;
    PyObject* key;         // the name as Python's dictionaries hold it, for the length of the program
    PyObject* other_key;   // that of the second name, or null
    std::size_t position;  // on the stack
    ValueType type;
    std::string default_text;
    IValue default_value;
    bool has_default;
    bool keyword_only;
    bool takes_number;  // instead of a tensor
  };

  static bool is_name(PyObject* key, const Parameter& parameter);
  // What is given for a parameter by one of its names; null if nothing is.
  static PyObject* find_argument(const CallArguments& given, const Parameter& parameter);
  bool parse_one(const Parameter& parameter, std::size_t i, PyObject* object, Stack& stack, std::string* why) const;
  void replace_numbers(Stack& stack) const;
  bool parse_out(PyObject* object, Stack& stack, std::string* why) const;
  bool parse_requires_grad(PyObject* object, bool& requires_grad, std::string* why) const;
  bool check_options_of_out(const CallArguments& given, const Stack& stack, std::size_t& used, std::string* why) const;
  bool explain_keywords(const CallArguments& given, std::string* why) const;

  OperatorHandle op_;
  std::vector<Parameter> parameters_;  // without those of `out`
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
