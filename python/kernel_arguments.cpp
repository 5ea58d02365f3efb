#include <keyway/core/base/error.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/python/errors.h>
#include <keyway/python/kernel_arguments.h>
#include <keyway/python/python_call.h>
#include <keyway/python/text.h>
#include <keyway/python/tuples.h>

#include <memory>
#include <unordered_map>
#include <utility>

namespace keyway::inline v1::python {
namespace {

// Whether a value is the default of its parameter, which is never a tensor.
bool is_default_value(const IValue& value, const IValue& default_value) {
  if (value.is_none() || (value.is_tensor() && !value.to_tensor().defined())) return default_value.is_none();
  if (value.is_tensor() || value.tag() != default_value.tag()) return false;
  if (value.is(keyway::detail::kTagOf<std::vector<std::string>>))
    return value.to_list_of<std::string>() == default_value.to_list_of<std::string>();
  return to_string(value) == to_string(default_value);
}

std::vector<std::size_t> arguments_written_as(const FunctionSchema& schema, Argument result) {
  std::vector<std::size_t> written;
  for (std::size_t i = 0; result.is_write() && i < schema.arguments().size(); ++i) {
    const Argument argument = schema.arguments()[i];
    if (argument.is_write() && argument.type().alias().before() == result.type().alias().before()) written.push_back(i);
  }
  return written;
}

}  // namespace

const KernelArguments& KernelArguments::of(const OperatorEntry& op) {
  // An entry is for ever, and has one schema.
  static auto* const known = new std::unordered_map<const OperatorEntry*, std::unique_ptr<const KernelArguments>>();
  auto& arguments = (*known)[&op];
  if (!arguments) arguments.reset(new KernelArguments(op));
  return *arguments;
}

KernelArguments::KernelArguments(const OperatorEntry& op) : positional_(op.schema().positional_count()) {
  const FunctionSchema& schema = op.schema();
  for (const Argument argument : schema.arguments()) {
    const auto from = argument.default_value();
    parameters_.push_back(
        {to_str(argument.name()).release().ptr(), from.has_value(), from ? default_argument(argument) : IValue()});
  }
  for (const Argument result : schema.returns())
    results_.push_back({ValueType(result.type()), to_string(result), arguments_written_as(schema, result)});
}

bool KernelArguments::is_default(std::size_t i, const IValue& value) const {
  return parameters_[i].has_default && is_default_value(value, parameters_[i].default_value);
}

std::size_t KernelArguments::given_positional(const IValue* values) const {
  std::size_t positional = positional_;
  while (positional > 0 && is_default(positional - 1, values[positional - 1])) --positional;
  return positional;
}

nb::object KernelArguments::call(nb::handle function, const std::vector<nb::object>& first, const Stack& stack,
                                 bool all) const {
  const IValue* const values = first_on(stack);
  const std::size_t positional = all ? positional_ : given_positional(values);
  std::vector<nb::object> given = first;
  std::vector<PyObject*> names;
  for (std::size_t i = 0; i < positional; ++i) given.push_back(to_object(values[i]));
  for (std::size_t i = positional_; i < parameters_.size(); ++i) {
    if (!all && is_default(i, values[i])) continue;
    given.push_back(to_object(values[i]));
    names.push_back(parameters_[i].name);
  }
  std::vector<PyObject*> objects;
  for (const nb::object& object : given) objects.push_back(object.ptr());
  nb::object keywords;
  if (!names.empty()) keywords = tuple_of(names.size(), [&](std::size_t i) { return nb::borrow(names[i]); });
  return call_python(function, objects.data(), objects.size() - names.size(), keywords);
}

KernelArguments::Objects KernelArguments::objects(const Stack& stack) const {
  const IValue* const values = first_on(stack);
  Objects made{nb::tuple(tuple_of(given_positional(values), [&](std::size_t i) { return to_object(values[i]); })), {}};
  for (std::size_t i = positional_; i < parameters_.size(); ++i)
    if (!is_default(i, values[i])) made.named[nb::handle(parameters_[i].name)] = to_object(values[i]);
  return made;
}

IValue KernelArguments::result(std::size_t i, nb::handle returned, const std::string& who, const Stack& stack) const {
  const Result& expected = results_[i];
  IValue value;
  KEYWAY_CHECK_AS(Type, to_value(expected.type, returned.ptr(), value), "{} returned {} as result {}, which is {}", who,
                  misfit(expected.type, returned.ptr()), i, expected.text);
  if (expected.written.empty()) return value;
  for (const std::size_t argument : expected.written) {
    if (value.is_tensor() && value.to_tensor().is_same(first_on(stack)[argument].to_tensor())) return value;
  }
  KEYWAY_FAIL(Type, "{} returned another tensor as result {}, which is {}: it is to return its argument '{}'", who, i,
              expected.text, text_in(parameters_[expected.written.front()].name));
}

void KernelArguments::take_results(nb::handle returned, const std::string& who, Stack& stack,
                                   bool some_undefined) const {
  Stack taken;
  if (results_.empty()) {
    KEYWAY_CHECK_AS(Type, returned.is_none(), "{} returned {}, but the schema has no results", who,
                    class_name(returned));
  } else if (results_.size() == 1) {
    taken.push_back(result(0, returned, who, stack));
  } else {
    const bool several = PyTuple_Check(returned.ptr()) || PyList_Check(returned.ptr());
    const std::size_t size = several ? nb::len(returned) : 1;
    KEYWAY_CHECK_AS(Type, several && size == results_.size(), "{} returned {}, but the schema has {} results", who,
                    several ? std::to_string(size) + " values" : std::string(class_name(returned)), results_.size());
    for (std::size_t i = 0; i < size; ++i) {
      const nb::object value(returned[i]);
      const bool undefined = some_undefined && value.is_none() && results_[i].type.tag == ValueTag::Tensor;
      taken.push_back(undefined ? IValue(TensorBase()) : result(i, value, who, stack));
    }
  }
  stack.resize(stack.size() - parameters_.size());
  for (IValue& value : taken) stack.push_back(std::move(value));
}

}  // namespace keyway::inline v1::python
