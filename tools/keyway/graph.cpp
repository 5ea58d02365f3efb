// keyway graph: prints, draws, compares, runs and times a graph.
#include <keyway/core/random/generator.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>
#include <keyway/graph/difference.h>
#include <keyway/graph/draw.h>
#include <keyway/graph/links.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/program.h>
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/graph/random_arguments.h>
#include <keyway/tools/keyway/numbers.h>
#include <keyway/tools/terminal/terminal.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

struct GraphOptions {
  std::string file, dot, html, other, ops;
  std::vector<std::string> sizes;
  bool run = false, time = false, executed = false;
  std::size_t runs = 20;
  std::uint64_t seed = 0;
};

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  KEYWAY_CHECK(file, "cannot read '{}'", path);
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  KEYWAY_CHECK(file, "cannot write '{}'", path);
}

// The sizes of "batch=4".
graph::Dimensions sizes_in(const std::vector<std::string>& texts) {
  graph::Dimensions sizes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    KEYWAY_CHECK(equals != std::string::npos && equals > 0, "'{}' is no size, as batch=4 is", text);
    sizes[text.substr(0, equals)] = graph::evaluate(text.substr(equals + 1), {});
  }
  return sizes;
}

// A program of a file; nothing for the text of a graph.
std::optional<graph::Program> program_in(const std::string& bytes) {
  const std::size_t begin = std::min(bytes.find_first_not_of(" \r\n"), bytes.size());
  if (std::string_view(bytes).substr(begin).starts_with("graph")) return std::nullopt;
  return graph::Program::deserialize(bytes);
}

// "float32[2, 3], 0.25 to 0.75, mean 0.5"
std::string summary_of(const Tensor& tensor) {
  if (!tensor.defined()) return "None";
  std::string text = describe(tensor);
  if (tensor.numel() == 0 || is_complex(tensor.dtype())) return text;
  const Tensor numbers = tensor.detach().to(Device(DeviceType::CPU)).to(ScalarType::Double);
  return text + fmt::format(", {:.6g} to {:.6g}, mean {:.6g}", numbers.min().item<double>(),
                            numbers.max().item<double>(), numbers.mean().item<double>());
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const Tensor x = a.detach().to(Device(DeviceType::CPU)).contiguous();
  const Tensor y = b.detach().to(Device(DeviceType::CPU)).contiguous();
  return x.sizes() == y.sizes() && x.dtype() == y.dtype() &&
         (x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

// Runs it call by call, and again as a plan, for the same arguments.
ExitStatus run_graph(const graph::Graph& graph, const GraphOptions& options) {
  const std::vector<Tensor> arguments = random_arguments(graph, options.seed);
  const std::vector<Tensor> results = graph::run(graph, arguments);
  for (std::size_t i = 0; i < results.size(); ++i) fmt::print("result {}: {}\n", i, summary_of(results[i]));
  if (!graph::Plan::is_possible(graph)) return ExitStatus::Ok;
  graph::Plan plan(graph);
  for (int i = 0; i < 2; ++i) {  // the second run is one that the first has made ready
    const std::vector<Tensor> of_plan = plan.run(random_arguments(graph, options.seed));
    if (std::ranges::equal(results, of_plan, same_bits)) continue;
    fmt::print(stderr, "keyway graph: the plan gives other bits than the calls do one by one\n");
    return ExitStatus::Failed;
  }
  const graph::Plan::Statistics known = plan.statistics();
  fmt::print("plan: the same bits; {} direct calls, {} of them in chains, {} by the dispatcher; an arena of {} bytes\n",
             known.direct_calls, known.chained_calls, known.other_calls, known.arena_bytes);
  return ExitStatus::Ok;
}

// A line for each call, in the order of the graph.
void print_times(const graph::Graph& graph, const graph::Timings& timings) {
  const Colours colours(stdout);
  fmt::print("{}\n", colours(Colour::Bold,
                             fmt::format("{:>10} {:>12} {:>9}  {:<44} {}", "us", "bytes", "GB/s", "call", "line")));
  double seconds = 0, bytes = 0;
  const auto line = [&](double its_seconds, double its_bytes, const std::string& name, const std::string& site) {
    const std::string rate =
        its_bytes == 0 || its_seconds == 0 ? "" : fmt::format("{:.2f}", its_bytes / its_seconds / 1e9);
    std::string text =
        fmt::format("{:>10.2f} {:>12.0f} {:>9}  {:<44} {}", its_seconds * 1e6, its_bytes, rate, name, site);
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const double its_bytes = graph::bytes_moved(graph, node);
    line(timings.calls[i], its_bytes, node.op->full_name(), node.site);
    seconds += timings.calls[i];
    bytes += its_bytes;
  }
  line(seconds, bytes, "call by call", "");
  if (timings.plan) line(*timings.plan, bytes, "as a plan", "");
}

// The operators that a run calls, for keyway_select_ops.
void write_operators(graph::Program& program, const std::vector<Tensor>& arguments, const std::string& path) {
  const auto recorder = std::make_shared<DispatchRecorder>();
  {
    const ObserverHandle on = observe_calls(recorder);
    program.executed(arguments);
  }
  write_text(path, recorder->recording().text());
}

// The graph in a file: of a program, for sizes of its dimensions; nothing if these are not known, and need not be.
std::optional<graph::Graph> graph_in(const std::string& path, const GraphOptions& options, bool needs_sizes) {
  const std::string bytes = bytes_in(path);
  std::optional<graph::Program> program = program_in(bytes);
  const bool is_for_program = !options.sizes.empty() || options.executed || !options.ops.empty();
  if (!program) {
    KEYWAY_CHECK(!is_for_program, "'{}' is the text of a graph: --size, --executed and --ops are for programs", path);
    return graph::parse(bytes);
  }
  if (!needs_sizes && !is_for_program) {
    fmt::print("{}", program->text());
    return std::nullopt;
  }
  graph::Graph graph = program->graph(sizes_in(options.sizes));
  if (!options.ops.empty()) write_operators(*program, random_arguments(graph, options.seed), options.ops);
  return options.executed ? program->executed(random_arguments(graph, options.seed)) : graph;
}

ExitStatus run_command(const GraphOptions& options) {
  const bool is_asked =
      options.run || options.time || !options.other.empty() || !options.dot.empty() || !options.html.empty();
  const std::optional<graph::Graph> found = graph_in(options.file, options, is_asked);
  if (!found) return ExitStatus::Ok;
  const graph::Graph& graph = *found;
  const AutoGradMode mode(graph.surroundings.grad_enabled);
  auto status = ExitStatus::Ok;
  if (!options.other.empty()) {
    const graph::Difference difference = graph::difference(graph, *graph_in(options.other, options, true));
    fmt::print("{}{} calls added, {} removed, {} changed, {} alike\n", difference.text, difference.added,
               difference.removed, difference.changed, difference.alike);
    if (!difference.empty()) status = ExitStatus::Failed;
  }
  if (options.run && guarded("graph", ExitStatus::Failed, run_graph, graph, options) != ExitStatus::Ok)
    return ExitStatus::Failed;
  graph::Timings timings;
  if (options.time) {
    const ExitStatus timed = guarded("graph", ExitStatus::Failed, [&] {
      timings = graph::measure(graph, random_arguments(graph, options.seed), options.runs);
      print_times(graph, timings);
      return ExitStatus::Ok;
    });
    if (timed != ExitStatus::Ok) return timed;
  }
  if (!options.dot.empty()) write_text(options.dot, graph::to_dot(graph));
  if (!options.html.empty()) write_text(options.html, graph::to_html(graph, timings));
  if (!is_asked && options.ops.empty()) fmt::print("{}", graph::to_string(graph));
  return status;
}

}  // namespace

void add_graph_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("graph", "Print, draw, compare, run and time a graph");
  auto options = std::make_shared<GraphOptions>();
  command->add_option("file", options->file, "The text of a graph, as str() of a captured one gives it, or a program")
      ->required();
  command->add_option("--size", options->sizes, "Of a dimension of a program: batch=4; once for each");
  command->add_flag("--executed", options->executed, "Of a program: what it executes, and not what is written");
  command->add_option("--ops", options->ops, "Of a program: write the operators that it calls, for keyway_select_ops");
  command->add_option("--dot", options->dot, "Write it for Graphviz into this file");
  command->add_option("--html", options->html, "Write a page that shows it into this file; with --time, times, too");
  command->add_option("--diff", options->other, "Compare it with that of another file");
  command->add_flag("--run", options->run, "Run it with random arguments, call by call and as a plan");
  command->add_flag("--time", options->time, "Print how long each call takes, and a run as a plan: medians");
  command->add_option("--runs", options->runs, "Runs of each kind that --time looks at (default 20)")->check(above_0());
  command->add_option("--seed", options->seed, "Same seed, same arguments (default 0)")->check(not_negative());
  command->footer(
      "Without an option it prints the graph again. Random floats lie between 0 and 1, integers are 0 or 1; the text "
      "of\n"
      "a graph that uses state cannot run, a program can. Exit status: 0, or 1 if the graphs of --diff differ or the\n"
      "graph does not run, 2 if a file cannot be read, is no graph or cannot be written.");
  command->callback([options, &status] { status = guarded("graph", ExitStatus::Usage, run_command, *options); });
}

}  // namespace keyway::inline v1::tools
