#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/meta_calls.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/parse.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/program.h>
#include <keyway/graph/program_parts.h>
#include <keyway/graph/program_text.h>
#include <keyway/graph/run.h>
#include <keyway/ops/comparison.h>

#include <algorithm>
#include <fmt/format.h>
#include <mutex>

namespace keyway::inline v1::graph {
namespace {

// Guards what all programs keep.
constinit ForkSafeMutex program_mutex(LockOrder::Plans);

constexpr std::size_t kKeptSizes = 16, kKeptPlans = 4;  // plans for each sizes: with other strides, or in other modes

// Without state that no call takes and nothing returns, such as views that autograd makes for gradients; and with names
// for what has none.
Graph with_state_names(const Graph& graph) {
  std::vector<bool> is_used(graph.values.size());
  const auto use = [&](ValueId id) { is_used[index(id)] = true; };
  for (const Node& node : graph.nodes) for_each_argument(node, use);
  for_each_left(graph, use);
  Graph named = graph;
  std::erase_if(named.inputs, [&](const Input& input) { return input.is_state && !is_used[index(input.value)]; });
  std::size_t number = 0;
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(named.inputs, name, &Input::name) != named.inputs.end();
  };
  for (Input& input : named.inputs) {
    if (!input.is_state || !input.name.empty()) continue;
    std::string name = fmt::format("state.{}", number++);
    while (is_taken(name)) name = fmt::format("state.{}", number++);
    input.name = std::move(name);
  }
  return renumbered(named);
}

std::vector<Graph> with_state_names(const std::vector<Graph>& graphs) {
  std::vector<Graph> named;
  for (const Graph& graph : graphs) named.push_back(with_state_names(graph));
  return named;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return true;
  const NoGradGuard no_grad;
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && equal(a, b);
}

// The tensors, which are the same in all captures.
nn::StateDict state_of(const std::vector<Graph>& captures) {
  const Graph& graph = captures.front();
  for (const Graph& other : captures) {
    for (std::size_t i = graph.argument_count(); i < graph.inputs.size(); ++i) {
      KEYWAY_CHECK(same_elements(graph.inputs[i].state, other.inputs[i].state),
                   "the program makes a tensor of numbers that follow from sizes, '{}': compute it with tensors",
                   graph.inputs[i].name);
    }
  }
  nn::StateDict state;
  for (const Input& input : graph.inputs) {
    if (!input.is_state) continue;
    KEYWAY_CHECK(!state.contains(input.name), "two tensors of the program's state have the name '{}'", input.name);
    state.insert(input.name, input.state);
  }
  return state;
}

// Whether a mode, a profile or a transform is to see each call of the program.
bool is_seen_by_others(ArrayRef<Tensor> arguments) {
  if (!included_keys().remove(Functionality::Autocast).empty()) return true;
  return std::ranges::any_of(arguments, [](const Tensor& argument) { return is_of_transform(argument); });
}

}  // namespace

Program::Parts::Parts(std::string its_text, Signature its_signature, nn::StateDict its_state)
    : text(std::move(its_text)), state(std::move(its_state)), signature(std::move(its_signature)) {
  std::size_t used = 0;
  for (const ProgramInput& input : signature.inputs) {
    if (!input.is_state) {
      KEYWAY_CHECK_AS(Parse, used == 0, "an argument stands behind a state");
      ++argument_count;
      continue;
    }
    ++used;
    const Tensor* const tensor = state.find(input.name);
    KEYWAY_CHECK_AS(Parse, tensor != nullptr && tensor->defined(), "the program uses '{}', and there is no such tensor",
                    input.name);
    TensorInfo info(*tensor);
    info.offset = 0;
    KEYWAY_CHECK_AS(Parse, info == input.info, "the tensor '{}' is {}, and the program uses {}", input.name,
                    to_string(info), input.description);
  }
  KEYWAY_CHECK_AS(Parse, used == state.size(), "there are {} tensors of state, and the program uses {}", state.size(),
                  used);
}

Program::Program(const Graph& graph) : Program(std::vector<Graph>{graph}, {Dimensions()}) {}

Program::Program(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes) {
  const std::vector<Graph> named = with_state_names(captures);
  std::string text = program_text(named, sizes);
  *this = Program(std::move(text), state_of(named));
}

std::optional<Dimensions> Program::telling_sizes(const std::vector<Graph>& captures,
                                                 const std::vector<Dimensions>& sizes, const Dimensions& lowest,
                                                 const Dimensions& highest) {
  return graph::telling_sizes(with_state_names(captures), sizes, lowest, highest);
}

Program::Program(std::string text, nn::StateDict state) {
  Signature signature = parse_signature(text);
  parts_ = std::make_unique<Parts>(std::move(text), std::move(signature), std::move(state));
}
Program::Program(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

const std::string& Program::text() const { return parts_->text; }
const nn::StateDict& Program::state() const { return parts_->state; }
const nn::Metadata& Program::notes() const { return parts_->notes; }
std::vector<std::string> Program::dimensions() const { return parts_->signature.dimensions; }
std::size_t Program::argument_count() const { return parts_->argument_count; }
std::vector<std::string> Program::argument_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts_->argument_count; ++i) names.push_back(parts_->signature.inputs[i].name);
  return names;
}
std::size_t Program::result_count() const { return parts_->signature.outputs; }

namespace {

std::string name_of(const ProgramInput& input, std::size_t number) {
  return input.name.empty() ? fmt::format("argument {}", number) : fmt::format("argument '{}'", input.name);
}

// Throws unless they are what the program takes, as far as sizes do not count.
void check_arguments(const Signature& signature, std::size_t count, ArrayRef<Tensor> arguments) {
  KEYWAY_CHECK(arguments.size() == count, "the program takes {} tensors, not {}", count, arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ProgramInput& input = signature.inputs[i];
    KEYWAY_CHECK(arguments[i].defined(), "{} is undefined", name_of(input, i));
    const bool fits = arguments[i].dtype() == input.info.dtype && arguments[i].device() == input.info.device &&
                      arguments[i].sizes().size() == input.sizes.size();
    KEYWAY_CHECK(fits, "{} is {}, and the program takes {}", name_of(input, i),
                 to_string(TensorInfo(arguments[i].dtype(), arguments[i].device(), arguments[i].sizes().vec())),
                 input.description);
  }
  KEYWAY_CHECK(get_default_dtype() == signature.default_dtype,
               "the default dtype is {}, and the program was captured with {}", to_string(get_default_dtype()),
               to_string(signature.default_dtype));
}

std::vector<Tensor> inputs_of(const nn::StateDict& state, const Signature& signature, ArrayRef<Tensor> arguments) {
  std::vector<Tensor> inputs = arguments.vec();
  for (std::size_t i = inputs.size(); i < signature.inputs.size(); ++i)
    inputs.push_back(state[signature.inputs[i].name]);
  return inputs;
}

}  // namespace

Dimensions Program::dimensions_of(ArrayRef<Tensor> arguments) const {
  const Signature& signature = parts_->signature;
  check_arguments(signature, parts_->argument_count, arguments);
  Dimensions sizes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ProgramInput& input = signature.inputs[i];
    for (std::size_t dim = 0; dim < input.sizes.size(); ++dim) {
      if (solve(input.sizes[dim], arguments[i].sizes()[dim], sizes)) continue;
      std::string known;
      for (const auto& [name, size] : sizes) known += fmt::format("{}{} = {}", known.empty() ? "" : ", ", name, size);
      KEYWAY_FAIL(Value, "size {} of {} is {}, and the program takes {}{}", dim, name_of(input, i),
                  arguments[i].sizes()[dim], input.description, known.empty() ? "" : ", with " + known);
    }
  }
  return sizes;
}

Graph Program::graph(const Dimensions& sizes) const {
  for (const std::string& name : parts_->signature.dimensions)
    KEYWAY_CHECK(sizes.contains(name), "the size of the dimension '{}' is missing", name);
  Graph graph = parse_calls(parts_->text, sizes);
  for (Input& input : graph.inputs) {
    if (input.is_state) input.state = parts_->state[input.name];
  }
  infer_values(graph);
  return graph;
}

std::shared_ptr<Program::Parts::Kept> Program::Parts::kept_for(const Program& program, ArrayRef<Tensor> arguments) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& argument : arguments) sizes.insert(sizes.end(), argument.sizes().begin(), argument.sizes().end());
  {
    const std::lock_guard lock(program_mutex);
    const auto found = std::ranges::find_if(kept, [&](const auto& known) { return known->sizes == sizes; });
    if (found != kept.end()) {
      std::rotate(kept.begin(), found, found + 1);  // the one that was used last stands first
      return kept.front();
    }
  }
  auto made = std::make_shared<Kept>();
  made->sizes = std::move(sizes);
  made->calls = parse_calls(text, program.dimensions_of(arguments));
  std::shared_ptr<Kept> gone;  // destroyed without the lock
  const std::lock_guard lock(program_mutex);
  kept.insert(kept.begin(), made);
  if (kept.size() > kKeptSizes) {
    gone = std::move(kept.back());
    kept.pop_back();
  }
  return made;
}

namespace {

// Makes the calls, and captures what they execute. Requires: nothing records them for gradients.
std::vector<Tensor> run_captured(const Graph& calls, std::size_t argument_count, const std::vector<Tensor>& inputs,
                                 Capture& capture) {
  for (std::size_t i = 0; i < argument_count; ++i) capture.add_argument(inputs[i], calls.inputs[i].name);
  return run_inputs(calls, inputs);
}

std::vector<Tensor> run_and_plan(const Graph& calls, std::size_t argument_count, const std::vector<Tensor>& inputs,
                                 std::shared_ptr<Plan>& plan) {
  Capture capture(Level::Executed, Capture::Refusal::Continue);
  std::vector<Tensor> results = run_captured(calls, argument_count, inputs, capture);
  try {
    Graph executed = capture.finish(results);
    if (Plan::is_possible(executed)) plan = std::make_shared<Plan>(std::move(executed));
  } catch (const Error&) {
    // What it does cannot be followed: its calls are made one by one.
  }
  return results;
}

}  // namespace

namespace {

// Whether a program has tensors come to require grad, so that what it computes of them has a history.
bool makes_leaves(const Graph& graph) {
  const std::optional<OperatorHandle> op = Dispatcher::singleton().find_op("requires_grad_");
  return op && std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.op == &op->entry(); });
}

}  // namespace

std::vector<Tensor> Program::run(ArrayRef<Tensor> arguments) {
  Parts& parts = *parts_;
  check_arguments(parts.signature, parts.argument_count, arguments);
  const std::shared_ptr<Parts::Kept> kept = parts.kept_for(*this, arguments);
  const std::vector<Tensor> inputs = inputs_of(parts.state, parts.signature, arguments);
  const auto requires_grad = [](const Tensor& tensor) { return tensor.requires_grad(); };
  if (grad_enabled() && (std::ranges::any_of(inputs, requires_grad) || makes_leaves(kept->calls)))
    return run_inputs(kept->calls, inputs);
  const NoGradGuard no_grad;  // of this thread; the calls have modes of their own
  const ExcludeDispatchKeyGuard unrecorded(kAutogradKeys);
  if (is_seen_by_others(arguments)) return run_inputs(kept->calls, inputs);
  std::vector<std::shared_ptr<Plan>> plans;
  bool is_followed = true;
  {
    const std::lock_guard lock(program_mutex);
    plans = kept->plans;
    is_followed = kept->is_followed;
  }
  std::vector<Tensor> results;
  for (const std::shared_ptr<Plan>& plan : plans) {
    if (!plan->try_run(arguments, results)) return results;
  }
  if (!is_followed) return run_inputs(kept->calls, inputs);
  std::shared_ptr<Plan> plan;
  results = run_and_plan(kept->calls, parts.argument_count, inputs, plan);
  std::shared_ptr<Plan> gone;  // destroyed without the lock
  const std::lock_guard lock(program_mutex);
  kept->is_followed = plan != nullptr;
  if (plan != nullptr) kept->plans.insert(kept->plans.begin(), std::move(plan));
  if (kept->plans.size() > kKeptPlans) {
    gone = std::move(kept->plans.back());
    kept->plans.pop_back();
  }
  return results;
}

Graph Program::executed(ArrayRef<Tensor> arguments) {
  const std::shared_ptr<Parts::Kept> kept = parts_->kept_for(*this, arguments);
  const NoGradGuard no_grad;
  const ExcludeDispatchKeyGuard unrecorded(kAutogradKeys);
  Capture capture(Level::Executed);
  const std::vector<Tensor> inputs = inputs_of(parts_->state, parts_->signature, arguments);
  return capture.finish(run_captured(kept->calls, parts_->argument_count, inputs, capture));
}

}  // namespace keyway::inline v1::graph
