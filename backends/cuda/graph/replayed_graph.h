// ReplayedGraph: a graph that is run once by its calls, then captured as a CUDA graph, with pointwise calls as kernels
// that are compiled for it, and replayed from then on.
// Internal to backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/graph/input_memory.h>
#include <keyway/backends/cuda/graph/program.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/graph/graph_backend.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

// Several threads may run it at once: they queue their replays one after the other, in the order in which they come.
// A capture takes other calls of the device apart from it only in the thread that makes it; another thread that waits
// for the whole device meanwhile may get an error from the CUDA runtime.
class ReplayedGraph final : public graph::CompiledGraph {
 public:
  ReplayedGraph(const graph::Graph& graph, Device device);
  // Waits for the last replay.
  ~ReplayedGraph() override;

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override;
  std::string how() const override;

 private:
  // What a capture made.
  struct Captured {
    CUDAGraph graph;
    std::vector<Tensor> outputs;
    Event replayed{DeviceType::CUDA};  // after the last replay
  };

  // Makes captured_ for inputs that memory_ has seen last. Where that cannot be, refused_ says why.
  void capture(const std::vector<Tensor>& inputs);
  std::vector<Tensor> replay(const std::vector<Tensor>& inputs, Stream stream);
  void refuse(std::string why);

  Program program_;  // kernels are made for it before the first capture, and used in captures alone
  const Device device_;
  std::mutex mutex_;  // held while work is queued
  InputMemory memory_;
  std::unique_ptr<Captured> captured_;
  bool has_run_ = false;
  bool is_refused_ = false;
  int captures_ = 0;
  mutable std::mutex text_mutex_;
  std::string how_;
};

}  // namespace keyway::inline v1::cuda
