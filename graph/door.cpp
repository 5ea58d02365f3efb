#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/leaf_hooks.h>
#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/graph/door.h>
#include <keyway/graph/node_values.h>

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace keyway::inline v1::graph {
namespace {

// The first number under which each address was added.
class FirstNumbers {
 public:
  explicit FirstNumbers(std::size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}
  std::size_t add(const void* address, std::size_t number) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(address) >> 6) * 0x9E3779B97F4A7C15u >> 32 & mask;
    while (slots_[at].address != nullptr && slots_[at].address != address) at = (at + 1) & mask;
    if (slots_[at].address == nullptr) slots_[at] = {address, number};
    return slots_[at].number;
  }

 private:
  struct Slot {
    const void* address = nullptr;
    std::size_t number = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace

Door::Door(const Graph& graph) : graph_(graph), argument_count_(graph.argument_count()) {
  const std::vector<Input>& inputs = graph.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto first = [&](const auto& is_alike) {
      return static_cast<std::size_t>(std::ranges::find_if(inputs, is_alike) - inputs.begin());
    };
    leaf_.push_back(inputs[i].grad_of == kNoValue ? i : first([&](const Input& other) {
      return other.value == inputs[i].grad_of;
    }));
    same_.push_back(first([&](const Input& other) { return other.value == inputs[i].value; }));
    shared_.push_back(
        first([&](const Input& other) { return memory_of(graph, other.value) == memory_of(graph, inputs[i].value); }));
  }
  const std::vector<bool> is_written = written_memories(graph);
  for (const Input& input : inputs) is_written_.push_back(is_written[index(memory_of(graph, input.value))]);
}

std::vector<Tensor> Door::inputs(ArrayRef<Tensor> arguments) const {
  std::vector<Tensor> tensors;
  tensors.reserve(graph_.inputs.size());
  for (const Input& input : graph_.inputs) tensors.push_back(input.is_state ? input.state : arguments[tensors.size()]);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& leaf = tensors[leaf_[i]];
    if (leaf_[i] != i && leaf.defined()) tensors[i] = autograd::grad_of(leaf);
  }
  return tensors;
}

std::string Door::name_of(std::size_t number) const {
  const Input& input = graph_.inputs[number];
  const std::string which = input.grad_of != kNoValue ? "the gradient of a leaf"
                            : input.is_state          ? "the state"
                                                      : fmt::format("argument {}", number);
  return input.name.empty() ? which : fmt::format("{} '{}'", which, input.name);
}

std::optional<std::string> Door::surroundings_mismatch() const {
  const Surroundings& then = graph_.surroundings;
  if (grad_enabled() != then.grad_enabled)
    return fmt::format("gradients are {}recorded, but were {}in the capture", grad_enabled() ? "" : "not ",
                       then.grad_enabled ? "" : "not ");
  if (InferenceMode::is_enabled() != then.inference) return "inference mode is not as it was in the capture";
  if (get_default_dtype() != then.default_dtype)
    return fmt::format("the default dtype is {}, but was {} in the capture", to_string(get_default_dtype()),
                       to_string(then.default_dtype));
  if (thread_state.autocast != then.autocast || (then.autocast != 0 && Surroundings::now() != then))
    return "autocast is not as it was in the capture";
  if (graph_.level == Level::Executed && autograd::AnomalyMode::is_enabled())
    return "anomaly mode is on, which looks at each gradient";
  if (graph_.level == Level::Executed && autograd::saved_tensor_hooks != nullptr)
    return "hooks of saved tensors are set, which were not in the capture";
  return std::nullopt;
}

std::optional<std::string> Door::info_mismatch(const std::vector<Tensor>& inputs, std::size_t number) const {
  const Tensor& tensor = inputs[number];
  const Input& input = graph_.inputs[number];
  const TensorInfo& info = info_of(graph_, input.value);
  if (!tensor.defined()) return fmt::format("{} is undefined", name_of(number));
  if (input.has_grad && autograd::grad_of(tensor).defined() != *input.has_grad)
    return fmt::format("{} has {} gradient, as it had {} in the capture", name_of(number), *input.has_grad ? "no" : "a",
                       *input.has_grad ? "one" : "none");
  if (!info.is_of(tensor) || info.requires_grad != tensor.requires_grad())
    return fmt::format("{} is {}, but was {} in the capture", name_of(number), to_string(TensorInfo(tensor)),
                       to_string(info));
  if (graph_.level == Level::Executed && graph_.surroundings.grad_enabled && info.requires_grad && !tensor.is_leaf())
    return fmt::format("{} has a history, but was a leaf in the capture", name_of(number));
  if (input.frozen &&
      (!tensor.storage().is_alias_of(input.frozen->memory) || tensor._version() != input.frozen->version))
    return fmt::format("{} has been written to since the graph was frozen", name_of(number));
  if (tensor.is_inference() != input.is_inference)
    return fmt::format("{} was {}made in inference mode, as it was{} in the capture", name_of(number),
                       input.is_inference ? "not " : "", input.is_inference ? "" : " not");
  if (is_of_transform(tensor)) return fmt::format("{} is a tensor of vmap, forward mode or a wrapper", name_of(number));
  return hooks_mismatch(inputs, number);
}

// What hooks compute is in the graph.
std::optional<std::string> Door::hooks_mismatch(const std::vector<Tensor>& inputs, std::size_t number) const {
  if (graph_.level == Level::Program || !inputs[number].requires_grad()) return std::nullopt;
  const std::optional<std::uint64_t>& hooks = graph_.inputs[number].hooks;
  if (autograd::has_leaf_hooks(inputs[number]) != hooks.has_value())
    return fmt::format("{} has {}", name_of(number),
                       hooks ? "no hooks, as it had in the capture" : "hooks, which it did not have in the capture");
  if (hooks && *hooks != autograd::leaf_hook_changes())
    return fmt::format("{} has hooks, and hooks were added or removed since the capture", name_of(number));
  return std::nullopt;
}

std::optional<std::string> Door::sharing_mismatch(const std::vector<Tensor>& inputs) const {
  FirstNumbers tensors(inputs.size()), memories(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t same = tensors.add(inputs[i].impl(), i);
    if (same != same_[i])
      return fmt::format("{} and {} {} one tensor, as they were{} in the capture", name_of(i),
                         name_of(std::min(same, same_[i])), same < same_[i] ? "are" : "are not",
                         same < same_[i] ? " not" : "");
    const std::size_t shared = memories.add(inputs[i].storage().impl(), i);
    if (shared != shared_[i])
      return fmt::format("{} {} memory with {}, as it did{} in the capture", name_of(i),
                         shared < shared_[i] ? "shares" : "shares no", name_of(std::min(shared, shared_[i])),
                         shared < shared_[i] ? " not" : "");
  }
  return std::nullopt;
}

std::optional<std::string> Door::overlap_mismatch(const std::vector<Tensor>& inputs) const {
  // Memory that is somebody else's may be so twice; what is allocated for a storage is its own.
  const auto is_foreign = [](const Tensor& tensor) { return !tensor.storage().impl()->resizable(); };
  const bool writes = std::ranges::find(is_written_, true) != is_written_.end();
  if (!writes || std::ranges::none_of(inputs, is_foreign)) return std::nullopt;
  struct Range {
    std::uintptr_t begin, end;
    std::size_t number;
  };
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(inputs[i].storage().data());
    const std::size_t bytes = inputs[i].storage().nbytes();
    // What is shared until it is written to is made its own before.
    if (shared_[i] == i && begin != 0 && bytes != 0 && !inputs[i].storage().is_shared())
      ranges.push_back({begin, begin + bytes, i});
  }
  std::ranges::sort(ranges, {}, &Range::begin);
  // Of those that begin before, the one that reaches furthest. Where both are only read, they may overlap.
  Range any{}, written{};
  for (const Range& range : ranges) {
    const bool is_written = is_written_[range.number];
    const Range& before = is_written ? any : written;
    if (range.begin < before.end)
      return fmt::format(
          "{} and {} lie in one memory, but in different storages, which a graph that writes to it cannot follow",
          name_of(before.number), name_of(range.number));
    if (range.end > any.end) any = range;
    if (is_written && range.end > written.end) written = range;
  }
  return std::nullopt;
}

std::optional<std::string> Door::input_mismatch(const std::vector<Tensor>& inputs) const {
  if (std::optional<std::string> why = surroundings_mismatch()) return why;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (std::optional<std::string> why = info_mismatch(inputs, i)) return why;
  }
  if (std::optional<std::string> why = sharing_mismatch(inputs)) return why;
  return overlap_mismatch(inputs);
}

std::optional<std::string> Door::mismatch(ArrayRef<Tensor> arguments) const {
  if (arguments.size() != argument_count_)
    return fmt::format("there are {} arguments, but were {} in the capture", arguments.size(), argument_count_);
  return input_mismatch(inputs(arguments));
}

}  // namespace keyway::inline v1::graph
