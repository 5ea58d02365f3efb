// A fuzzer of the texts of graphs (fuzzing.h): any text either is that of a graph, which prints as what it was read
// from and can be run, planned, changed by passes and drawn, or gives an error. What calls ask for is limited to a few
// megabytes. Run: graph_fuzz -max_len=4096 -timeout=10 tests/fuzz/corpus/graph
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/draw.h>
#include <keyway/graph/meta_calls.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/fold_batch_norm.h>
#include <keyway/graph/passes/freeze.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/passes/order_weights.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/tests/fuzz/fuzzing.h>
#include <keyway/tests/fuzz/graph_text_mutator.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace {

using namespace keyway;
using fuzzing::require;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // that tensors may take together

// Throws what is no error that a text may give.
void look_at_error(const Error& error) {
  require(error.kind() != ErrorKind::Internal, "an error is not one of Keyway itself");
  require(error.message().size() < 20000, "a message is short");
}

// Whether it is done; a text may make it an error.
bool is_done(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    look_at_error(error);
    return false;
  }
}

// Zeros where the text says that inputs lie, as they share memory.
std::vector<Tensor> make_inputs(const graph::Graph& graph) {
  std::vector<Storage> memories(graph.values.size());
  std::vector<Tensor> inputs;
  for (const graph::Input& input : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<std::size_t>(input.value)];
    const graph::TensorInfo& info = value.info;
    KEYWAY_CHECK(info.device.is_cpu(), "inputs are on the CPU");
    const std::size_t bytes = checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype));
    Storage& memory = memories[static_cast<std::size_t>(value.memory)];
    if (memory.nbytes() == 0) {
      memory = make_storage(bytes + 64, DeviceType::CPU);
      std::memset(memory.data(), 0, memory.nbytes());
    }
    KEYWAY_CHECK(bytes <= memory.nbytes(), "inputs lie in the memory of others");
    std::int64_t count = 1;
    for (const std::int64_t size : info.sizes) count *= size;
    const auto impl = make_intrusive<TensorImpl>(memory, info.dtype, IntArrayRef(info.sizes), IntArrayRef(info.strides),
                                                 count, false);
    impl->set_geometry(info.sizes, info.strides, info.offset, count);
    Tensor tensor{TensorBase(impl)};
    if (info.requires_grad) tensor.requires_grad_();
    inputs.push_back(tensor);
  }
  return inputs;
}

// A graph with its state, and arguments for it.
struct Case {
  graph::Graph graph;
  std::vector<Tensor> arguments;

  explicit Case(graph::Graph its_graph) : graph(std::move(its_graph)) {
    const std::vector<Tensor> inputs = make_inputs(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      graph::Input& input = graph.inputs[i];
      if (!input.is_state)
        arguments.push_back(inputs[i]);
      else if (input.grad_of == graph::kNoValue)
        input.state = inputs[i];
    }
  }
};

// Which loop ends nobody knows.
bool may_run(std::string_view text) { return text.find("while_loop") == std::string_view::npos; }

void run_plan(const Case& which, const graph::Graph& graph) {
  graph::Plan plan(graph);
  for (int i = 0; i < 3; ++i) plan.run(which.arguments);
}

using Pass = graph::Graph (*)(const graph::Graph&);
constexpr Pass kPasses[] = {graph::eliminate_dead_code, graph::eliminate_common_subexpressions,
                            graph::functionalize,       graph::freeze,
                            graph::fold_batch_norm,     graph::order_weights};

// The passes, and what they give as a plan; and pictures.
void change(const Case& which) {
  for (const Pass pass : kPasses) {
    is_done([&] {
      const graph::Graph made = pass(which.graph);
      graph::check(made);
      graph::to_string(made);
      run_plan(which, made);
    });
  }
  is_done([&] { graph::to_dot(which.graph); });
  is_done([&] { graph::to_html(which.graph); });
}

void run(const graph::Graph& graph, std::size_t luck) {
  is_done([&] {
    Case which(graph);
    const NoGradGuard no_grad;
    which.graph.surroundings.grad_enabled = false;
    is_done([&] { run_plan(which, which.graph); });
    if (luck % 4 == 0) is_done([&] { graph::run(which.graph, which.arguments); });
    if (luck % 16 == 0) change(which);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_host_memory_limit(kMostBytes);
  const std::string text(reinterpret_cast<const char*>(data), size);
  graph::Graph graph;
  if (!is_done([&] { graph = graph::parse(text); })) return -1;
  graph::check(graph);
  const std::string printed = graph::to_string(graph);
  require(graph::to_string(graph::parse(printed)) == printed, "a graph is read as it was printed");
  const std::size_t luck = std::hash<std::string>()(text);
  if (may_run(text)) run(graph, luck);
  return 0;
}

namespace {

// The text in which values are what the calls give, where that is known; else the text as it is.
std::string told_truly(const std::string& text) {
  std::string truth = text;
  is_done([&] {
    graph::Graph graph = graph::parse(text);
    graph::infer_values(graph);
    truth = graph::to_string(graph);
  });
  return truth;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size, const std::uint8_t* other,
                                                 std::size_t other_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  const auto text = [](const std::uint8_t* bytes, std::size_t count) {
    return std::string_view(reinterpret_cast<const char*>(bytes), count);
  };
  fuzzing::GraphTextMutator mutator(seed);
  std::string mutated = mutator.mutated(text(data, size), text(other, other_size));
  if (seed % 2 == 0) mutated = told_truly(mutated);
  const std::size_t count = std::min(mutated.size(), most);
  std::memcpy(out, mutated.data(), count);
  return count;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return LLVMFuzzerCustomCrossOver(data, size, data, size, data, most, seed);
}
