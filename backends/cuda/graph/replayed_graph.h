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
// While one captures, others may work with the device in streams of theirs; who waits for the whole device meanwhile
// may get an error from the CUDA runtime. While another thread captures something of the device, runs that would need a
// capture make their calls.
class ReplayedGraph final : public graph::CompiledGraph {
 public:
  ReplayedGraph(const graph::Graph& graph, Device device);
  // Waits for the last replay. In a thread that captures something, which must not wait, all that it uses is kept.
  ~ReplayedGraph() override;

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override;
  std::string how() const override;

 private:
  // What a capture made, with all that its replays use and nobody else keeps.
  struct Captured {
    CUDAGraph graph;
    std::vector<Tensor> outputs;
    std::vector<Tensor> stand_ins;     // of inputs
    Event replayed{DeviceType::CUDA};  // after the last replay
  };

  // Whether a run like the last one that memory_ has seen needs another capture than there is.
  bool lacks_capture() const;
  // Makes captured_ for inputs that memory_ has seen last, or says why that cannot be. Requires: the thread has the
  // device's CaptureLock.
  void capture(const std::vector<Tensor>& inputs);
  std::unique_ptr<Captured> captured(const std::vector<Tensor>& inputs);
  // The same, with the memory that is cached where there is no other.
  std::unique_ptr<Captured> captured_with_room(const std::vector<Tensor>& inputs);
  std::vector<Tensor> replay(const std::vector<Tensor>& inputs, Stream stream);
  void refuse(std::string why);

  Program program_;  // kernels are made for it before the first capture, and used in captures alone
  const Device device_;
  std::mutex mutex_;  // held while work is queued
  InputMemory memory_;
  std::unique_ptr<Captured> captured_;
  bool has_run_ = false;  // to its end
  bool is_refused_ = false;
  int captures_ = 0;
  mutable std::mutex text_mutex_;
  std::string how_;
};

}  // namespace keyway::inline v1::cuda
