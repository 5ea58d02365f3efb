// PointwiseCall: a call of a graph that can be a part of a kernel with others. Internal to backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/graph/device/fused_arguments.h>
#include <keyway/backends/cuda/graph/functors.h>
#include <keyway/graph/graph.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

struct PointwiseCall {
  // What a member of the functor is given: a number, a text, or nothing, where the argument is None.
  struct Member {
    enum class Kind : std::uint8_t { None, Number, Text } kind;
    bool is_operand;
    FusedNumber number;
    std::string text;
  };

  const FunctorInfo* functor;
  ScalarType dtype;  // that it is instantiated for
  std::vector<Member> members;
  std::vector<graph::ValueId> operands;  // in the order of the functor's arguments
  graph::ValueId result;
};

// The call that a node is; nothing if it is none, or one that converts operands first, computes in other dtypes than
// float32, float64, float16 and bfloat16, gives a tensor of other sizes than its operands broadcast to, as one does
// that resizes its out= tensor, or has more than 2^31 elements or none.
std::optional<PointwiseCall> pointwise_call(const graph::Graph& graph, const graph::Node& node);

// Calls of one kernel, in their order, and what it reads and writes. No memory that it writes to is read as another
// value, so that an element is read and written at one place.
struct PointwiseGroup {
  std::size_t first = 0;  // the number of the node of the first call
  std::vector<PointwiseCall> calls;
  std::vector<graph::ValueId> read;     // made by no call of the group
  std::vector<graph::ValueId> written;  // that something needs after the group
};

// All groups of two calls and more of a graph: calls that follow one another and give one size.
std::vector<PointwiseGroup> pointwise_groups(const graph::Graph& graph);

}  // namespace keyway::inline v1::cuda
