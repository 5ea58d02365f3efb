// Program: the calls of a graph, made one after the other, of which some may be one kernel. Internal to
// backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/graph/driver_module.h>
#include <keyway/backends/cuda/graph/pointwise_call.h>

#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

class Program {
 public:
  explicit Program(const graph::Graph& graph);

  const graph::Graph& graph() const { return graph_; }

  // Has NVRTC make a kernel of each group of pointwise calls, for a device that the thread has made current by
  // set_device(). A group that it makes none of stays calls; all do with KEYWAY_CUDA_FUSION=0. Requires: no stream of
  // this thread is being captured.
  void fuse(Device device);
  // "12 calls, 9 of them in 2 fused kernels", and why not all groups are, if they are not.
  std::string description() const;

  // The outputs, with all effects, in the current stream; by kernels where there are any, or all by calls. By calls it
  // is run by several threads at once, also while kernels are made.
  enum class By { Calls, Kernels };
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, By by) const;

 private:
  struct Group {
    PointwiseGroup calls;
    std::shared_ptr<const DriverModule> kernel;  // null: calls
  };

  void call(const graph::Node& node, std::vector<Tensor>& values) const;
  // False if the kernel cannot go through where the operands lie, or was made for other sizes than they have by now;
  // then nothing was done.
  bool launch(const Group& group, std::vector<Tensor>& values) const;

  const graph::Graph graph_;
  std::vector<std::vector<graph::ValueId>> ended_;  // after each call, the values that no later one uses
  std::vector<Group> groups_;
  std::string problem_;
};

}  // namespace keyway::inline v1::cuda
