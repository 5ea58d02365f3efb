// The generated suite: what a graph of a call gives is what the call gives, to the last bit and in the same memory. The
// folder that KEYWAY_KEEP_GRAPHS names gets the texts of all graphs, which fuzzers begin with.
#include <keyway/graph/deferred.h>
#include <keyway/graph/forced_sections.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/replayed.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/samples.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Calls that are refused, by the words behind "capture: ".
using Refused = std::map<std::string, std::set<std::string>>;

std::string refusal_in(const std::string& error) {
  const std::size_t begin = error.find("capture: ");
  if (begin == std::string::npos) return {};
  const std::string reason = error.substr(begin + 9);
  for (const char* known : {"gives numbers or sizes", "requires grad, but", "in a dictionary", "changed in place",
                            "is what empty() gave", "computed within a call", "is told whether it requires grad"})
    if (reason.find(known) != std::string::npos) return known;
  return reason;
}

// The same elements in another order: values that the operator takes too.
Tensor with_other_values(const Tensor& tensor) {
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) dims.push_back(i);
  const Tensor copy = tensor.detach().clone();
  return copy.copy_(tensor.detach().flip(dims)).requires_grad_(tensor.requires_grad());
}

std::vector<Tensor> with_other_values(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const Tensor& tensor : tensors) all.push_back(with_other_values(tensor));
  return all;
}

using Run = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

// What a program gives for its inputs when it is simply run.
struct Eager {
  std::vector<Tensor> inputs;  // before the program
  std::vector<Tensor> after;   // the inputs then, and the results
  std::string error;           // empty: none

  Eager(const Program& program, const std::vector<Tensor>& given) : inputs(copies_of(given)) {
    const std::vector<Tensor> arguments = copies_of(given);
    std::vector<Tensor> results;
    manual_seed(7);
    error = error_in([&] { results = program(arguments); });
    after = joined(arguments, results);
  }
};

void check_run(const Eager& eager, const Run& run) {
  const std::vector<Tensor> arguments = copies_of(eager.inputs);
  std::vector<Tensor> results;
  manual_seed(7);
  const std::string error = error_in([&] { results = run(arguments); });
  INFO(error);
  if (!eager.error.empty()) {
    CHECK(!error.empty());
    return;
  }
  CHECK(error == "");
  CHECK(bit_difference(joined(arguments, results), eager.after) == "");
}

// With both of the inputs' values.
using BothValues = std::array<Eager, 2>;

void check_runs(const BothValues& eager, const Run& run) {
  for (const Eager& values : eager) check_run(values, run);
}

// What passes make of a graph gives what the graph gives.
void check_passes(const graph::Graph& graph, const BothValues& eager, std::string_view op, Refused& refused) {
  std::vector<graph::Graph> made = {graph::eliminate_dead_code(graph), graph::eliminate_common_subexpressions(graph)};
  const std::string error = graph.level == graph::Level::Program
                                ? std::string()
                                : error_in([&] { made.push_back(graph::functionalize(graph)); });
  if (!error.empty()) {
    INFO(error);
    CHECK(error.find("functionalize: ") != std::string::npos);
    refused["is not functionalized"].emplace(op);
  }
  for (const graph::Graph& other : made) {
    INFO(graph::to_string(other));
    graph::check(other);
    check_runs(eager, [&](const std::vector<Tensor>& arguments) { return graph::run(other, arguments); });
  }
}

void check_text(const graph::Graph& graph) {
  const std::string text = graph::to_string(graph);
  if (text.find('<') != std::string::npos) return;  // a generator or an object, which has no text
  CHECK(graph::to_string(graph::parse(text)) == text);
  if (const char* const folder = std::getenv("KEYWAY_KEEP_GRAPHS"))
    std::ofstream(folder + ("/" + std::to_string(std::hash<std::string>()(text)))) << text;
}

// Captures a program that runs without an error, and replays it with its values and with others.
void check(const Program& program, const std::vector<Tensor>& inputs, graph::Level level, std::string_view op,
           Refused& refused) {
  const BothValues eager = {Eager(program, inputs), Eager(program, with_other_values(inputs))};
  if (!eager[0].error.empty()) return;
  graph::Graph graph;
  manual_seed(7);
  const std::string error = error_in([&] { graph = captured(program, copies_of(inputs), level); });
  if (!error.empty()) {
    INFO(error);
    CHECK(!refusal_in(error).empty());
    refused[refusal_in(error)].emplace(op);
    return;
  }
  INFO(graph::to_string(graph));
  graph::check(graph);
  check_text(graph);
  check_runs(eager, [&](const std::vector<Tensor>& arguments) { return graph::run(graph, arguments); });
  check_passes(graph, eager, op, refused);
  if (level == graph::Level::Program) return;
  graph::Plan plan(graph), parts(graph);
  const Run in_parts = [&](const std::vector<Tensor>& arguments) {
    const graph::ForcedSections forced;
    return parts.run(arguments);
  };
  const Run planned = [&](const std::vector<Tensor>& arguments) { return plan.run(arguments); };
  for (const std::size_t i : {0, 1}) {
    check_runs(eager, planned);
    check_run(eager[i], in_parts);
  }
}

// A call as a program of its tensors.
Program program_of(const Sample& sample, std::string_view op) {
  const std::vector<Slot> slots = slots_of(sample.arguments);
  return [sample, slots, name = std::string(op)](const std::vector<Tensor>& inputs) {
    Stack stack = map_tensors(sample.arguments, [](const Tensor& tensor) { return tensor; });
    for (std::size_t i = 0; i < slots.size(); ++i) stack = with_tensor(stack, slots[i], inputs[i]);
    operator_named(name).call_boxed(stack);
    return tensors_in(stack);
  };
}

std::vector<Tensor> inputs_of(const Sample& sample) {
  std::vector<Tensor> inputs;
  for (const Slot slot : slots_of(sample.arguments)) inputs.push_back(tensor_at(sample.arguments, slot));
  return inputs;
}

// The sample as a call of the out= overload, with results that have what is needed.
std::optional<Sample> with_out(const Sample& sample) {
  const OpCases& entry = *sample.entry;
  const Outcome functional = call(entry.op, sample.arguments);
  if (!functional.error.empty()) return std::nullopt;
  const ArgumentList given = operator_named(entry.op).schema().arguments();
  Stack arguments;
  for (const Argument argument : operator_named(entry.out).schema().arguments()) {
    if (const auto at = given.find(argument.name())) arguments.push_back(sample.arguments[*at]);
  }
  for (const Tensor& result : tensors_in(functional.results)) {
    if (!result.defined()) return std::nullopt;
    arguments.emplace_back(TensorBase(keyway::full(result.sizes(), 1, TensorOptions().dtype(result.dtype()))));
  }
  return Sample{&entry, sample.text, arguments};
}

// What is refused: an operator whose result's size depends on values; changes of an argument's geometry; results that
// are not set; results with a history.
constexpr const char* kRefusedCalls =
    "changed in place: as_strided_ resize_ set_data squeeze_ squeeze_.dim squeeze_.dims t_ transpose_ unsqueeze_\n"
    "computed within a call: _backward\n"
    "gives numbers or sizes: _local_scalar_dense _pdist_forward _unique2 allclose argwhere bincount equal "
    "gru.data index.Tensor index.Tensor_out index_put index_put.out index_put_ item linalg_lstsq "
    "linalg_lstsq.out lstm.data masked_select masked_select.out nonzero nonzero.out pdist "
    "repeat_interleave.Tensor repeat_interleave.self_Tensor rnn_relu.data rnn_tanh.data "
    "unique_consecutive unique_dim where\n"
    "is not functionalized: _amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_ _foreach_add_.Scalar "
    "_fused_adam_ _fused_adamw_ _fused_sgd_ bernoulli_.Tensor conj_physical_ exponential_ geometric_ random_ uniform_\n"
    "is told whether it requires grad: requires_grad_\n"
    "is what empty() gave: empty.memory_format empty.out empty_like empty_strided new_empty\n"
    "set_data gives other sizes to a tensor that comes from outside or shares memory: set_data\n";
constexpr const char* kRefusedBackwards =
    "gives numbers or sizes: _local_scalar_dense _pdist_forward _unique2 allclose argwhere bincount equal "
    "gru.data index.Tensor index_put item lstm.data masked_select nonzero pdist "
    "repeat_interleave.self_Tensor rnn_relu.data rnn_tanh.data unique_consecutive unique_dim where\n";

// A line for each reason, with the operators whose calls are refused by it.
std::string text_of(const Refused& refused) {
  std::string text;
  for (const auto& [reason, ops] : refused) {
    text += reason + ":";
    for (const std::string& op : ops) text += " " + op.substr(op.find("::") + 2);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a graph of a call gives what the call gives, in other values too") {
  Tally tally("captured");
  Refused refused;
  for (const OpCases& entry : kOpCases) {
    for (const Sample& sample : affordable_samples(entry)) {
      for (const graph::Level level : {graph::Level::Executed, graph::Level::Program}) {
        INFO(entry.op << ": " << sample.text << (level == graph::Level::Program ? " as written" : ""));
        tally.count(entry);
        check(program_of(sample, entry.op), inputs_of(sample), level, entry.op, refused);
        if (!entry.inplace.empty())
          check(program_of(sample, entry.inplace), inputs_of(sample), level, entry.inplace, refused);
        if (entry.out.empty()) continue;
        if (const std::optional<Sample> out = with_out(sample))
          check(program_of(*out, entry.out), inputs_of(*out), level, entry.out, refused);
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(can_afford_all_samples() ? 5000 : 1500));
  if (kOpCases.of_library() || !can_afford_all_samples()) return;
  CHECK(text_of(refused) == kRefusedCalls);
}

TEST_CASE("a deferred call gives what the call gives") {
  Tally tally("deferred");
  const auto check_deferred = [](const Program& program, const std::vector<Tensor>& inputs) {
    const Run deferred = [&](const std::vector<Tensor>& arguments) {
      graph::Deferred region;
      const std::vector<Tensor> results = program(arguments);
      region.finish();
      return results;
    };
    const BothValues eager = {Eager(program, inputs), Eager(program, with_other_values(inputs))};
    for (const std::size_t i : {0, 1, 0}) check_run(eager[i], deferred);
  };
  for (const OpCases& entry : kOpCases) {
    if (entry.op.find("empty") != std::string_view::npos) continue;  // whose elements are anything
    for (const Sample& sample : affordable_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      check_deferred(program_of(sample, entry.op), inputs_of(sample));
      if (!entry.inplace.empty()) check_deferred(program_of(sample, entry.inplace), inputs_of(sample));
      if (entry.out.empty()) continue;
      if (const std::optional<Sample> out = with_out(sample))
        check_deferred(program_of(*out, entry.out), inputs_of(*out));
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(can_afford_all_samples() ? 2500 : 800));
}

TEST_CASE("a graph of a call and its backward gives the same gradients") {
  Tally tally("captured with backward");
  Refused refused;
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      const Program call = program_of(sample, entry.op);
      const Program program = [&](const std::vector<Tensor>& inputs) {
        std::vector<Tensor> arguments = inputs_of(sample);
        const std::vector<Slot> slots = slots_of(sample.arguments);
        for (std::size_t i = 0; i < slots.size(); ++i) {
          const auto at = std::ranges::find_if(function.slots, [&](Slot slot) {
            return slot.argument == slots[i].argument && slot.item == slots[i].item;
          });
          if (at != function.slots.end()) arguments[i] = inputs[static_cast<std::size_t>(at - function.slots.begin())];
        }
        variable_list results;
        for (const Tensor& result : call(arguments))
          if (result.defined() && result.requires_grad()) results.push_back(result);
        std::vector<Tensor> all = gradients_of(results, inputs, ones_as);
        for (const Tensor& result : results) all.push_back(result.detach());
        return all;
      };
      check(program, function.leaves(), graph::Level::Executed, entry.op, refused);
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
  if (kOpCases.of_library()) return;
  CHECK(text_of(refused) == kRefusedBackwards);
}
