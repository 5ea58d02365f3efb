// Texts of graphs with changes: what the fuzzer of graphs does (tests/fuzz/graph_fuzz.cpp), for texts of random
// programs.
#include <keyway/core/base/error.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/fuzz/fuzzing.h>
#include <keyway/tests/graph/random/full_program.h>
#include <keyway/tests/graph/replayed.h>

using namespace keyway;
using namespace keyway::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size, const std::uint8_t* other,
                                                 std::size_t other_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed);

namespace {

// Without those that have no text.
std::vector<std::string> texts_of_programs(std::uint32_t count) {
  std::vector<std::string> texts;
  for (std::uint32_t seed = 0; texts.size() < count; ++seed) {
    FullProgram program(seed);
    if (!program.settle()) continue;
    try {
      texts.push_back(graph::to_string(captured(program, copies_of(program.inputs(0)))));
    } catch (const Error&) {
      continue;
    }
    if (texts.back().find('<') != std::string::npos) texts.pop_back();
  }
  return texts;
}

const std::uint8_t* bytes_of(const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

}  // namespace

TEST_CASE("changed texts of graphs are graphs, which may be run, or errors") {
  constexpr std::size_t kMost = 8192;
  const std::size_t limit = host_memory_stats().limit;
  const std::vector<std::string> texts = texts_of_programs(64);
  fuzzing::Choices choices(1);
  int graphs = 0;
  const int count = campaign(1000);
  for (int i = 0; i < count; ++i) {
    const std::string &text = choices.of(texts), &other = choices.of(texts);
    std::string changed(kMost, '\0');
    changed.resize(LLVMFuzzerCustomCrossOver(bytes_of(text), text.size(), bytes_of(other), other.size(),
                                             reinterpret_cast<std::uint8_t*>(changed.data()), kMost,
                                             static_cast<unsigned>(i)));
    graphs += LLVMFuzzerTestOneInput(bytes_of(changed), changed.size()) == 0 ? 1 : 0;
  }
  set_host_memory_limit(limit);
  CHECK(graphs > count / 10);
  CHECK(graphs < count);
}
