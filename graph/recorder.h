// Recorder: makes the graph of a capture, call by call.
#pragma once

#include <keyway/graph/capture.h>
#include <keyway/graph/graph.h>
#include <keyway/graph/seen_tensors.h>
#include <keyway/graph/storage_watch.h>

#include <map>
#include <string>
#include <unordered_map>

namespace keyway::inline v1::graph {

class Recorder {
 public:
  Recorder(Level level, Capture::Refusal refusal);

  Level level() const { return graph_.level; }
  bool is_refused() const { return !refused_.empty(); }
  void keep_inputs() { keeps_inputs_ = true; }
  void add_argument(const Tensor& tensor, std::string name);
  std::size_t call_count() const { return graph_.nodes.size(); }
  // Where the innermost recorded call was made that has not returned yet; null if there is none.
  const std::string* site() const { return site_; }
  // Called with the results of each call that a recorded call makes.
  void note_within_call(const Stack& results);
  // What autograd does without a call (autograd/capture_listener.h).
  void alias_made(const TensorBase& of, const TensorBase& alias);
  void grad_asked(const TensorBase& leaf);
  void grad_set(const TensorBase& leaf, const TensorBase& grad);
  void history_changed(const TensorBase& tensor, const char* how);
  // Makes the call, for the keys below, and records it: the arguments become the results.
  void call(const OperatorEntry& op, DispatchKeySet below, Stack& values);
  // The program does what a graph cannot follow. Throws, or returns, as the capture wants it; then finish() throws.
  void refuse(const std::string& reason);
  // Whether the program keeps a tensor that it computed elsewhere than in its results.
  bool keeps_results(const std::vector<Tensor>& outputs) const { return kept_value(outputs) != kNoValue; }
  Graph finish(const std::vector<Tensor>& outputs);

 private:
  // The value of a tensor that a call takes.
  ValueId value_of(const TensorBase& tensor);
  ValueId output_of(const TensorBase& tensor, std::size_t number);
  // A call of an operator of Keyway's that the program did not make: a view.
  ValueId add_view(const char* op, Stack arguments, const TensorBase& tensor, SeenTensors::Origin origin);
  // A value that the program computed and keeps elsewhere than in `outputs`, which a run of the graph would not do;
  // kNoValue if there is none.
  ValueId kept_value(const std::vector<Tensor>& outputs) const;
  void check_kept(const std::vector<Tensor>& outputs);
  // Refuses a program that gave an argument or state other memory or sizes beside the dispatcher.
  void check_inputs();
  ValueId value_in_memory(const TensorBase& tensor, const SeenTensors::Memory& memory);
  ValueId add_state(const TensorBase& tensor);
  // Remembers which hooks leaves have: their calls are in the graph.
  void note_hooks();
  // Refuses an input through which gradients would flow out of the graph.
  void check_is_leaf(const TensorBase& tensor, const std::string& which);
  // Whether it lies in the memory of an argument or of state.
  bool is_from_outside(const TensorBase& tensor);
  // Remembers which gradient a new input keeps when the program begins.
  void note_first_grad(const TensorBase& leaf, ValueId id);
  // Of a value, as the last call left it.
  const TensorInfo& now(ValueId id) const;
  // The input that a value is; null for other values.
  Input* input_of(ValueId id);
  bool is_input(ValueId id) const { return input_numbers_.contains(id); }
  void add_input(Input input, const TensorBase& tensor);
  ValueId add_value(const TensorBase& tensor, SeenTensors::Origin origin);
  // The value of a tensor that a call gave, or wrote to.
  ValueId result_of(const TensorBase& tensor, const std::vector<TensorBase>& arguments);
  // Refuses what the thread's modes make of calls, and would not make of those of a graph.
  void check_modes();
  // Refuses a tensor that another thread has made or written to since the program began.
  void check_is_own(const TensorBase& tensor, bool is_known);
  // Refuses a call that reads memory of empty() which no call has written to: what wrote there was not seen.
  void check_is_set(const OperatorEntry& op, const Stack& values);
  void check_recordable(const OperatorEntry& op, const Stack& arguments);
  void record(const OperatorEntry& op, DispatchKeySet below, Stack& values);

  Graph graph_;
  StorageWatch watch_;
  SeenTensors seen_;
  std::unordered_map<ValueId, TensorInfo> changed_;             // of values that a call gave another geometry in place
  std::vector<TensorBase> inputs_;                              // of the graph
  std::unordered_map<ValueId, std::size_t> input_numbers_;      // the first input that is the value
  std::unordered_map<const TensorImpl*, ValueId> first_grads_;  // the leaves that keep them
  std::map<ValueId, ValueId> grads_;                            // what leaves have been given since
  Capture::Refusal refusal_;
  const bool has_saved_tensor_hooks_;  // when the program begins
  bool keeps_inputs_ = false;
  int calls_within_ = 0;               // how many recorded calls have not returned yet
  const std::string* site_ = nullptr;  // of the innermost of these
  std::string refused_;                // the first reason; empty: none yet
};

// Of the capture of a level that records the thread's calls now; null if there is none, and within a call that is
// recorded as a whole.
Recorder* recorder_of(Level level);
// What stands at Functionalize, for every operator.
void record_as_executed(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

}  // namespace keyway::inline v1::graph
