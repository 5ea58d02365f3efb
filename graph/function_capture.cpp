#include <keyway/autograd/variable.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/function_capture.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <map>

namespace keyway::inline v1::graph {
namespace {

// Copies of tensors that lie in copies of their memory, with what else is there; leaves that require grad as they do.
std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::map<const StorageImpl*, Storage> memories;
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) {
    Storage& memory = memories[tensor.storage().impl()];
    if (!memory) {
      const NoGradGuard no_grad;
      memory = tensor._lazy_clone().storage();
    }
    Tensor copy(tensor_over(memory, TensorInfo(tensor)));
    if (tensor.requires_grad()) copy.requires_grad_();
    copies.push_back(std::move(copy));
  }
  return copies;
}

// The states of the generators that random calls draw from which name none.
class KeptGenerators {
 public:
  explicit KeptGenerators(const std::vector<Tensor>& tensors) {
    keep(DeviceType::CPU);
    for (const Tensor& tensor : tensors) {
      if (tensor.is_cuda()) keep(tensor.device());
    }
  }
  KeptGenerators(const KeptGenerators&) = delete;
  KeptGenerators& operator=(const KeptGenerators&) = delete;
  ~KeptGenerators() {
    for (auto& [generator, state] : kept_) generator.set_state(state);
  }

 private:
  void keep(Device device) {
    const Generator& generator = default_generator(device);
    kept_.emplace_back(generator, generator.get_state());
  }
  std::vector<std::pair<Generator, GeneratorState>> kept_;
};

void check_generators(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const IValue& argument : node.arguments)
      KEYWAY_CHECK(!argument.is(ValueTag::Generator) || !argument.to_generator().defined(),
                   "{} draws from a generator of its own: the default one is what a graph within a call may use",
                   node.op->short_name());
  }
}

// The tensors of the state, which become arguments.
std::vector<Tensor> take_state(Graph& graph) {
  std::vector<Tensor> state;
  const auto tensor_of = [&](const Input& input) {
    if (input.grad_of == kNoValue) return input.state;
    const auto leaf = std::ranges::find(graph.inputs, input.grad_of, &Input::value);
    return autograd::grad_of(leaf->state);
  };
  for (const Input& input : graph.inputs) {
    if (input.is_state) state.push_back(tensor_of(input));
  }
  for (Input& input : graph.inputs) input = Input{input.value, input.name};
  return state;
}

}  // namespace

Tensor in_own_memory(const Tensor& result, const std::vector<Tensor>& others) {
  const bool is_shared = std::ranges::any_of(
      others, [&](const Tensor& other) { return other.defined() && other.storage().is_alias_of(result.storage()); });
  if (!is_shared && result.is_contiguous() && result.storage_offset() == 0) return result;
  return result.clone(MemoryFormat::Contiguous);
}

CapturedFunction capture_function(const TensorFunction& function, const std::vector<Tensor>& arguments, Level level) {
  const CapturesSetAside unseen;
  const KeptGenerators generators(arguments);
  const std::vector<Tensor> copies = copies_of(arguments);
  Capture capture(level);
  capture.keep_inputs();
  for (const Tensor& copy : copies) capture.add_argument(copy);
  std::vector<Tensor> others = copies, results = function(copies);
  for (std::size_t i = 0; i < results.size(); ++i) {
    KEYWAY_CHECK(results[i].defined(), "result {} is no tensor", i);
    results[i] = in_own_memory(results[i], others);
    others.push_back(results[i]);
  }
  others.clear();
  CapturedFunction captured{capture.finish(results), {}};
  check_generators(captured.graph);
  captured.state = take_state(captured.graph);
  return captured;
}

std::vector<Tensor> with_common_arguments(std::vector<CapturedFunction*> functions) {
  const auto find = [](const std::vector<Tensor>& list, const Tensor& tensor) {
    return std::ranges::find_if(list, [&](const Tensor& other) { return other.is_same(tensor); }) - list.begin();
  };
  std::vector<Tensor> common;
  for (const CapturedFunction* function : functions) {
    for (const Tensor& tensor : function->state) {
      if (find(common, tensor) == std::ssize(common)) common.push_back(tensor);
    }
  }
  for (CapturedFunction* function : functions) {
    Graph& graph = function->graph;
    const auto own = static_cast<std::ptrdiff_t>(graph.inputs.size() - function->state.size());
    std::vector<Input> inputs(graph.inputs.begin(), graph.inputs.begin() + own);
    for (const Tensor& tensor : common) {
      const std::ptrdiff_t at = find(function->state, tensor);
      if (at < std::ssize(function->state)) {
        inputs.push_back(graph.inputs[static_cast<std::size_t>(own + at)]);
        continue;
      }
      inputs.push_back({add_value(graph, TensorInfo(tensor))});
    }
    graph.inputs = std::move(inputs);
    graph = renumbered(std::move(graph));
    function->state = common;
  }
  return common;
}

}  // namespace keyway::inline v1::graph
