#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/graph/random_arguments.h>

#include <algorithm>
#include <map>

namespace keyway::inline v1::tools {
namespace {

using graph::TensorInfo;
using graph::ValueId;

const graph::Value& value_of(const graph::Graph& graph, ValueId id) {
  return graph.values[static_cast<std::size_t>(id)];
}

// One dimension of random elements, which `bytes` bytes have place in.
Tensor random_row(const TensorInfo& info, std::size_t bytes) {
  const std::size_t size = element_size(info.dtype);
  const auto count = static_cast<std::int64_t>((bytes + size - 1) / size);
  const bool is_fractional = is_floating_point(info.dtype) || is_complex(info.dtype);
  const Tensor row = is_fractional ? rand({count}) : randint(2, {count});
  return row.to(info.dtype).to(info.device);
}

}  // namespace

std::vector<Tensor> random_arguments(const graph::Graph& graph, std::uint64_t seed) {
  manual_seed(seed);
  std::map<ValueId, std::size_t> bytes;  // that arguments reach in each memory
  for (const graph::Input& input : graph.inputs) {
    if (input.is_state && input.state.defined()) continue;
    KEYWAY_CHECK(!input.is_state, "the graph uses state, %{}, which its text does not have: it cannot run by itself",
                 input.value);
    const auto& [info, memory] = value_of(graph, input.value);
    const std::size_t reach = checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype));
    bytes[memory] = std::max(bytes[memory], reach);
  }
  std::map<ValueId, Tensor> rows, tensors;
  std::vector<Tensor> arguments;
  for (const graph::Input& input : graph.inputs) {
    if (input.is_state) continue;
    const auto& [info, memory] = value_of(graph, input.value);
    Tensor& row = rows[memory];
    if (!row.defined()) row = random_row(info, bytes[memory]);
    KEYWAY_CHECK(row.dtype() == info.dtype, "arguments of the dtypes {} and {} share memory", to_string(row.dtype()),
                 to_string(info.dtype));
    Tensor& tensor = tensors[input.value];
    if (!tensor.defined()) {
      tensor = row.as_strided(info.sizes, info.strides, info.offset);
      if (info.requires_grad) tensor = tensor.detach().requires_grad_();
    }
    arguments.push_back(tensor);
  }
  return arguments;
}

}  // namespace keyway::inline v1::tools
