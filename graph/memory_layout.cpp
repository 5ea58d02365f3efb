#include <keyway/graph/memory_layout.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The bytes from the start of its memory to the end of a tensor.
std::size_t end_of(const TensorInfo& info) {
  std::int64_t last = info.offset;
  for (std::size_t i = 0; i < info.sizes.size(); ++i) {
    if (info.sizes[i] == 0) return 0;
    last += (info.sizes[i] - 1) * info.strides[i];
  }
  return static_cast<std::size_t>(last + 1) * element_size(info.dtype);
}

}  // namespace

ArenaLayout lay_out(const std::vector<Lifetime>& lifetimes) {
  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<std::size_t> placed;  // by their offsets
  for (const std::size_t number : order) {
    const Lifetime& own = lifetimes[number];
    if (own.bytes == 0) continue;
    std::size_t at = 0;
    for (const std::size_t other : placed) {
      const bool meet = lifetimes[other].first <= own.last && own.first <= lifetimes[other].last;
      if (!meet) continue;
      if (layout.offsets[other] >= at + aligned(own.bytes)) break;
      at = std::max(at, layout.offsets[other] + aligned(lifetimes[other].bytes));
    }
    layout.offsets[number] = at;
    layout.bytes = std::max(layout.bytes, at + aligned(own.bytes));
    placed.insert(std::ranges::upper_bound(placed, at, {}, [&](std::size_t n) { return layout.offsets[n]; }), number);
  }
  std::size_t nodes = 0;
  for (const Lifetime& own : lifetimes) nodes = std::max(nodes, own.bytes == 0 ? 0 : own.last + 1);
  std::vector<std::size_t> begins(nodes + 1), ends(nodes + 1);
  for (const Lifetime& own : lifetimes) {
    if (own.bytes == 0) continue;
    begins[own.first] += own.bytes;
    ends[own.last + 1] += own.bytes;
  }
  std::size_t live = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    live += begins[node] - ends[node];
    layout.live_bytes = std::max(layout.live_bytes, live);
  }
  return layout;
}

std::vector<Lifetime> lifetimes_of(const Graph& graph) {
  std::vector<Lifetime> lifetimes(graph.values.size(), {0, ~std::size_t{0}, 0});
  const auto memory_of = [&](ValueId id) {
    return static_cast<std::size_t>(graph.values[static_cast<std::size_t>(id)].memory);
  };
  for (const Value& value : graph.values) {
    std::size_t& bytes = lifetimes[static_cast<std::size_t>(value.memory)].bytes;
    bytes = std::max(bytes, end_of(value.info));
  }
  for (const Input& input : graph.inputs) lifetimes[memory_of(input.value)].bytes = 0;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const auto use = [&](ValueId id) {
      if (id == kNoValue) return;
      Lifetime& lifetime = lifetimes[memory_of(id)];
      lifetime.first = std::min(lifetime.first, node);
      lifetime.last = std::max(lifetime.last, node);
    };
    for_each_value(graph.nodes[node].op->schema().arguments(), graph.nodes[node].arguments, use);
    for_each_value(graph.nodes[node].op->schema().returns(), graph.nodes[node].results, use);
  }
  return lifetimes;
}

}  // namespace keyway::inline v1::graph
