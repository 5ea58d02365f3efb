#include <keyway/keyway.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/program/call.h>
#include <keyway/onnx/import/program/run.h>
#include <keyway/ops/unrecorded.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

namespace {

bool all_known(const Node& node, const std::vector<Slot>& frame) {
  return std::ranges::all_of(node.inputs, [&](std::int32_t input) {
    return input == kNoSlot || frame[static_cast<std::size_t>(input)].known;
  });
}

Results results_of(const Node& node, std::vector<Slot>& frame, bool is_recorded) {
  const Call call(node, frame);
  using Sort = Operator::Sort;
  if (!is_recorded || node.op->sort == Sort::Control) return node.op->run(call);
  const bool known = node.op->sort == Sort::Sizes || (node.op->sort == Sort::Plain && all_known(node, frame));
  if (!known) return node.op->run(call);
  const Unrecorded unrecorded;
  Results results = node.op->run(call);
  for (Slot& result : results) result.known = true;
  return results;
}

void run_node(const Node& node, std::vector<Slot>& frame, bool is_recorded) {
  Results results = results_of(node, frame, is_recorded);
  KEYWAY_CHECK_AS(NotImplemented, results.size() >= node.outputs.size(),
                  "the node has {} outputs, of which {} are there", node.outputs.size(), results.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoSlot) frame[static_cast<std::size_t>(node.outputs[i])] = std::move(results[i]);
  }
  for (const std::int32_t slot : node.ended) frame[static_cast<std::size_t>(slot)] = Slot();
}

[[noreturn]] void rethrow_named(const Error& error, const Node& node) {
  const std::string_view name = node.name.empty() ? std::string_view("without a name") : shown(node.name);
  throw Error(error.kind(),
              format("ONNX {}, node {}: {}", ArrayRef<FormatArg>({FormatArg(node.op->name), FormatArg(name),
                                                                  FormatArg(std::string_view(error.what()))})),
              error.file(), error.line());
}

}  // namespace

std::vector<Slot> run_graph(const Graph& graph, std::vector<Slot> inputs, const std::vector<Slot>* around) {
  KEYWAY_CHECK(inputs.size() == graph.inputs.size(), "a graph takes {} inputs, not {}", graph.inputs.size(),
               inputs.size());
  std::vector<Slot> frame(static_cast<std::size_t>(graph.slots));
  const auto at = [&](std::int32_t slot) -> Slot& { return frame[static_cast<std::size_t>(slot)]; };
  for (const auto& [slot, value] : graph.initializers) at(slot) = Slot(value, true);
  for (const auto& [outer, slot] : graph.outer) at(slot) = (*around)[static_cast<std::size_t>(outer)];
  for (std::size_t i = 0; i < inputs.size(); ++i) at(graph.inputs[i]) = std::move(inputs[i]);
  inputs.clear();
  const bool is_recorded = detail::is_recorded();
  for (const Node& node : graph.nodes) {
    try {
      run_node(node, frame, is_recorded);
    } catch (const Error& error) {
      rethrow_named(error, node);
    }
  }
  std::vector<Slot> outputs;
  for (const std::int32_t slot : graph.outputs) outputs.push_back(at(slot));
  return outputs;
}

}  // namespace keyway::inline v1::onnx
