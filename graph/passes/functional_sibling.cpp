#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/functional_sibling.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// Without what stands in parentheses, as (a!) does.
std::string without_aliases(SchemaType type) {
  std::string text = to_string(type), plain;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == ')' ? 1 : 0;
  }
  return plain;
}

// Names and types of the arguments; of an out= overload without those for its results.
std::vector<std::pair<std::string_view, std::string>> what_it_takes(const FunctionSchema& schema) {
  std::vector<std::pair<std::string_view, std::string>> takes;
  for (const Argument argument : schema.arguments()) {
    if (!argument.is_out()) takes.emplace_back(argument.name(), without_aliases(argument.type()));
  }
  return takes;
}

std::size_t written_count(const FunctionSchema& schema) {
  return static_cast<std::size_t>(
      std::ranges::count_if(schema.arguments(), [](const Argument argument) { return argument.is_write(); }));
}

// How many of the results are not an argument that the operator writes to.
std::size_t further_results(const FunctionSchema& schema) {
  return static_cast<std::size_t>(
      std::ranges::count_if(schema.returns(), [](const Argument result) { return !result.is_write(); }));
}

// The name under which its sibling stands: without the '_' of an in-place overload.
std::string sibling_name(const OperatorEntry& op) {
  std::string name(op.info().name);
  if (op.schema().is_inplace()) name.pop_back();
  return name;
}

// What a new tensor is: an out= overload takes it from the tensor that it writes to.
constexpr std::string_view kOptions[] = {"dtype", "layout", "device", "pin_memory"};

bool is_sibling(const FunctionSchema& schema, const FunctionSchema& candidate) {
  if (candidate.is_mutable() || candidate.returns().size() != further_results(schema) + written_count(schema))
    return false;
  const auto own = what_it_takes(schema);
  auto takes = what_it_takes(candidate);
  if (schema.is_out()) {
    std::erase_if(takes, [&](const auto& argument) {
      return std::ranges::find(kOptions, argument.first) != std::end(kOptions) &&
             !schema.arguments().find(argument.first);
    });
  }
  return takes == own;
}

const OperatorEntry* entry_of(std::string_view name) {
  const std::optional<OperatorHandle> found = Dispatcher::singleton().find_op(name);
  return found ? &found->entry() : nullptr;
}

const OperatorEntry* sibling_of(const OperatorEntry& op) {
  const std::string name = sibling_name(op);
  if (op.info().name == "keyway::zero_") return entry_of("keyway::zeros_like");
  const std::string overload = op.info().overload.empty() ? "" : "." + std::string(op.info().overload);
  // Mostly of the same overload, or of the one without a name.
  for (const std::string& likely : {name + overload, name, name + "_functional"}) {
    const OperatorEntry* const entry = entry_of(likely);
    if (entry != nullptr && is_sibling(op.schema(), entry->schema())) return entry;
  }
  for (const OperatorHandle& other : Dispatcher::singleton().ops()) {
    if (other.entry().info().name == name && is_sibling(op.schema(), other.schema())) return &other.entry();
  }
  return nullptr;
}

// Random numbers in new tensors. Which ones a call draws depends on the number of an element in row-major order alone.
const OperatorEntry* random_sibling(const Graph& graph, const OperatorEntry& op, const Stack& arguments) {
  const std::string name = op.full_name();
  const auto is = [&](std::size_t i, double value) {
    return arguments[i].is(ValueTag::Double) && arguments[i].to_double() == value;
  };
  const auto info = [&](std::size_t i) -> const TensorInfo& { return info_of(graph, arguments[i].to_int()); };
  if (name == "keyway::bernoulli_.Tensor" && info(0).sizes == info(1).sizes && info(0).dtype == info(1).dtype)
    return entry_of("keyway::bernoulli");
  if (name == "keyway::normal_") return entry_of("keyway::normal.float_float");
  if (name == "keyway::uniform_" && is(1, 0) && is(2, 1)) return entry_of("keyway::rand.generator");
  if (name == "keyway::random_.to") return entry_of("keyway::randint.generator");
  if (name == "keyway::random_.from" && !arguments[2].is_none()) return entry_of("keyway::randint.low_generator");
  return nullptr;
}

ValueId first_written(const OperatorEntry& op, const Stack& arguments) {
  ValueId first = kNoValue;
  for_each_written(Node{&op, arguments, {}}, [&](ValueId id) { first = first == kNoValue ? id : first; });
  return first;
}

// Which argument of the operator an argument of its sibling is, where they are called otherwise.
std::string_view other_name(const OperatorEntry& op, std::string_view name) {
  if (op.info().name == "keyway::bernoulli_" && op.info().overload == "Tensor") return name == "self" ? "p" : name;
  if (op.info().name != "keyway::random_") return name;
  return name == "high" ? "to" : name == "low" ? "from" : name;
}

// Whether an out= call computes in the dtype of the tensor that it writes to, where it is given none: the functional
// one would compute in that of its first argument.
bool computes_as_written(const Graph& graph, const OperatorEntry& op, const Stack& arguments, ScalarType written) {
  constexpr std::string_view kSums[] = {"keyway::cumprod", "keyway::cumsum", "keyway::prod", "keyway::sum"};
  if (!op.schema().is_out() || std::ranges::find(kSums, op.info().name) == std::end(kSums)) return false;
  const ScalarType own = graph.values[index(arguments[0].to_int())].info.dtype;
  return written != (is_integral(own, /*include_bool=*/true) ? ScalarType::Long : own);
}

}  // namespace

std::optional<FunctionalCall> functional_call(const Graph& graph, const OperatorEntry& op, const Stack& arguments) {
  const ValueId first = first_written(op, arguments);
  if (first == kNoValue) return std::nullopt;
  const TensorInfo& written = info_of(graph, first);
  const OperatorEntry* sibling = random_sibling(graph, op, arguments);
  const bool makes_tensors = sibling != nullptr || op.schema().is_out();
  if (sibling == nullptr) sibling = sibling_of(op);
  if (sibling == nullptr) return std::nullopt;
  FunctionalCall call{sibling, {}};
  const ArgumentList own = op.schema().arguments();
  for (const Argument argument : sibling->schema().arguments()) {
    const std::optional<std::size_t> at = own.find(other_name(op, argument.name()));
    if (at && argument.name() == "dtype" && arguments[*at].is_none() &&
        computes_as_written(graph, op, arguments, written.dtype))
      call.arguments.emplace_back(written.dtype);
    else if (at)
      call.arguments.push_back(arguments[*at]);
    else if (makes_tensors && argument.name() == "dtype")
      call.arguments.emplace_back(written.dtype);
    else if (makes_tensors && argument.name() == "device")
      call.arguments.emplace_back(written.device);
    else
      call.arguments.push_back(argument.name() == "size" ? IValue(written.sizes) : default_argument(argument));
  }
  return call;
}

Stack arguments_of(const OperatorEntry& other, const OperatorEntry& op, const Stack& arguments) {
  const ArgumentList own = op.schema().arguments();
  Stack taken;
  for (const Argument argument : other.schema().arguments()) {
    const std::optional<std::size_t> at = own.find(argument.name());
    taken.push_back(at ? arguments[*at] : default_argument(argument));
  }
  return taken;
}

}  // namespace keyway::inline v1::graph
