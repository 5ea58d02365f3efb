#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/match.h>
#include <keyway/graph/passes/replace.h>
#include <keyway/graph/passes/splice.h>

#include <map>

namespace keyway::inline v1::graph {
namespace {

void check_replacement(const Graph& graph, const Graph& pattern, const Graph& replacement) {
  KEYWAY_CHECK(pattern.level == graph.level && replacement.level == graph.level,
               "replace: the graph, the pattern and the replacement are not all of one level");
  KEYWAY_CHECK(replacement.argument_count() == replacement.inputs.size(),
               "replace: the replacement uses a tensor that is no argument of it");
  KEYWAY_CHECK(replacement.inputs.size() == pattern.inputs.size() &&
                   replacement.outputs.size() == pattern.outputs.size() && replacement.grads.empty(),
               "replace: the replacement has {} arguments and {} results, but the pattern has {} and {}",
               replacement.inputs.size(), replacement.outputs.size(), pattern.inputs.size(), pattern.outputs.size());
  for (const Node& node : replacement.nodes) {
    KEYWAY_CHECK(!node.op->schema().is_mutable(), "replace: the replacement calls {}, which writes",
                 node.op->short_name());
  }
}

// The matches, by their last call.
std::map<std::size_t, Match> matches_in(const Graph& graph, const Graph& pattern, std::vector<bool>& is_taken) {
  const Matcher matcher(graph, pattern);
  std::map<std::size_t, Match> matches;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    std::optional<Match> match = matcher.match(node, is_taken);
    if (!match) continue;
    for (const std::size_t taken : match->nodes) is_taken[taken] = true;
    matches.emplace(match->last(), std::move(*match));
  }
  return matches;
}

}  // namespace

Replaced replace(const Graph& graph, const Graph& pattern, const Graph& replacement) {
  check_replacement(graph, pattern, replacement);
  const Graph live_pattern = eliminate_dead_code(pattern), live_replacement = eliminate_dead_code(replacement);
  std::vector<bool> is_taken(graph.nodes.size());
  const std::map<std::size_t, Match> matches = matches_in(graph, live_pattern, is_taken);
  Splicer splicer(graph);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!is_taken[node]) splicer.add(graph.nodes[node]);
    const auto match = matches.find(node);
    if (match == matches.end()) continue;
    Splicer::Part part{"replace: the replacement", live_replacement, {}, {}, graph.nodes[node]};
    const std::vector<ValueId>& values = match->second.values;  // of the graph, for each of the pattern's
    for (const Input& input : live_pattern.inputs) part.arguments.push_back(values[index(input.value)]);
    for (const ValueId output : live_pattern.outputs) part.results.push_back(values[index(output)]);
    splicer.add(part);
  }
  return {splicer.result(), matches.size()};
}

}  // namespace keyway::inline v1::graph
