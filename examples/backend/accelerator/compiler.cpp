#include <keyway/core/device/stream.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/ops/all.h>

#include <accelerator/compiler.h>
#include <accelerator/hardware.h>
#include <accelerator/lanes.h>
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace accelerator {

using namespace keyway;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

namespace {

constexpr std::int64_t kBlock = 256;  // elements that a command works on at a time

const Value& value_of(const Graph& graph, ValueId id) { return graph.values[static_cast<std::size_t>(id)]; }

// A part of a graph. The tensors of its values are there when it runs, and those that it gives afterwards.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(std::vector<Tensor>& values) const = 0;
};

// One call, made by its kernel.
class Call final : public Step {
 public:
  explicit Call(const Node& node) : node_(node) {}
  void run(std::vector<Tensor>& values) const override {
    const auto tensor_of = [&](ValueId id) -> Tensor& { return values[static_cast<std::size_t>(id)]; };
    Stack stack = graph::with_tensors(node_.op->schema().arguments(), node_.arguments, tensor_of);
    call_boxed(*node_.op, stack);
    graph::take_results(node_.op->schema().returns(), node_.results, stack,
                        [&](ValueId id, const TensorBase& tensor) { tensor_of(id) = Tensor(tensor); });
  }

 private:
  Node node_;
};

// Pointwise calls as the chip makes them. Operands are numbers of slots: of tensors, or of blocks for what passes from
// one call to the next alone.
struct Program {
  struct Instruction {
    Lane lane;
    std::vector<std::size_t> operands;
    std::size_t result;
  };
  std::vector<Instruction> instructions;
  std::size_t tensors = 0, blocks = 0;  // slots: tensors first
  std::int64_t elements = 0;

  void run(const std::vector<void*>& addresses) const {
    std::vector<float> own(blocks * static_cast<std::size_t>(kBlock));
    std::vector<float*> at;
    for (void* const address : addresses) at.push_back(reinterpret_cast<float*>(reach(address)));
    for (std::size_t i = 0; i < blocks; ++i) at.push_back(own.data() + i * static_cast<std::size_t>(kBlock));
    std::vector<const float*> in;
    for (std::int64_t first = 0; first < elements; first += kBlock) {
      const std::int64_t count = std::min(kBlock, elements - first);
      for (const Instruction& instruction : instructions) {
        in.clear();
        for (const std::size_t slot : instruction.operands) in.push_back(at[slot]);
        instruction.lane(count, at[instruction.result], in.data());
      }
      for (std::size_t i = 0; i < tensors; ++i) at[i] += count;
    }
  }
};

// Calls that are one command.
class Fused final : public Step {
 public:
  // `passes` says of a value whether nothing but these calls needs it.
  template <typename Passes>
  Fused(const Graph& graph, const std::vector<PointwiseCall>& calls, Passes&& passes) {
    const graph::TensorInfo& info = value_of(graph, calls[0].result).info;
    device_ = info.device;
    program_->elements = 1;
    for (const std::int64_t size : info.sizes) program_->elements *= size;
    std::map<ValueId, std::size_t> slots;
    std::vector<ValueId> passing;
    const auto add = [&](ValueId id) {
      if (slots.contains(id)) return;
      slots[id] = 0;
      (passes(id) ? passing : tensors_).push_back(id);
    };
    for (const PointwiseCall& call : calls) {
      std::ranges::for_each(call.operands, add);
      if (!slots.contains(call.result) && !passes(call.result)) made_.emplace_back(call.result, info.sizes);
      add(call.result);
    }
    program_->tensors = tensors_.size();
    program_->blocks = passing.size();
    for (std::size_t i = 0; i < tensors_.size(); ++i) slots[tensors_[i]] = i;
    for (std::size_t i = 0; i < passing.size(); ++i) slots[passing[i]] = tensors_.size() + i;
    for (const PointwiseCall& call : calls) {
      Program::Instruction instruction{call.lane, {}, slots[call.result]};
      for (const ValueId id : call.operands) instruction.operands.push_back(slots[id]);
      program_->instructions.push_back(std::move(instruction));
    }
  }

  void run(std::vector<Tensor>& values) const override {
    for (const auto& [id, sizes] : made_)
      values[static_cast<std::size_t>(id)] = keyway::empty(sizes, TensorOptions().dtype(kFloat).device(device_));
    std::vector<void*> addresses;
    for (const ValueId id : tensors_) addresses.push_back(values[static_cast<std::size_t>(id)].data_ptr());
    static_cast<Queue*>(current_stream(device_).native_handle())->push([program = program_, addresses] {
      program->run(addresses);
    });
  }

 private:
  Device device_ = DeviceType::CPU;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();   // commands may outlive the graph
  std::vector<ValueId> tensors_;                                     // in the order of their slots
  std::vector<std::pair<ValueId, std::vector<std::int64_t>>> made_;  // of these, the ones that are new
};

class AcceleratorGraph final : public graph::CompiledGraph {
 public:
  explicit AcceleratorGraph(const Graph& graph) : graph_(graph), needed_until_(graph.values.size(), 0) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto use = [&](ValueId id) {
        if (id != kNoValue) needed_until_[static_cast<std::size_t>(value_of(graph_, id).memory)] = i;
      };
      graph::for_each_value(graph_.nodes[i].op->schema().arguments(), graph_.nodes[i].arguments, use);
      graph::for_each_value(graph_.nodes[i].op->schema().returns(), graph_.nodes[i].results, use);
    }
    for (const ValueId id : graph_.outputs) {
      if (id != kNoValue) needed_until_[static_cast<std::size_t>(value_of(graph_, id).memory)] = graph_.nodes.size();
    }
    for (std::size_t i = 0; i < graph_.nodes.size();) i += add_step(i);
  }

  std::size_t fused_calls() const { return fused_calls_; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> values(graph_.values.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values[static_cast<std::size_t>(graph_.inputs[i].value)] = inputs[i];
    for (const std::unique_ptr<Step>& step : steps_) step->run(values);
    std::vector<Tensor> outputs;
    for (const ValueId id : graph_.outputs)
      outputs.push_back(id == kNoValue ? Tensor() : values[static_cast<std::size_t>(id)]);
    return outputs;
  }

 private:
  // Adds the step that begins with a node; how many nodes it makes.
  std::size_t add_step(std::size_t first) {
    const std::vector<PointwiseCall> calls = calls_from(first);
    if (calls.size() < 2) {
      steps_.push_back(std::make_unique<Call>(graph_.nodes[first]));
      return 1;
    }
    const std::size_t last = first + calls.size() - 1;
    const auto passes = [&](ValueId id) {
      const bool is_made = std::ranges::any_of(calls, [&](const PointwiseCall& call) {
        return call.result == id && std::ranges::find(call.operands, id) == call.operands.end();
      });
      return is_made && needed_until_[static_cast<std::size_t>(id)] <= last;
    };
    steps_.push_back(std::make_unique<Fused>(graph_, calls, passes));
    fused_calls_ += calls.size();
    return calls.size();
  }

  // The pointwise calls from a node on that are one command: of one size, and each memory that they write to is that
  // of one value in them, so that an element is read and written at one place.
  std::vector<PointwiseCall> calls_from(std::size_t first) const {
    std::vector<PointwiseCall> calls;
    std::map<ValueId, ValueId> used;  // by its memory, the value that lies there
    for (std::size_t i = first; i < graph_.nodes.size(); ++i) {
      std::optional<PointwiseCall> call = pointwise_call(graph_, graph_.nodes[i]);
      if (!call) break;
      const graph::TensorInfo& info = value_of(graph_, call->result).info;
      if (!calls.empty() && (info.sizes != value_of(graph_, calls[0].result).info.sizes ||
                             info.device != value_of(graph_, calls[0].result).info.device))
        break;
      bool is_one_place = true;
      const auto use = [&](ValueId id) {
        is_one_place = is_one_place && used.try_emplace(value_of(graph_, id).memory, id).first->second == id;
      };
      std::ranges::for_each(call->operands, use);
      use(call->result);
      if (!is_one_place) break;
      calls.push_back(std::move(*call));
    }
    return calls;
  }

  Graph graph_;
  std::vector<std::size_t> needed_until_;  // by memory: the last node that uses it
  std::vector<std::unique_ptr<Step>> steps_;
  std::size_t fused_calls_ = 0;
};

}  // namespace

std::unique_ptr<graph::CompiledGraph> Compiler::compile(const Graph& graph) {
  auto compiled = std::make_unique<AcceleratorGraph>(graph);
  if (compiled->fused_calls() == 0)
    throw CallDeclined("it has no two pointwise calls in a row, which one command could make");
  return compiled;
}

}  // namespace accelerator
