#include <keyway/core/keys/thread_state.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/all.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/ops/samples.h>
#include <keyway/tests/ops/test_values.h>
#include <keyway/tools/op_examples/arguments.h>

#include <algorithm>
#include <bit>

namespace keyway::inline v1::testing {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool has_word(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

OperatorHandle operator_named(std::string_view full_name) {
  static const auto* by_name = [] {
    auto* map = new std::map<std::string, OperatorHandle, std::less<>>;
    for (const OperatorHandle& op : Dispatcher::singleton().ops()) map->emplace(op.name(), op);
    return map;
  }();
  return by_name->find(full_name)->second;
}

std::vector<OperatorHandle> operators_of_suite() {
  const std::string_view first = kOpCases.first->op;
  const std::string_view prefix = first.substr(0, first.find("::") + 2);
  std::vector<OperatorHandle> operators;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const OpInfo& info = op.entry().info();
    if (std::string_view(info.name).starts_with(prefix)) operators.push_back(op);
  }
  return operators;
}

bool has_tag(const OpCases& entry, std::string_view tag) { return operator_named(entry.op).entry().has_tag(tag); }

bool has_values(const OpCases& entry) {
  return !has_tag(entry, "nondeterministic") && entry.samples.find("requires_grad_(") == std::string_view::npos;
}

bool has_meta(const OpCases& entry) {
  for (const char* tag : {"allocates", "scalar_result", "data_dependent_shape"}) {
    if (has_tag(entry, tag)) return false;
  }
  return entry.samples.find("requires_grad_(") == std::string_view::npos;
}

std::vector<Sample> written_samples(const OpCases& entry) {
  std::vector<Sample> samples;
  const OperatorHandle op = operator_named(entry.op);
  for (const std::string& line : lines_of(entry.samples)) {
    samples.push_back({&entry, line, tools::make_arguments(op.entry(), tools::parse_example(line).call)});
  }
  return samples;
}

namespace {

// The arguments with tensors of floats, and those with tensors of integers.
struct Convertible {
  std::vector<std::size_t> floats, integers;
};

Convertible convertible(const Stack& stack) {
  Convertible result;
  for (const Slot slot : slots_of(stack)) {
    const ScalarType dtype = tensor_at(stack, slot).dtype();
    auto& list = is_floating_point(dtype) ? result.floats : result.integers;
    if (dtype == ScalarType::Bool || (!list.empty() && list.back() == slot.argument)) continue;
    list.push_back(slot.argument);
  }
  return result;
}

Stack converted(const Sample& sample, const std::vector<std::size_t>& arguments) {
  const FunctionSchema& schema = operator_named(sample.entry->op).schema();
  Stack stack = sample.arguments;
  std::size_t first = 0;
  for (const Slot slot : slots_of(stack)) {
    if (std::find(arguments.begin(), arguments.end(), slot.argument) == arguments.end()) continue;
    const Interval interval = interval_of(sample.entry->domain, schema.arguments()[slot.argument].name());
    const Tensor old = tensor_at(stack, slot);
    stack = with_tensor(stack, slot, test_values(old.sizes(), ScalarType::Double, interval, first));
  }
  for (IValue& value : stack) {
    if (value.is(ValueTag::ScalarType) && value.to_scalar_type() == ScalarType::Float)
      value = IValue(ScalarType::Double);
  }
  return stack;
}

}  // namespace

std::optional<Sample> in_double(const Sample& sample) {
  const Convertible arguments = convertible(sample.arguments);
  const std::size_t sets = std::size_t{1} << arguments.integers.size();
  // Integers that stand for indices are refused as floats: the largest set that is taken is right.
  for (std::size_t left = arguments.integers.size() + 1; left-- > 0;) {
    for (std::size_t set = sets; set-- > 0;) {
      if (static_cast<std::size_t>(std::popcount(set)) != left) continue;
      std::vector<std::size_t> chosen = arguments.floats;
      for (std::size_t i = 0; i < arguments.integers.size(); ++i) {
        if ((set >> i & 1) != 0) chosen.push_back(arguments.integers[i]);
      }
      if (chosen.empty()) return std::nullopt;
      Stack stack = converted(sample, chosen);
      if (call(sample.entry->op, stack).error.empty()) {
        return Sample{sample.entry, sample.text + " in float64", std::move(stack)};
      }
    }
  }
  return std::nullopt;
}

Stack resized(const Sample& sample, Slot slot, IntArrayRef sizes, std::size_t& first) {
  const FunctionSchema& schema = operator_named(sample.entry->op).schema();
  const Interval interval = interval_of(sample.entry->domain, schema.arguments()[slot.argument].name());
  const ScalarType dtype = tensor_at(sample.arguments, slot).dtype();
  return with_tensor(sample.arguments, slot, test_values(sizes, dtype, interval, first));
}

namespace {

// The sample with all tensors of these sizes; none if the operator refuses them.
std::optional<Sample> with_sizes(const Sample& sample, IntArrayRef sizes) {
  Sample larger{sample.entry, sample.text + " with sizes " + FormatArg(sizes).str(), sample.arguments};
  std::size_t first = 0;
  for (const Slot slot : slots_of(sample.arguments)) larger.arguments = resized(larger, slot, sizes, first);
  if (first == 0 || !call(sample.entry->op, larger.arguments).error.empty()) return std::nullopt;
  return larger;
}

}  // namespace

std::vector<Sample> all_samples(const OpCases& entry) {
  static const std::vector<std::vector<std::int64_t>> kSizes = {{67}, {3, 5}, {4, 4}, {2, 3, 4}, {4, 4, 4}};
  std::vector<Sample> samples = written_samples(entry);
  if (samples[0].text.find("requires_grad_(") != std::string::npos) return samples;
  for (std::size_t i = samples.size(); i-- > 0;) {
    if (std::optional<Sample> doubles = in_double(samples[i])) samples.push_back(std::move(*doubles));
  }
  for (std::size_t i = samples.size(); i-- > 0;) {
    for (const auto& sizes : kSizes) {
      if (std::optional<Sample> larger = with_sizes(samples[i], sizes)) samples.push_back(std::move(*larger));
    }
  }
  return samples;
}

bool can_afford_all_samples() {
#if defined(KEYWAY_SANITIZED)
  return campaign(1) > 1;
#else
  return true;
#endif
}

std::vector<Sample> affordable_samples(const OpCases& entry) {
  std::vector<Sample> samples = all_samples(entry);
  if (!can_afford_all_samples() && samples.size() > 2) samples.erase(samples.begin() + 2, samples.end());
  return samples;
}

namespace {

std::vector<std::size_t> broadcast_arguments(const OpCases& entry) {
  std::vector<std::size_t> arguments;
  const FunctionSchema& schema = operator_named(entry.op).schema();
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    if (has_word(entry.broadcasts, schema.arguments()[i].name())) arguments.push_back(i);
  }
  return arguments;
}

}  // namespace

std::vector<Sample> broadcast_samples(const Sample& sample) {
  using Sizes = std::vector<std::int64_t>;
  static const std::vector<std::vector<Sizes>> kSizes = {{{3, 1}, {1, 4}, {4}},    {{}, {2, 3}, {3}},
                                                         {{2, 3}, {}, {}},         {{1}, {3, 2}, {1, 2}},
                                                         {{2, 3}, {1, 1}, {2, 1}}, {{2, 1, 2}, {3, 1}, {}}};
  const std::vector<std::size_t> arguments = broadcast_arguments(*sample.entry);
  std::vector<Sample> samples;
  if (arguments.size() < 2) return samples;
  for (const auto& sizes : kSizes) {
    std::size_t first = 0;
    Sample made{sample.entry, sample.text + " with sizes", sample.arguments};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      made.arguments = resized(made, {arguments[i], 0}, sizes[i], first);
      made.text += " " + FormatArg(IntArrayRef(sizes[i])).str();
    }
    samples.push_back(std::move(made));
  }
  return samples;
}

Stack expanded_arguments(const Sample& sample) {
  const std::vector<std::size_t> arguments = broadcast_arguments(*sample.entry);
  Tensor all = tensor_at(sample.arguments, {arguments[0], 0}).to(ScalarType::Double);
  for (const std::size_t at : arguments) all = all + tensor_at(sample.arguments, {at, 0}).to(ScalarType::Double);
  Stack stack = sample.arguments;
  for (const std::size_t at : arguments) {
    stack = with_tensor(stack, {at, 0}, tensor_at(stack, {at, 0}).expand(all.sizes()).contiguous());
  }
  return stack;
}

namespace {

// In memory of its own, with the same geometry; a tensor whose elements share memory stays.
Tensor copy_of(const Tensor& tensor) {
  std::int64_t last = tensor.storage_offset();
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.stride(d) == 0 && tensor.size(d) > 1) return tensor;
    last += std::max<std::int64_t>(tensor.size(d) - 1, 0) * tensor.stride(d);
  }
  const NoGradGuard no_grad;
  const Tensor memory = keyway::zeros({last + 1}, tensor.options());
  Tensor copy(make_view(memory, tensor.sizes(), tensor.strides(), tensor.storage_offset()));
  if (!tensor.is_meta()) copy.copy_(tensor);
  return copy;
}

}  // namespace

Outcome call_in_place(std::string_view name, Stack arguments) {
  Outcome outcome;
  outcome.results = std::move(arguments);
  manual_seed(7);
  try {
    operator_named(name).call_boxed(outcome.results);
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.is_ours = !error.op().empty() && error.kind() != ErrorKind::Internal;
  } catch (const std::exception& error) {
    outcome.error = error.what();
    outcome.is_ours = false;
  }
  return outcome;
}

Outcome call(std::string_view name, const Stack& arguments) {
  const ArgumentList list = operator_named(name).schema().arguments();
  Stack stack = arguments;
  for (const Slot slot : slots_of(arguments)) {
    const Tensor tensor = tensor_at(arguments, slot);
    if (list[slot.argument].is_write() && !tensor.requires_grad()) stack = with_tensor(stack, slot, copy_of(tensor));
  }
  Outcome outcome = call_in_place(name, stack);
  // What was written to lists is no result of the call, but what came of it.
  for (std::size_t i = 0; i < stack.size() && outcome.error.empty(); ++i) {
    if (list[i].is_write() && stack[i].is(ValueTag::TensorList)) outcome.results.push_back(stack[i]);
  }
  return outcome;
}

Tally::~Tally() {
  if (std::getenv("KEYWAY_SUITE_FIGURES") == nullptr) return;
  for (const auto& [op, count] : runs_) std::printf("%s %s %zu\n", what_, std::string(op).c_str(), count);
  std::printf("%s: %zu of %zu operators\n", what_, total(), runs_.size());
}

std::size_t Tally::of(const OpCases& entry) const {
  const auto found = runs_.find(entry.op);
  return found == runs_.end() ? 0 : found->second;
}

std::size_t Tally::total() const {
  std::size_t sum = 0;
  for (const auto& [op, count] : runs_) sum += count;
  return sum;
}

}  // namespace keyway::inline v1::testing
