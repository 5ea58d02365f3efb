// Recorder: makes the graph of a capture, call by call.
#pragma once

#include <keyway/graph/capture.h>
#include <keyway/graph/graph.h>

#include <optional>
#include <string>
#include <unordered_map>

namespace keyway::inline v1::graph {

// The tensors that a capture has seen, and which values they are. It holds weak references: a tensor lives as long as
// in a program that is not captured, and no other can come to stand at its address.
class SeenTensors {
 public:
  struct Seen {
    weak_intrusive_ptr<TensorImpl> tensor;
    ValueId value;
    const StorageImpl* storage;   // as the last call left it
    bool is_made_beside = false;  // by autograd, over the memory of the tensor that is the value
  };
  // Where memory is from decides what a tensor over it is that no call has made.
  enum class Origin : std::uint8_t { Call, State, Argument, SharedArgument };
  struct Memory {
    weak_intrusive_ptr<StorageImpl> storage;
    Origin origin;
    std::vector<ValueId> values;  // that lie in it
    bool is_set = true;           // false until a call writes to what empty() gave
  };

  Seen* find(const TensorBase& tensor);
  Memory* find_memory(const TensorBase& tensor);
  void add(const TensorBase& tensor, ValueId value, Origin origin_of_memory);
  // After a call that may have given a tensor that was seen other memory.
  void move_memory(const TensorBase& tensor, Origin origin);

 private:
  Memory& memory_of(const TensorBase& tensor, Origin origin);
  std::unordered_map<const TensorImpl*, Seen> tensors_;
  std::unordered_map<const StorageImpl*, Memory> memories_;
};

class Recorder {
 public:
  Recorder(Level level, Capture::Refusal refusal) : refusal_(refusal) { graph_.level = level; }

  Level level() const { return graph_.level; }
  void add_argument(const Tensor& tensor, std::string name);
  // Autograd has made `alias`, a tensor of its own over the memory of another.
  void add_tensor_over(const TensorBase& of, const TensorBase& alias);
  // Makes the call, for the keys below, and records it: the arguments become the results.
  void call(const OperatorEntry& op, DispatchKeySet below, Stack& values);
  // The program does what a graph cannot follow. Throws, or returns, as the capture wants it; then finish() throws.
  void refuse(const std::string& reason);
  Graph finish(const std::vector<Tensor>& outputs);

 private:
  // The value of a tensor that a call takes, or that is an output.
  ValueId value_of(const TensorBase& tensor);
  ValueId value_in_memory(const TensorBase& tensor, const SeenTensors::Memory& memory);
  ValueId add_state(const TensorBase& tensor);
  ValueId add_value(const TensorBase& tensor, SeenTensors::Origin origin);
  // The value of a tensor that a call gave, or wrote to.
  ValueId result_of(const TensorBase& tensor, const std::vector<TensorBase>& arguments);
  // A stack with numbers for the tensors.
  template <typename NumberOf>
  Stack numbered(const ArgumentList& arguments, const Stack& values, NumberOf&& number_of);
  // What is wrong with a call that reads what no call has written, as it is not seen who has.
  void check_is_set(const OperatorEntry& op, const Stack& values);
  void check_recordable(const OperatorEntry& op, const Stack& arguments);
  void record(const OperatorEntry& op, DispatchKeySet below, Stack& values);

  Graph graph_;
  SeenTensors seen_;
  std::vector<TensorInfo> now_;  // of each value, as the last call left it
  Capture::Refusal refusal_;
  std::string refused_;  // the first reason; empty: none yet
};

}  // namespace keyway::inline v1::graph
