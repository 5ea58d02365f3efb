// InputMemory: what a CUDA graph reads and writes where its program has inputs. Replays use the addresses of the
// capture. An input that lay in the same memory in all runs so far, as parameters do, is used where it lies. One that
// has moved has a tensor of the graph's in its place, which each run fills, and copies back if the graph writes to it.
// Internal to backends/cuda/graph.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

class InputMemory {
 public:
  explicit InputMemory(const graph::Graph& graph);

  // Looks where the inputs of a run lie.
  void see(const std::vector<Tensor>& inputs);
  // Whether replays of the last capture may be used for the inputs that were seen last.
  bool holds() const;
  // The tensors to capture with, for these inputs, which were seen last. Elements of what stands in are not set.
  std::vector<Tensor> stand_ins(const std::vector<Tensor>& inputs);
  // What stands in for inputs, for who needs it as long as a replay may run.
  std::vector<Tensor> all_stand_ins() const;
  // Lets it go: nothing is to be captured any more.
  void drop_stand_ins();
  // Copies into what stands in for inputs, and back from what the graph has written to, in the current stream.
  void fill(const std::vector<Tensor>& inputs) const;
  void write_back(const std::vector<Tensor>& inputs) const;
  // Of an input that holds() is false for and nothing can stand in for: which it is, and why.
  std::optional<std::string> problem() const;

 private:
  struct Slot {
    bool is_used = false;  // by a call; not, if an earlier input is the same value
    bool is_written = false;
    bool is_copyable = false;  // what calls use of its memory is the input itself or within it
    bool moves = false;
    const void* seen = nullptr;  // the address in the last run
    const void* captured = nullptr;
    Tensor stand_in;
  };

  std::vector<Slot> slots_;
  std::vector<std::size_t> same_as_;  // of each input, the first one of the same value
};

}  // namespace keyway::inline v1::cuda
