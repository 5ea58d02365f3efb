#include <keyway/graph/difference.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 27;

std::string text_of_made(const Graph& graph, ValueId id) {
  return id == kNoValue ? "None" : fmt::format("%{}: {}", id, to_string(info_of(graph, id)));
}

std::string line_of(const Graph& graph, const Node& node) {
  std::string results;
  for_each_value(node.op->schema().returns(), node.results,
                 [&](ValueId id) { results += (results.empty() ? "" : ", ") + text_of_made(graph, id); });
  return fmt::format("{}{}{}({}){}", results, results.empty() ? "" : " = ", node.op->full_name(), arguments_text(node),
                     node.site.empty() ? "" : "  # " + node.site);
}

// A call without its numbers of values: what two calls have in common that stand for each other.
std::string shape_of(const Graph& graph, const Node& node) {
  std::string shape = node.op->full_name() + (node.no_grad ? " no_grad" : "");
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const Argument argument = node.op->schema().arguments()[i];
    if (!is_of_tensors(argument.type())) shape += "\n" + text_of(argument.type(), node.arguments[i]);
  }
  const auto add = [&](ValueId id) { shape += "\n" + (id == kNoValue ? "None" : to_string(info_of(graph, id))); };
  for_each_value(node.op->schema().arguments(), node.arguments, add);
  for_each_value(node.op->schema().returns(), node.results, add);
  return shape;
}

struct Call {
  const Node* node;
  std::string shape;
};

// Pairs of calls that stand for each other, in order: as many alike ones as possible, then calls of one operator.
class Alignment {
 public:
  Alignment(const std::vector<Call>& before, const std::vector<Call>& after) : before_(before), after_(after) {
    std::size_t first = 0, last = 0;
    const std::size_t least = std::min(before.size(), after.size());
    while (first < least && before[first].shape == after[first].shape) pairs_.emplace_back(first, first), ++first;
    while (last < least - first && before[before.size() - 1 - last].shape == after[after.size() - 1 - last].shape)
      ++last;
    align(first, before.size() - last, after.size() - last);
    for (; last > 0; --last) pairs_.emplace_back(before.size() - last, after.size() - last);
  }

  const std::vector<std::pair<std::size_t, std::size_t>>& pairs() const { return pairs_; }

 private:
  enum Step : std::uint8_t { Both, Before, After };

  std::uint32_t gain(std::size_t i, std::size_t j) const {
    if (before_[i].node->op != after_[j].node->op) return 0;
    return before_[i].shape == after_[j].shape ? 3 : 1;
  }

  // The calls [first, before_end) and [first, after_end). Where there are too many, none stands for another.
  void align(std::size_t first, std::size_t before_end, std::size_t after_end) {
    const std::size_t rows = before_end - first, columns = after_end - first;
    if (rows == 0 || columns == 0 || rows > kMostCells / columns) return;
    std::vector<Step> steps(rows * columns);
    std::vector<std::uint32_t> best(columns + 1), below;  // of what begins at a pair; rows from the last one up
    for (std::size_t i = rows; i-- > 0;) {
      below = best;
      best[columns] = 0;
      for (std::size_t j = columns; j-- > 0;) {
        const std::uint32_t gained = gain(first + i, first + j);
        const std::uint32_t both = gained == 0 ? 0 : gained + below[j + 1];
        best[j] = std::max({both, below[j], best[j + 1]});
        steps[i * columns + j] = gained != 0 && both == best[j] ? Both : below[j] == best[j] ? Before : After;
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      const Step step = steps[i * columns + j];
      if (step == Both) pairs_.emplace_back(first + i, first + j);
      i += step == After ? 0 : 1;
      j += step == Before ? 0 : 1;
    }
  }

  const std::vector<Call>& before_;
  const std::vector<Call>& after_;
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
};

class Comparison {
 public:
  Comparison(const Graph& before, const Graph& after)
      : before_(before), after_(after), same_(before.values.size(), kNoValue) {}

  Difference difference() {
    compare_heads();
    compare_calls();
    compare_ends();
    return std::move(difference_);
  }

 private:
  void add(std::string_view sign, const std::string& line) { difference_.text += fmt::format("{} {}\n", sign, line); }
  // Says both, if they differ.
  void compare(const std::string& what, const std::string& before, const std::string& after) {
    if (before != after) add(what.starts_with(' ') ? " " : "~", fmt::format("{}: {} -> {}", what, before, after));
  }

  // A value of `before` by the number that it has in `after`; its own, with a mark, if it has none there.
  std::string mapped(ValueId id) const {
    if (id == kNoValue) return "None";
    const ValueId same = same_[index(id)];
    return same == kNoValue ? fmt::format("%{} of before", id) : fmt::format("%{}", same);
  }
  void set_same(ValueId before, ValueId after) {
    if (before != kNoValue && after != kNoValue) same_[index(before)] = after;
  }

  static std::string text_of_input(const Graph& graph, const Input& input) {
    return fmt::format("{}{}{}", input.name.empty() ? "" : in_quotes(input.name) + ": ",
                       to_string(info_of(graph, input.value)), input.is_state ? " state" : "");
  }

  void compare_heads() {
    const auto level = [](const Graph& graph) {
      return std::string(graph.level == Level::Program ? "program" : "executed");
    };
    compare("level", level(before_), level(after_));
    const std::size_t most = std::max(before_.inputs.size(), after_.inputs.size());
    for (std::size_t i = 0; i < most; ++i) {
      if (i >= after_.inputs.size()) {
        add("-", fmt::format("input {}: {}", i, text_of_input(before_, before_.inputs[i])));
      } else if (i >= before_.inputs.size()) {
        add("+", fmt::format("input {}: {}", i, text_of_input(after_, after_.inputs[i])));
      } else {
        set_same(before_.inputs[i].value, after_.inputs[i].value);
        compare(fmt::format("input {}", i), text_of_input(before_, before_.inputs[i]),
                text_of_input(after_, after_.inputs[i]));
      }
    }
  }

  static std::vector<Call> calls_of(const Graph& graph) {
    std::vector<Call> calls;
    for (const Node& node : graph.nodes) calls.push_back({&node, shape_of(graph, node)});
    return calls;
  }

  void compare_calls() {
    const std::vector<Call> before = calls_of(before_), after = calls_of(after_);
    std::size_t i = 0, j = 0;
    const auto pass_up_to = [&](std::size_t before_end, std::size_t after_end) {
      for (; i < before_end; ++i, ++difference_.removed) add("-", line_of(before_, *before[i].node));
      for (; j < after_end; ++j, ++difference_.added) add("+", line_of(after_, *after[j].node));
    };
    const Alignment alignment(before, after);
    for (const auto& [at_before, at_after] : alignment.pairs()) {
      pass_up_to(at_before, at_after);
      compare_call(*before[i++].node, *after[j++].node);
    }
    pass_up_to(before.size(), after.size());
  }

  void compare_call(const Node& before, const Node& after) {
    const FunctionSchema& schema = before.op->schema();
    const std::size_t place = difference_.text.size();
    for (std::size_t i = 0; i < before.arguments.size(); ++i) {
      const Argument argument = schema.arguments()[i];
      const bool holds_tensors = is_of_tensors(argument.type()) && !before.arguments[i].is_none();
      compare(
          "  " + std::string(argument.name()),
          holds_tensors ? mapped_text(argument, before.arguments[i]) : text_of(argument.type(), before.arguments[i]),
          text_of(argument.type(), after.arguments[i]));
    }
    compare("  no_grad", before.no_grad ? "True" : "False", after.no_grad ? "True" : "False");
    const std::vector<ValueId> old_results = values_of(schema.returns(), before.results),
                               new_results = values_of(schema.returns(), after.results);
    compare("  results", std::to_string(old_results.size()), std::to_string(new_results.size()));
    for (std::size_t i = 0; i < std::min(old_results.size(), new_results.size()); ++i) {
      set_same(old_results[i], new_results[i]);
      const auto info = [](const Graph& graph, ValueId id) {
        return id == kNoValue ? "None" : to_string(info_of(graph, id));
      };
      compare("  result", info(before_, old_results[i]), info(after_, new_results[i]));
    }
    const bool is_alike = difference_.text.size() == place;
    ++(is_alike ? difference_.alike : difference_.changed);
    if (!is_alike) difference_.text.insert(place, "~ " + line_of(after_, after) + "\n");
  }

  std::string mapped_text(const Argument& argument, const IValue& value) const {
    if (value.is(ValueTag::Int)) return mapped(value.to_int());
    if (!value.is(ValueTag::IntList)) return text_of(argument.type(), value);
    std::string list = "[";
    for (const ValueId id : value.to_int_list()) list += (list.size() == 1 ? "" : ", ") + mapped(id);
    return list + "]";
  }

  void compare_ends() {
    const auto after_text = [](ValueId id) { return id == kNoValue ? "None" : fmt::format("%{}", id); };
    std::string before, after;
    for (const LeafGrad& grad : before_.grads) before += fmt::format("{} = {}, ", mapped(grad.leaf), mapped(grad.grad));
    for (const LeafGrad& grad : after_.grads)
      after += fmt::format("{} = {}, ", after_text(grad.leaf), after_text(grad.grad));
    compare("gradients", before, after);
    before.clear();
    after.clear();
    for (const ValueId id : before_.outputs) before += (before.empty() ? "" : ", ") + mapped(id);
    for (const ValueId id : after_.outputs) after += (after.empty() ? "" : ", ") + after_text(id);
    compare("return", "(" + before + ")", "(" + after + ")");
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<ValueId> same_;  // of each value of `before`, the one of `after` that stands for it
  Difference difference_;
};

}  // namespace

Difference difference(const Graph& before, const Graph& after) { return Comparison(before, after).difference(); }

}  // namespace keyway::inline v1::graph
