#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/match.h>
#include <keyway/graph/value_text.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

std::vector<std::size_t> makers_of(const Graph& graph) {
  std::vector<std::size_t> makers(graph.values.size(), kNone);
  std::vector<bool> is_input(graph.values.size());
  for (const Input& input : graph.inputs) is_input[index(input.value)] = true;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    for_each_result(graph.nodes[node], [&](ValueId id) {
      if (!is_input[index(id)] && makers[index(id)] == kNone) makers[index(id)] = node;
    });
  }
  return makers;
}

void check_pattern(const Graph& pattern, const std::vector<std::size_t>& makers) {
  KEYWAY_CHECK(pattern.argument_count() == pattern.inputs.size(),
               "replace: the pattern uses a tensor that is no argument of it");
  for (const Node& node : pattern.nodes) {
    KEYWAY_CHECK(is_pure(*node.op), "replace: the pattern calls {}, which writes or draws random numbers",
                 node.op->short_name());
  }
  KEYWAY_CHECK(!pattern.outputs.empty() && pattern.grads.empty(), "replace: the pattern has no result");
  for (const ValueId output : pattern.outputs) {
    KEYWAY_CHECK(output != kNoValue && makers[index(output)] != kNone,
                 "replace: a result of the pattern is none of a call");
  }
}

}  // namespace

std::size_t Match::first() const { return *std::ranges::min_element(nodes); }
std::size_t Match::last() const { return *std::ranges::max_element(nodes); }

Matcher::Matcher(const Graph& graph, const Graph& pattern)
    : graph_(graph), pattern_(pattern), makers_(makers_of(graph)), pattern_makers_(makers_of(pattern)) {
  check_pattern(pattern, pattern_makers_);
  users_.resize(graph.values.size());
  is_left_.resize(graph.values.size());
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for_each_argument(graph.nodes[node], [&](ValueId id) { users_[index(id)].push_back(node); });
  for_each_left(graph, [&](ValueId id) { is_left_[index(id)] = true; });
}

std::optional<Match> Matcher::match(std::size_t node, const std::vector<bool>& is_taken) const {
  Match match{std::vector<ValueId>(pattern_.values.size(), kNoValue),
              std::vector<std::size_t>(pattern_.nodes.size(), kNone)};
  if (!add_node(match, pattern_makers_[index(pattern_.outputs[0])], node)) return std::nullopt;
  return with_results(std::move(match), 1, is_taken);
}

// The match with the pattern's further results, wherever the calls that make these are.
std::optional<Match> Matcher::with_results(Match match, std::size_t result, const std::vector<bool>& is_taken) const {
  while (result < pattern_.outputs.size() && match.values[index(pattern_.outputs[result])] != kNoValue) ++result;
  if (result == pattern_.outputs.size())
    return is_replaceable(match, is_taken) ? std::optional<Match>(match) : std::nullopt;
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    Match larger = match;
    if (!add_node(larger, pattern_makers_[index(pattern_.outputs[result])], node)) continue;
    if (std::optional<Match> whole = with_results(std::move(larger), result + 1, is_taken)) return whole;
  }
  return std::nullopt;
}

bool Matcher::add_node(Match& match, std::size_t pattern_node, std::size_t node) const {
  std::size_t& known = match.nodes[pattern_node];
  if (known != kNone) return known == node;
  const Node &theirs = pattern_.nodes[pattern_node], &call = graph_.nodes[node];
  if (theirs.op != call.op || theirs.no_grad != call.no_grad) return false;
  if (std::ranges::find(match.nodes, node) != match.nodes.end()) return false;
  known = node;
  return add_values(match, call.op->schema().returns(), theirs.results, call.results) &&
         add_values(match, call.op->schema().arguments(), theirs.arguments, call.arguments);
}

bool Matcher::add_values(Match& match, const ArgumentList& arguments, const Stack& pattern_values,
                         const Stack& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (pattern_values[i].is_none() != values[i].is_none()) return false;
    if (!is_of_tensors(arguments[i].type())) {
      const std::string text = text_of(arguments[i].type(), values[i]);
      if (text.find('<') != std::string::npos || text != text_of(arguments[i].type(), pattern_values[i])) return false;
      continue;
    }
    std::vector<ValueId> theirs, ids;
    for_each_value_of(arguments[i], pattern_values[i], [&](ValueId id) { theirs.push_back(id); });
    for_each_value_of(arguments[i], values[i], [&](ValueId id) { ids.push_back(id); });
    if (pattern_values[i].tag() != values[i].tag() || theirs.size() != ids.size()) return false;
    for (std::size_t j = 0; j < ids.size(); ++j) {
      if (!add_value(match, theirs[j], ids[j])) return false;
    }
  }
  return true;
}

bool Matcher::add_value(Match& match, ValueId pattern_value, ValueId value) const {
  ValueId& known = match.values[index(pattern_value)];
  if (known != kNoValue) return known == value;
  known = value;
  const std::size_t maker = pattern_makers_[index(pattern_value)];
  if (maker == kNone) return true;
  return makers_[index(value)] != kNone && add_node(match, maker, makers_[index(value)]);
}

bool Matcher::is_replaceable(const Match& match, const std::vector<bool>& is_taken) const {
  const auto is_of_match = [&](std::size_t node) { return std::ranges::find(match.nodes, node) != match.nodes.end(); };
  if (is_of_match(kNone)) return false;  // a call of the pattern that no result needs
  if (std::ranges::any_of(match.nodes, [&](std::size_t node) { return is_taken[node]; })) return false;
  std::vector<ValueId> results;
  for (const ValueId output : pattern_.outputs) results.push_back(match.values[index(output)]);
  for (const std::size_t node : match.nodes) {
    bool is_free = true;
    for_each_result(graph_.nodes[node], [&](ValueId id) {
      const bool is_result = std::ranges::find(results, id) != results.end();
      const auto& users = users_[index(id)];
      is_free = is_free && (is_result || !is_left_[index(id)]);
      is_free = is_free && std::ranges::all_of(users, [&](std::size_t user) {
                  return is_of_match(user) || (is_result && user > match.last());
                });
    });
    if (!is_free) return false;
  }
  for (const Input& input : pattern_.inputs) {
    const ValueId id = match.values[index(input.value)];
    if (id != kNoValue && makers_[index(id)] != kNone && is_of_match(makers_[index(id)])) return false;
  }
  return !is_written(match);
}

// Whether something writes to its memory from its first call on.
bool Matcher::is_written(const Match& match) const {
  bool is_written = false;
  for (std::size_t node = match.first(); node < graph_.nodes.size(); ++node) {
    for_each_written(graph_.nodes[node], [&](ValueId written) {
      is_written = is_written || std::ranges::any_of(match.values, [&](ValueId id) {
                     return id != kNoValue && memory_of(graph_, id) == memory_of(graph_, written);
                   });
    });
  }
  return is_written;
}

}  // namespace keyway::inline v1::graph
