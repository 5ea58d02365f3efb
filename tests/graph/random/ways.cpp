#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/freeze.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/program.h>
#include <keyway/ops/all.h>
#include <keyway/tests/graph/random/ways.h>
#include <keyway/tests/graph/replayed.h>

#include <cstring>
#include <functional>

namespace keyway::inline v1::testing {
namespace {

using Tensors = std::vector<Tensor>;
// The results for these arguments.
using Run = std::function<Tensors(const Tensors& arguments)>;

// What there is after a run: inputs, results, and the gradients that leaves keep.
Tensors all_after(const Tensors& inputs, const Tensors& results) {
  Tensors all = joined(inputs, results);
  for (const Tensor& input : inputs) {
    if (input.requires_grad()) all.push_back(autograd::grad_of(input));
  }
  return all;
}

// Writes elements into the memory of tensors of the same geometry, of which no version tells, and takes gradients away.
void set_elements(const Tensors& tensors, const Tensors& elements) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t bytes = tensors[i].storage().nbytes();
    if (bytes != 0) std::memcpy(tensors[i].storage().data(), elements[i].storage().data(), bytes);
    if (tensors[i].requires_grad()) autograd::set_grad(tensors[i], Tensor());
  }
}

Tensors slice(const Tensors& tensors, std::size_t begin, std::size_t end) {
  return {tensors.begin() + static_cast<std::ptrdiff_t>(begin), tensors.begin() + static_cast<std::ptrdiff_t>(end)};
}

// One program, as it is looked at.
class Ways {
 public:
  Ways(const FullProgram& program, WayCounts& counts) : program_(program), counts_(counts) {}

  std::string difference() {
    try {
      if (capture(graph::Level::Executed)) executed();
      if (found_.empty() && capture(graph::Level::Program)) as_written();
      if (found_.empty()) deferred();
    } catch (const Error& error) {
      note("an error that nothing should give", error.what());
    } catch (const std::exception& error) {
      note("an exception", error.what());
    }
    if (found_.empty()) return {};
    return found_ + "\n" + graph::to_string(graph_) + (refusal_.empty() ? "" : "a refused one: " + refusal_);
  }

 private:
  void note(const std::string& way, const std::string& what) {
    if (found_.empty()) found_ = way + ": " + what;
  }

  // Makes graph_, over copies of the inputs, of which state_ are those behind the arguments. False if it is refused.
  bool capture(graph::Level level) {
    const Tensors inputs = copies_of(program_.inputs(0));
    state_ = slice(inputs, program_.argument_count(), inputs.size());
    manual_seed(7);
    try {
      graph::Capture watch(level);
      for (std::size_t i = 0; i < program_.argument_count(); ++i) watch.add_argument(inputs[i]);
      graph_ = watch.finish(level == graph::Level::Executed ? program_(inputs) : program_.forward(inputs));
    } catch (const Error& error) {
      refuse(level == graph::Level::Executed ? "capture" : "capture as written", error);
      refusal_ = error.what();
      return false;
    }
    for (graph::Input& input : graph_.inputs) {
      for (std::size_t i = 0; i < state_.size(); ++i) {
        if (input.is_state && input.grad_of == graph::kNoValue && input.state.is_same(state_[i]))
          input.name = "s" + std::to_string(i);
      }
    }
    graph::check(graph_);
    return true;
  }
  void refuse(const std::string& way, const Error& error) {
    if (error.kind() == ErrorKind::Internal) note(way, error.what());
    std::string reason(error.message());
    for (char& c : reason) c = c >= '0' && c <= '9' ? '#' : c;
    ++counts_.refused[way + ": " + reason.substr(0, 100)];
  }

  // A run whose state is state_ against the program called with the same elements.
  void compare(const std::string& way, std::uint32_t number, const Run& run, const Run& eager, const Tensors& state) {
    if (!found_.empty()) return;
    const Tensors values = program_.inputs(number), own = copies_of(values), copies = copies_of(values);
    Tensors expected;
    manual_seed(number + 1);
    std::string error_expected, error;
    try {
      expected = all_after(own, eager(own));
    } catch (const Error& failure) {
      error_expected = failure.what();
    }
    set_elements(state, slice(values, program_.argument_count(), values.size()));
    const Tensors arguments = slice(copies, 0, program_.argument_count());
    Tensors results;
    manual_seed(number + 1);
    try {
      results = run(arguments);
      results = all_after(joined(arguments, state), results);
    } catch (const Error& failure) {
      error = failure.what();
    }
    ++counts_.taken[way];
    if (!error_expected.empty())
      return error.empty() ? note(way, "no error, but the program has: " + error_expected) : void();
    if (!error.empty()) return note(way, error);
    note_if(way + ", run " + std::to_string(number), bit_difference(results, expected));
  }
  void note_if(const std::string& way, const std::string& what) {
    if (!what.empty()) note(way, what);
  }
  // `count` times, each with other elements.
  void compare_runs(const std::string& way, std::uint32_t count, const Run& run, const Run& eager) {
    for (std::uint32_t number = 0; number < count; ++number) compare(way, number, run, eager, state_);
  }

  void compare_graph(const std::string& way, const graph::Graph& graph) {
    graph::check(graph);
    const Run eager = [&](const Tensors& inputs) { return program_(inputs); };
    compare_runs(
        way, 1, [&](const Tensors& arguments) { return graph::run(graph, arguments); }, eager);
    graph::Plan plan(graph);
    compare_runs(
        way + ", as a plan", 3, [&](const Tensors& arguments) { return plan.run(arguments); }, eager);
  }

  // Of what is executed.
  void executed() {
    compare_graph("executed", graph_);
    compare_text();
    compare_pass("without dead code", [](const graph::Graph& graph) { return graph::eliminate_dead_code(graph); });
    compare_pass("without common subexpressions",
                 [](const graph::Graph& graph) { return graph::eliminate_common_subexpressions(graph); });
    compare_pass("functional", [](const graph::Graph& graph) { return graph::functionalize(graph); });
    compare_pass("all passes", [](const graph::Graph& graph) {
      return graph::eliminate_dead_code(graph::eliminate_common_subexpressions(graph::functionalize(graph)));
    });
    compare_frozen();
  }
  template <typename Pass>
  void compare_pass(const std::string& way, Pass&& pass) {
    if (!found_.empty()) return;
    graph::Graph made;
    try {
      made = pass(graph_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::NotImplemented) note(way, error.what());
      return refuse(way, error);
    }
    compare_graph(way, made);
    if (!found_.empty()) found_ += "\n" + graph::to_string(made);
  }

  // A graph without state, generators and the like has a text that gives it back.
  void compare_text() {
    const std::string text = graph::to_string(graph_);
    if (text.find('<') != std::string::npos || !found_.empty()) return;
    graph::Graph parsed = graph::parse(text);
    if (graph::to_string(parsed) != text) return note("text", graph::to_string(parsed));
    for (std::size_t i = 0; i < parsed.inputs.size(); ++i) parsed.inputs[i].state = graph_.inputs[i].state;
    compare_graph("text", parsed);
  }

  // The graph as long as its state has the elements of the first inputs.
  void compare_frozen() {
    if (!found_.empty()) return;
    const Tensors first = program_.inputs(0);
    set_elements(state_, slice(first, program_.argument_count(), first.size()));
    graph::Graph frozen;
    try {
      frozen = graph::freeze(graph_);
    } catch (const Error& error) {
      return refuse("frozen", error);
    }
    const Run eager = [&](const Tensors& inputs) { return program_(inputs); };
    compare(
        "frozen", 0, [&](const Tensors& arguments) { return graph::run(frozen, arguments); }, eager, state_);
    if (!found_.empty()) found_ += "\n" + graph::to_string(frozen);
  }

  // Of the program as it is written, whose gradients are computed outside.
  void as_written() {
    const Tensors before = program_.inputs(0);
    for (std::size_t i = 0; i < state_.size(); ++i) {
      // Such a graph holds once.
      if (state_[i].requires_grad() != before[program_.argument_count() + i].requires_grad())
        return static_cast<void>(++counts_.refused["as written: state has a history afterwards"]);
    }
    compare_written("as written", graph_);
    compare_written("as written, without dead code", graph::eliminate_dead_code(graph_));
    compare_merged();
    compare_file();
  }
  Run with_gradients(Run run) {
    return [this, run = std::move(run)](const Tensors& arguments) {
      return program_.with_gradients(run(arguments), joined(arguments, state_));
    };
  }
  void compare_written(const std::string& way, const graph::Graph& graph) {
    graph::check(graph);
    const Run eager = [&](const Tensors& inputs) { return program_(inputs); };
    compare_runs(way, 2, with_gradients([&](const Tensors& arguments) { return graph::run(graph, arguments); }), eager);
  }

  // Gradients of what is used several times are then added in another order.
  void compare_merged() {
    const graph::Graph merged = graph::eliminate_common_subexpressions(graph_);
    compare_runs(
        "as written, without common subexpressions", 1,
        [&](const Tensors& arguments) { return graph::run(merged, arguments); },
        [&](const Tensors& inputs) { return program_.forward(inputs); });
  }

  // A file has state that shares no memory.
  void compare_file() {
    if (program_.shares_state() || !found_.empty()) return;
    std::optional<graph::Program> loaded;
    try {
      const graph::Program saved(graph_);
      loaded.emplace(graph::Program::deserialize(saved.serialize()));
    } catch (const Error& error) {
      return refuse("file", error);
    }
    const Tensors captured_state = state_;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (const Tensor* const tensor = loaded->state().find("s" + std::to_string(i))) state_[i] = *tensor;
    }
    const Run run = [&](const Tensors& arguments) { return loaded->run(arguments); };
    const Run eager = [&](const Tensors& inputs) { return program_(inputs); };
    compare_runs("file", 2, with_gradients(run), eager);
    const auto no_grad = [](const Run& inner) {
      return [&inner](const Tensors& arguments) {
        const NoGradGuard guard;
        return inner(arguments);
      };
    };
    const Run forward = [&](const Tensors& inputs) { return program_.forward(inputs); };
    compare_runs("file, without gradients", 3, no_grad(run), no_grad(forward));
    state_ = captured_state;
  }

  void deferred() {
    const Run eager = [&](const Tensors& inputs) { return program_(inputs); };
    const Run run = [&](const Tensors& arguments) {
      graph::Deferred region;
      Tensors results = program_(joined(arguments, state_));
      region.finish();
      return results;
    };
    for (std::uint32_t number = 0; number < 3; ++number) {
      const Tensors inputs = copies_of(program_.inputs(number));  // which a program may give other sizes here
      state_ = slice(inputs, program_.argument_count(), inputs.size());
      compare("deferred", number, run, eager, state_);
    }
  }

  const FullProgram& program_;
  WayCounts& counts_;
  graph::Graph graph_;
  Tensors state_;
  std::string found_, refusal_;
};

}  // namespace

std::string difference_of_ways(const FullProgram& program, WayCounts& counts) {
  return Ways(program, counts).difference();
}

FullProgram shrunk(FullProgram program) {
  for (bool is_shorter = true; is_shorter;) {
    is_shorter = false;
    for (std::size_t i = program.steps().size(); i-- > 0;) {
      FullProgram shorter = program;
      std::vector<std::uint32_t> steps = program.steps();
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
      shorter.set_steps(std::move(steps));
      const std::size_t count = shorter.steps().size();
      WayCounts counts;
      if (!shorter.settle() || shorter.steps().size() != count || difference_of_ways(shorter, counts).empty()) continue;
      program = std::move(shorter);
      is_shorter = true;
    }
  }
  return program;
}

}  // namespace keyway::inline v1::testing
