// Door: checks whether a graph holds for a call, that is, whether all but the elements of tensors is as in the capture.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

class KEYWAY_API Door {
 public:
  // Refers to the graph.
  explicit Door(const Graph& graph);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // The tensors of the inputs, in their order; undefined for a gradient that a leaf does not have. Requires: there are
  // as many arguments as the graph has.
  std::vector<Tensor> inputs(ArrayRef<Tensor> arguments) const;
  // Why the graph does not hold for these inputs, in this thread; nothing if it does.
  std::optional<std::string> input_mismatch(const std::vector<Tensor>& inputs) const;
  // The same for arguments.
  std::optional<std::string> mismatch(ArrayRef<Tensor> arguments) const;

 private:
  std::optional<std::string> surroundings_mismatch() const;
  std::optional<std::string> info_mismatch(const std::vector<Tensor>& inputs, std::size_t number) const;
  // Of which inputs are one tensor, and which share memory.
  std::optional<std::string> sharing_mismatch(const std::vector<Tensor>& inputs) const;
  // Of different storages over one memory.
  std::optional<std::string> overlap_mismatch(const std::vector<Tensor>& inputs) const;
  std::optional<std::string> hooks_mismatch(const std::vector<Tensor>& inputs, std::size_t number) const;
  std::string name_of(std::size_t number) const;

  const Graph& graph_;
  std::size_t argument_count_;
  std::vector<bool> is_written_;            // of each input, whether the graph writes to its memory
  std::vector<std::size_t> leaf_;           // of each input that is a gradient, the input that it is the gradient of
  std::vector<std::size_t> same_, shared_;  // the first input that is the same tensor, that lies in the same memory
};

}  // namespace keyway::inline v1::graph
