// Random programs of all kinds of calls: what a capture refuses it says, and whatever else is done with one gives the
// bits of the program, in the same memory.
//
//   KEYWAY_RANDOM_PROGRAMS=100000 tests_graph "random programs of all kinds*"           so many
//   KEYWAY_RANDOM_FIRST=4711 KEYWAY_RANDOM_PROGRAMS=1 tests_graph "random programs of all kinds*"   one of them
//   KEYWAY_KEEP_PROGRAMS=folder ...   also keeps them for tools/oracle/compare_graphs.py
#include <keyway/core/base/error.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/effects.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/random/ways.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace keyway;
using namespace keyway::testing;

namespace {

std::uint32_t asked(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

std::string text_of(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [what, count] : counts) text += "  " + std::to_string(count) + "  " + what + "\n";
  return text;
}

// With what goes in and what comes out, of a program that draws no random numbers and takes no graphs.
void keep(const FullProgram& program, const std::string& folder) {
  std::vector<Tensor> inputs;  // each in memory of its own
  for (const Tensor& input : program.inputs(0)) inputs.push_back(input.detach().clone());
  nn::StateDict tensors;
  const auto add = [&](const char* name, const std::vector<Tensor>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) tensors.insert(name + std::to_string(i), list[i].detach().clone());
  };
  add("in.", inputs);
  try {
    const NoGradGuard no_grad;
    graph::Capture capture(graph::Level::Program);
    for (const Tensor& input : inputs) capture.add_argument(input);
    const std::vector<Tensor> results = program.forward(inputs);
    const graph::Graph graph = capture.finish(results);
    if (std::ranges::any_of(graph.nodes, [](const graph::Node& node) { return graph::draws_random(node); })) return;
    const std::string text = graph::to_string(graph);
    if (text.find('<') != std::string::npos || text.find("graph", 1) != std::string::npos) return;
    add("after.", inputs);
    add("out.", results);
    nn::save_safetensors(tensors, folder + "/" + std::to_string(program.seed()) + ".safetensors", {{"text", text}});
  } catch (const Error&) {
    // It is none for inputs that share no memory, or it has a dtype that a file has not.
  }
}

}  // namespace

TEST_CASE("random programs of all kinds of calls give the same bits in all ways") {
  const std::uint32_t first = asked("KEYWAY_RANDOM_FIRST", 0), count = asked("KEYWAY_RANDOM_PROGRAMS", 300);
  WayCounts counts;
  int programs = 0, different = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    FullProgram program(seed);
    if (!program.settle()) continue;
    ++programs;
    if (const char* const folder = std::getenv("KEYWAY_KEEP_PROGRAMS")) keep(program, folder);
    const std::string difference = difference_of_ways(program, counts);
    if (difference.empty()) continue;
    const FullProgram shorter = shrunk(program);
    WayCounts unused;
    INFO("program " << seed << ", of which " << shorter.steps().size() << " steps are needed\n"
                    << difference_of_ways(shorter, unused) << "\nAll of it: " << difference);
    CHECK(difference == "");
    if (++different == 10) break;
  }
  if (std::getenv("KEYWAY_RANDOM_PROGRAMS") != nullptr)
    std::printf("%d programs of %u seeds\n%srefused:\n%s", programs, count, text_of(counts.taken).c_str(),
                text_of(counts.refused).c_str());
  CHECK(programs > static_cast<int>(count / 2));
}
