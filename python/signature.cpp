#include <keyway/dispatch/call/default_argument.h>
#include <keyway/python/default_device.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/number_arguments.h>
#include <keyway/python/signature.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>
#include <keyway/python/tuples.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::python {
namespace {

PyObject* out_key() {
  static PyObject* const key = interned("out");
  return key;
}
PyObject* requires_grad_key() {
  static PyObject* const key = interned("requires_grad");
  return key;
}

// The second names of arguments: NumPy's, or what PyTorch calls one in a function.
constexpr std::pair<std::string_view, const char*> kSecondNames[] = {{"dim", "axis"},
                                                                     {"keepdim", "keepdims"},
                                                                     {"input", "x"},
                                                                     {"other", "x2"},
                                                                     {"split_size", "split_size_or_sections"}};

bool is_key(PyObject* given, PyObject* key) {
  return given == key || (!PyUnicode_CHECK_INTERNED(given) && PyUnicode_Compare(given, key) == 0);
}

// What a call that is not one of the overload ends with: false, and why.
template <typename... Values>
bool fail(std::string* why, fmt::format_string<const Values&...> text, const Values&... values) {
  if (why != nullptr) *why = fmt::format(text, values...);
  return false;
}

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

// A tensor that the caller wants a result in: `out`. A tensor that is written to and not returned is none, nor is one
// that may be left out.
bool is_result(const FunctionSchema& schema, Argument argument) {
  if (!argument.is_out() || !argument.type().is(TypeKind::Tensor) || argument.has_default()) return false;
  for (const Argument result : schema.returns()) {
    if (result.is_write() && result.type().alias().before() == argument.type().alias().before()) return true;
  }
  return false;
}

// What takes less comes first: a Scalar is any number, a float takes an int, and a device's name is a str.
int breadth(const ValueType& type) {
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Str: return 0;
    case TypeKind::Int:
    case TypeKind::SymInt: return 1;
    case TypeKind::Float: return 2;
    case TypeKind::Complex: return 3;
    default: return 4;
  }
}

}  // namespace

// The keywords of a call, of which each is taken once.
class Keywords {
 public:
  static constexpr std::size_t kMost = 64;

  // Requires: no more than kMost.
  explicit Keywords(const CallArguments& given) : given_(given), left_(given.keyword_count()) {}
  std::size_t left() const { return left_; }
  // The argument of that keyword; null if it is not given, or taken.
  PyObject* take(PyObject* key) {
    for (std::size_t i = 0; i < given_.keyword_count(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((taken_ & bit) != 0 || !is_key(given_.keyword(i), key)) continue;
      taken_ |= bit;
      --left_;
      return given_.values[given_.positional + i];
    }
    return nullptr;
  }

 private:
  const CallArguments& given_;
  std::size_t left_;
  std::uint64_t taken_ = 0;
};

std::vector<PyObject*> Signature::other_names(std::string_view argument, std::string_view name) const {
  std::vector<PyObject*> keys;
  if (!built_in_) return keys;
  const FunctionSchema& schema = op_.schema();
  const auto add = [&](const char* other) {
    if (!schema.arguments().find(other)) keys.push_back(interned(other));
  };
  if (name == "src" && schema.name() == "copy_") add("other");
  for (const auto& [known, other] : kSecondNames) {
    if (name == known || (argument == "self" && style_ == CallStyle::Operator && known == "input")) add(other);
  }
  if (argument == "self" && style_ == CallStyle::Operator) add("input");
  return keys;
}

Signature::Parameter Signature::parameter_of(std::size_t i) const {
  const FunctionSchema& schema = op_.schema();
  const Argument argument = schema.arguments()[i];
  const ValueType type(argument.type());
  const auto from = argument.default_value();
  const bool is_self = argument.name() == "self" && type.kind == TypeKind::Tensor && !type.list;
  const bool is_input = is_self && style_ == CallStyle::Function && !schema.arguments().find("input");
  std::string name(is_input ? "input" : argument.name());
  PyObject* const key = interned(name.c_str());
  std::vector<PyObject*> others = other_names(is_self ? argument.name() : std::string_view(), name);
  return {std::move(name),
          key,
          std::move(others),
          i,
          type,
          from ? std::string(from->text()) : std::string(),
          from ? default_argument(argument) : IValue(),
          from.has_value(),
          argument.is_kwarg_only(),
          built_in_ && takes_number(schema, argument.name()) && !(is_self && style_ == CallStyle::Method),
          is_result(schema, argument)};
}

Signature::Signature(const OperatorHandle& op, CallStyle style)
    : op_(op),
      style_(style),
      built_in_(std::string_view(op.entry().info().name).starts_with("keyway::")),
      arguments_(op.schema().arguments().size()),
      device_(default_device_position(op.schema())),
      factory_(built_in_ && makes_from_options(op.schema())) {
  const ArgumentList arguments = op.schema().arguments();
  const auto add = [&](std::size_t i) {
    Parameter parameter = parameter_of(i);
    if (parameter.is_out) outs_.push_back(i);
    // That of one result is mostly called `out` itself.
    if (parameter.is_out && (style != CallStyle::Operator || parameter.name == "out")) return;
    if (parameter.takes_number) numbers_.push_back(i);
    if (!parameter.keyword_only) ++positional_;
    parameters_.push_back(std::move(parameter));
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
  return is_key(key, parameter.key) ||
         std::ranges::any_of(parameter.other_keys, [&](PyObject* other) { return is_key(key, other); });
}

PyObject* Signature::take_argument(Keywords& keywords, const Parameter& parameter) {
  if (keywords.left() == 0) return nullptr;
  PyObject* value = keywords.take(parameter.key);
  for (std::size_t i = 0; value == nullptr && i < parameter.other_keys.size(); ++i)
    value = keywords.take(parameter.other_keys[i]);
  return value;
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
  if (why == nullptr) return false;  // looking for what does not fit may take long
  return fail(why, "argument '{}' (position {}) must be {}, not {}", parameter.name, i + 1, parameter.type.str(),
              misfit(parameter.type, object));
}

// One tensor, or a tuple of as many as there are results.
bool Signature::parse_out(PyObject* object, Stack& stack, std::string* why) const {
  if (outs_.size() == 1 && is_tensor(object)) {
    stack[outs_[0]] = IValue(static_cast<const TensorBase&>(tensor_in(object)));
    return true;
  }
  const bool is_tuple = PyTuple_Check(object) || PyList_Check(object);
  if (!is_tuple || PySequence_Size(object) != static_cast<Py_ssize_t>(outs_.size()))
    return fail(why, "argument 'out' must be {}, not {}",
                outs_.size() == 1 ? "a Tensor" : fmt::format("a tuple of {} Tensors", outs_.size()),
                class_name(object));
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    const nb::object item = checked(PySequence_GetItem(object, static_cast<Py_ssize_t>(i)));
    if (!is_tensor(item.ptr())) return fail(why, "argument 'out' holds a {}", class_name(item.ptr()));
    stack[outs_[i]] = IValue(static_cast<const TensorBase&>(tensor_in(item.ptr())));
  }
  return true;
}

// PyTorch's check_out_type_matches: what is said of a tensor that is given has to be so.
bool Signature::check_options_of_out(Keywords& keywords, const Stack& stack, std::string* why) const {
  const Tensor out(stack[outs_[0]].to_tensor());
  const auto check = [&](const char* name, const auto& read, const auto& is_so) {
    PyObject* const value = keywords.take(interned(name));
    if (value == nullptr || value == Py_None) return true;
    const auto wanted = read(value);
    if (!wanted) return fail(why, "argument '{}' is a {}", name, class_name(value));
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
  if (why == nullptr) return false;
  std::uint64_t seen = 0;  // the parameters that have been given; they are at most 64
  for (std::size_t i = 0; i < given.keyword_count(); ++i) {
    PyObject* const key = given.keyword(i);
    const std::string_view name = text_in(key);
    bool known = (!outs_.empty() && is_key(key, out_key())) ||
                 ((factory_ || takes_options_of_out_) && is_key(key, requires_grad_key()));
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (!is_name(key, parameters_[p])) continue;
      known = true;
      const std::uint64_t bit = std::uint64_t{1} << p;
      if ((p < given.positional && !parameters_[p].keyword_only) || (seen & bit) != 0)
        return fail(why, "got several values for argument '{}'", name);
      seen |= bit;
    }
    if (!known) return fail(why, "got an unexpected keyword argument '{}'", name);
  }
  return fail(why, "got a keyword argument that it does not take");
}

bool Signature::parse_positional(const CallArguments& given, std::size_t i, bool is_open, Stack& stack,
                                 std::string* why) const {
  if (!is_open || i + 1 != positional_) return parse_one(parameters_[i], i, given.values[i], stack, why);
  const nb::object list =
      tuple_of(given.positional - i, [&](std::size_t j) { return nb::borrow(given.values[i + j]); });
  return parse_one(parameters_[i], i, list.ptr(), stack, why);
}

// Counts in `outs` what is missing of the results that have a place of their own.
bool Signature::parse_parameters(const CallArguments& given, Keywords& keywords, std::size_t& outs, Stack& stack,
                                 std::string* why) const {
  // x.view(2, 3)
  const bool is_open = open_list_ && given.positional >= positional_ && PyIndex_Check(given.values[positional_ - 1]) &&
                       !PyBool_Check(given.values[positional_ - 1]);
  if (given.positional > positional_ && !is_open)
    return fail(why, "takes {} positional arguments, not {}", positional_, given.positional);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (i < given.positional && !parameter.keyword_only) {
      if (!parse_positional(given, i, is_open, stack, why)) return false;
      continue;
    }
    PyObject* const value = take_argument(keywords, parameter);
    if (value != nullptr) {
      if (!parse_one(parameter, i, value, stack, why)) return false;
      outs -= parameter.is_out ? 1 : 0;
    } else if (parameter.has_default) {
      stack[parameter.position] = parameter.default_value;
    } else if (!parameter.is_out) {
      return fail(why, "misses argument '{}' (position {})", parameter.name, i + 1);
    }
  }
  return true;
}

bool Signature::parse(const CallArguments& given, Stack& stack, bool& requires_grad, std::string* why) const {
  stack.clear();
  stack.resize(arguments_);
  if (given.keyword_count() > Keywords::kMost) [[unlikely]]
    return explain_keywords(given, why);
  Keywords keywords(given);
  std::size_t missing_outs = outs_.size();
  if (!parse_parameters(given, keywords, missing_outs, stack, why)) return false;
  if (missing_outs != 0) {
    PyObject* const out = missing_outs == outs_.size() ? keywords.take(out_key()) : nullptr;
    if (out == nullptr || out == Py_None) return fail(why, "misses argument 'out'");
    if (!parse_out(out, stack, why)) return false;
  } else if (takes_no_out_ && outs_.empty() && keywords.left() > 0) {
    PyObject* const out = keywords.take(out_key());
    if (out != nullptr && out != Py_None) return explain_keywords(given, why);
  }
  if (takes_options_of_out_ && keywords.left() > 0 && !check_options_of_out(keywords, stack, why)) return false;
  if ((factory_ || takes_options_of_out_) && keywords.left() > 0) {
    PyObject* const flag = keywords.take(requires_grad_key());
    if (flag != nullptr && !PyBool_Check(flag) && flag != Py_None)
      return fail(why, "argument 'requires_grad' must be bool, not {}", class_name(flag));
    requires_grad = flag == Py_True;
  }
  if (keywords.left() > 0) return explain_keywords(given, why);
  if (std::ranges::any_of(numbers_, [&](std::size_t i) { return !stack[i].is_tensor(); }))
    numbers_to_tensors(op_.schema(), numbers_, stack);
  if (device_ != arguments_ && stack[device_].is_none())
    if (const auto device = default_device()) stack[device_] = IValue(*device);
  return true;
}

std::string Signature::str() const {
  std::string text;
  bool starred = false;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const Parameter& parameter : parameters_) {
    if (parameter.is_out) continue;
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

nb::object Signature::python_signature() const {
  const nb::module_ inspect = nb::module_::import_("inspect");
  const nb::object parameter = inspect.attr("Parameter");
  nb::list parameters;
  const auto add = [&](const std::string& name, const char* kind, const nb::object& default_object) {
    parameters.append(parameter(to_str(name), parameter.attr(kind), nb::arg("default") = default_object));
  };
  const nb::object none_given = parameter.attr("empty");
  for (const Parameter& p : parameters_) {
    const bool is_self = style_ == CallStyle::Method && parameters.size() == 0;
    add(p.name,
        p.keyword_only ? "KEYWORD_ONLY"
        : is_self      ? "POSITIONAL_ONLY"
                       : "POSITIONAL_OR_KEYWORD",
        p.has_default ? to_object(p.default_value) : none_given);
  }
  const bool has_names = std::ranges::any_of(parameters_, &Parameter::is_out);
  if (!outs_.empty() && !has_names) add("out", "KEYWORD_ONLY", none_given);
  if (factory_) add("requires_grad", "KEYWORD_ONLY", nb::bool_(false));
  return inspect.attr("Signature")(parameters);
}

bool Signature::yields_to(const Signature& other) const {
  for (std::size_t i = 0; i < parameters_.size() && i < other.parameters_.size(); ++i) {
    const ValueType& mine = parameters_[i].type;
    const ValueType& its = other.parameters_[i].type;
    if (mine.kind == its.kind && mine.list == its.list) continue;
    if (its.kind == TypeKind::Tensor && !its.list) return true;
    return style_ == CallStyle::Operator && mine.list == its.list && mine.kind != TypeKind::Tensor &&
           breadth(its) < breadth(mine);
  }
  return false;
}

}  // namespace keyway::inline v1::python
