#include <keyway/dispatch/default_argument.h>
#include <keyway/python/default_device.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/number_arguments.h>
#include <keyway/python/signature.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace nb = nanobind;

namespace keyway::inline v1::python {
namespace {

PyObject* interned(const char* text) {
  PyObject* made = PyUnicode_InternFromString(text);
  if (made == nullptr) rethrow_python_error();
  return made;
}

PyObject* out_key() {
  static PyObject* const key = interned("out");
  return key;
}
PyObject* requires_grad_key() {
  static PyObject* const key = interned("requires_grad");
  return key;
}

// The second name of an argument: NumPy's, or what PyTorch calls it in one function. Null if it has none.
PyObject* other_key(const FunctionSchema& schema, std::string_view name) {
  if (name == "src" && schema.name() == "copy_") return interned("other");
  constexpr std::pair<std::string_view, const char*> kNames[] = {{"dim", "axis"},
                                                                 {"keepdim", "keepdims"},
                                                                 {"input", "x"},
                                                                 {"other", "x2"},
                                                                 {"split_size", "split_size_or_sections"}};
  for (const auto& [known, other] : kNames) {
    if (name == known) return interned(other);
  }
  return nullptr;
}

bool is_key(PyObject* given, PyObject* key) {
  return given == key || (!PyUnicode_CHECK_INTERNED(given) && PyUnicode_Compare(given, key) == 0);
}

// The argument of a keyword, if it is given.
PyObject* find_keyword(const CallArguments& given, PyObject* key) {
  for (std::size_t i = 0; i < given.keyword_count(); ++i) {
    if (is_key(given.keyword(i), key)) return given.values[given.positional + i];
  }
  return nullptr;
}

bool fail(std::string* why, auto&& text) {
  if (why != nullptr) *why = text();
  return false;
}

const char* type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

// Makes a tensor from options, so that it may be told to require a gradient.
bool makes_from_options(const FunctionSchema& schema) {
  const ArgumentList arguments = schema.arguments();
  return arguments.find("dtype") && arguments.find("layout") && arguments.find("device") &&
         arguments.find("pin_memory") && !arguments.find("non_blocking");
}

// Where its device stands if it makes a tensor from options alone: what is made like a tensor is where that is.
std::size_t default_device_position(const FunctionSchema& schema) {
  const ArgumentList arguments = schema.arguments();
  bool of_tensors = !makes_from_options(schema);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    of_tensors = of_tensors || ValueType(arguments[i].type()).kind == TypeKind::Tensor;
  return of_tensors ? arguments.size() : *arguments.find("device");
}

}  // namespace

Signature::Signature(const OperatorHandle& op, CallStyle style)
    : op_(op), arguments_(op.schema().arguments().size()), device_(default_device_position(op.schema())) {
  const ArgumentList arguments = op.schema().arguments();
  factory_ = makes_from_options(op.schema());
  const auto add = [&](std::size_t i) {
    const Argument argument = arguments[i];
    if (argument.is_out()) {
      outs_.push_back(i);
      return;
    }
    const ValueType type(argument.type());
    std::string name(argument.name());
    if (style == CallStyle::Function && name == "self" && type.kind == TypeKind::Tensor && !type.list) name = "input";
    const auto from = argument.default_value();
    const bool is_self = style == CallStyle::Method && argument.name() == "self";
    parameters_.push_back({name, interned(name.c_str()), other_key(op.schema(), name), i, type,
                           from ? std::string(from->text()) : std::string(),
                           from ? default_argument(argument) : IValue(), from.has_value(), argument.is_kwarg_only(),
                           !is_self && takes_number(op.schema(), argument.name())});
    if (parameters_.back().takes_number) numbers_.push_back(i);
    if (!argument.is_kwarg_only()) ++positional_;
  };
  const std::size_t self = style == CallStyle::Method ? *arguments.find("self") : arguments.size();
  if (style == CallStyle::Method) add(self);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i != self) add(i);
  }
  const std::size_t first = style == CallStyle::Method ? 1 : 0;
  open_list_ = positional_ == first + 1 && parameters_[first].type.is_int_list();
}

bool Signature::is_name(PyObject* key, const Parameter& parameter) {
  return is_key(key, parameter.key) || (parameter.other_key != nullptr && is_key(key, parameter.other_key));
}

PyObject* Signature::find_argument(const CallArguments& given, const Parameter& parameter) {
  PyObject* const value = find_keyword(given, parameter.key);
  return value == nullptr && parameter.other_key != nullptr ? find_keyword(given, parameter.other_key) : value;
}

bool Signature::parse_one(const Parameter& parameter, std::size_t i, PyObject* object, Stack& stack,
                          std::string* why) const {
  IValue& value = stack[parameter.position];
  if (to_value(parameter.type, object, value)) return true;
  if (Scalar number; parameter.takes_number && to_scalar(object, number)) {
    value = IValue(number);
    return true;
  }
  if (object == Py_None && parameter.default_text == "[]") {  // PyTorch writes this default as None
    value = parameter.default_value;
    return true;
  }
  return fail(why, [&] {
    return fmt::format("argument '{}' (position {}) must be {}, not {}", parameter.name, i + 1, parameter.type.str(),
                       type_name(object));
  });
}

// Makes tensors of the numbers that were given for such.
void Signature::replace_numbers(Stack& stack) const {
  for (const std::size_t i : numbers_)
    if (!stack[i].is_tensor()) return numbers_to_tensors(op_.schema(), numbers_, stack);
}

// One tensor, or a tuple of as many as there are results.
bool Signature::parse_out(PyObject* object, Stack& stack, std::string* why) const {
  if (outs_.size() == 1 && is_tensor(object)) {
    stack[outs_[0]] = IValue(static_cast<const TensorBase&>(tensor_in(object)));
    return true;
  }
  const bool is_tuple = PyTuple_Check(object) || PyList_Check(object);
  if (!is_tuple || PySequence_Size(object) != static_cast<Py_ssize_t>(outs_.size()))
    return fail(why, [&] {
      return fmt::format("argument 'out' must be {}, not {}",
                         outs_.size() == 1 ? "a Tensor" : fmt::format("a tuple of {} Tensors", outs_.size()),
                         type_name(object));
    });
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    const nb::object item = checked(PySequence_GetItem(object, static_cast<Py_ssize_t>(i)));
    if (!is_tensor(item.ptr()))
      return fail(why, [&] { return fmt::format("argument 'out' holds a {}", type_name(item.ptr())); });
    stack[outs_[i]] = IValue(static_cast<const TensorBase&>(tensor_in(item.ptr())));
  }
  return true;
}

bool Signature::parse_requires_grad(PyObject* object, bool& requires_grad, std::string* why) const {
  if (!PyBool_Check(object) && object != Py_None)
    return fail(why, [&] { return fmt::format("argument 'requires_grad' must be bool, not {}", type_name(object)); });
  requires_grad = object == Py_True;
  return true;
}

// PyTorch's check_out_type_matches: what is said of a tensor that is given has to be so.
bool Signature::check_options_of_out(const CallArguments& given, const Stack& stack, std::size_t& used,
                                     std::string* why) const {
  const Tensor out(stack[outs_[0]].to_tensor());
  const auto check = [&](const char* name, const auto& read, const auto& is_so) {
    PyObject* const value = find_keyword(given, interned(name));
    if (value == nullptr) return true;
    ++used;
    if (value == Py_None) return true;
    const auto wanted = read(value);
    if (!wanted) return fail(why, [&] { return fmt::format("argument '{}' is a {}", name, type_name(value)); });
    KEYWAY_CHECK(is_so(*wanted), "{}: argument '{}' is {}, but argument 'out' is {}", op_.name(), name,
                 std::string(nb::str(nb::handle(value)).c_str()), describe(out));
    return true;
  };
  const auto flag = [](PyObject* value) {
    return PyBool_Check(value) ? std::optional(value == Py_True) : std::nullopt;
  };
  return check("dtype", dtype_in, [&](ScalarType dtype) { return dtype == out.dtype(); }) &&
         check("layout", layout_in, [&](Layout layout) { return layout == out.layout(); }) &&
         check("device", device_in,
               [&](Device device) {
                 return device.type() == out.device().type() && (!device.has_index() || device == out.device());
               }) &&
         check("pin_memory", flag, [](bool) { return true; });
}

// Which keyword of a call that has too many is wrong.
bool Signature::explain_keywords(const CallArguments& given, std::string* why) const {
  return fail(why, [&] {
    for (std::size_t i = 0; i < given.keyword_count(); ++i) {
      PyObject* const key = given.keyword(i);
      const std::string_view name = text_in(key);
      bool known = (!outs_.empty() && is_key(key, out_key())) ||
                   ((factory_ || takes_options_of_out_) && is_key(key, requires_grad_key()));
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        if (!is_name(key, parameters_[p])) continue;
        known = true;
        if (p < given.positional && !parameters_[p].keyword_only)
          return fmt::format("got several values for argument '{}'", name);
      }
      if (!known) return fmt::format("got an unexpected keyword argument '{}'", name);
    }
    return std::string("got a keyword argument that it does not take");
  });
}

bool Signature::parse(const CallArguments& given, Stack& stack, bool& requires_grad, std::string* why) const {
  stack.clear();
  stack.resize(arguments_);
  std::size_t used = 0;
  // x.view(2, 3)
  const bool is_open = open_list_ && given.positional >= positional_ && PyIndex_Check(given.values[positional_ - 1]) &&
                       !PyBool_Check(given.values[positional_ - 1]);
  if (given.positional > positional_ && !is_open)
    return fail(why,
                [&] { return fmt::format("takes {} positional arguments, not {}", positional_, given.positional); });
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (i < given.positional && !parameter.keyword_only) {
      if (is_open && i + 1 == positional_) {
        const nb::object list = checked(PyTuple_New(static_cast<Py_ssize_t>(given.positional - i)));
        for (std::size_t j = i; j < given.positional; ++j)
          PyTuple_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(j - i), Py_NewRef(given.values[j]));
        if (!parse_one(parameter, i, list.ptr(), stack, why)) return false;
      } else if (!parse_one(parameter, i, given.values[i], stack, why)) {
        return false;
      }
      continue;
    }
    PyObject* const value = find_argument(given, parameter);
    used += value != nullptr ? 1 : 0;
    if (value != nullptr) {
      if (!parse_one(parameter, i, value, stack, why)) return false;
    } else if (parameter.has_default) {
      stack[parameter.position] = parameter.default_value;
    } else {
      return fail(why, [&] { return fmt::format("misses argument '{}' (position {})", parameter.name, i + 1); });
    }
  }
  PyObject* const out = given.keyword_count() > used ? find_keyword(given, out_key()) : nullptr;
  if (out != nullptr && (out == Py_None) == outs_.empty() && (!outs_.empty() || takes_no_out_)) {
    ++used;
    if (out != Py_None && !parse_out(out, stack, why)) return false;
  } else if (!outs_.empty()) {
    return fail(why, [] { return std::string("misses argument 'out'"); });
  }
  if (takes_options_of_out_ && given.keyword_count() > used && !check_options_of_out(given, stack, used, why))
    return false;
  if ((factory_ || takes_options_of_out_) && given.keyword_count() > used) {
    if (PyObject* const flag = find_keyword(given, requires_grad_key())) {
      ++used;
      if (!parse_requires_grad(flag, requires_grad, why)) return false;
    }
  }
  if (given.keyword_count() != used) return explain_keywords(given, why);
  replace_numbers(stack);
  if (device_ != arguments_ && stack[device_].is_none())
    if (const auto device = default_device()) stack[device_] = IValue(*device);
  return true;
}

std::string Signature::str() const {
  std::string text;
  bool starred = false;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const Parameter& parameter : parameters_) {
    if (parameter.keyword_only && !std::exchange(starred, true)) add("*");
    add((parameter.takes_number ? "Tensor | Number" : parameter.type.str()) + " " + parameter.name +
        (parameter.has_default ? "=" + parameter.default_text : ""));
  }
  if ((!outs_.empty() || factory_) && !starred) add("*");
  if (!outs_.empty()) add(outs_.size() == 1 ? "Tensor out" : fmt::format("tuple of {} Tensors out", outs_.size()));
  if (factory_) add("bool requires_grad=False");
  if (takes_options_of_out_)
    add("ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
        "bool requires_grad=False");
  return "(" + text + ")";
}

bool Signature::yields_to(const Signature& other) const {
  for (std::size_t i = 0; i < parameters_.size() && i < other.parameters_.size(); ++i) {
    const ValueType& mine = parameters_[i].type;
    const ValueType& its = other.parameters_[i].type;
    if (mine.kind == its.kind && mine.list == its.list) continue;
    return its.kind == TypeKind::Tensor && !its.list;
  }
  return false;
}

}  // namespace keyway::inline v1::python
