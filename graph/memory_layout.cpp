#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/memory_layout.h>
#include <keyway/graph/node_values.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kAlignment = 64;
// Orders beside that of time are tried until each lifetime has been compared with so many others: time grows as graphs
// do, not with their square.
constexpr std::size_t kMostLooks = 1024;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// In that order, each at the lowest place that no other one needs at the same time. Counts down `looks` at others;
// false if they do not suffice.
bool place_in_order(const std::vector<Lifetime>& lifetimes, const std::vector<std::size_t>& order, ArenaLayout& layout,
                    std::size_t& looks) {
  layout.offsets.assign(lifetimes.size(), 0);
  layout.bytes = 0;
  std::vector<std::size_t> placed;  // by their offsets
  const bool is_by_begin = std::ranges::is_sorted(order, {}, [&](std::size_t n) { return lifetimes[n].first; });
  for (const std::size_t number : order) {
    const Lifetime& own = lifetimes[number];
    // In the order of time, what has ended meets none of those that follow.
    if (is_by_begin) std::erase_if(placed, [&](std::size_t other) { return lifetimes[other].last < own.first; });
    if (!is_by_begin && looks < placed.size()) return false;
    looks -= std::min(looks, placed.size());
    const std::size_t bytes = aligned(own.bytes);
    std::size_t at = 0;
    for (const std::size_t other : placed) {
      if (!meet(lifetimes[other], own)) continue;
      if (layout.offsets[other] >= at + bytes) break;
      at = std::max(at, layout.offsets[other] + aligned(lifetimes[other].bytes));
    }
    layout.offsets[number] = at;
    layout.bytes = std::max(layout.bytes, at + bytes);
    placed.insert(std::ranges::upper_bound(placed, at, {}, [&](std::size_t n) { return layout.offsets[n]; }), number);
  }
  return true;
}

// The most bytes that are needed at one node.
std::size_t most_live(const std::vector<Lifetime>& lifetimes) {
  std::size_t nodes = 0;
  for (const Lifetime& own : lifetimes) nodes = std::max(nodes, own.bytes == 0 ? 0 : own.last + 1);
  std::vector<std::size_t> begins(nodes + 1), ends(nodes + 1);
  for (const Lifetime& own : lifetimes) {
    if (own.bytes == 0) continue;
    begins[own.first] += own.bytes;
    ends[own.last + 1] += own.bytes;
  }
  std::size_t live = 0, most = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    live += begins[node] - ends[node];
    most = std::max(most, live);
  }
  return most;
}

}  // namespace

ArenaLayout lay_out(const std::vector<Lifetime>& lifetimes) {
  ArenaLayout best;
  best.offsets.resize(lifetimes.size());
  best.live_bytes = most_live(lifetimes);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].bytes != 0) order.push_back(i);
  }
  using Key = std::size_t (*)(const Lifetime&);
  constexpr Key kLength = [](const Lifetime& own) { return own.last - own.first + 1; };
  constexpr Key kArea = [](const Lifetime& own) { return (own.last - own.first + 1) * own.bytes; };
  constexpr Key kBytes = [](const Lifetime& own) { return own.bytes; };
  constexpr Key kBegin = [](const Lifetime& own) { return ~own.first; };
  const auto is_tight = [&] { return best.bytes != 0 && best.bytes <= best.live_bytes + best.live_bytes / 64; };
  ArenaLayout layout = best;
  std::size_t looks = kMostLooks * order.size();
  bool suffices = true;
  const auto is_done = [&] { return is_tight() || order.empty() || !suffices; };
  const auto try_order = [&] {
    suffices = place_in_order(lifetimes, order, layout, looks);
    if (!suffices) return;
    if (best.bytes == 0 || layout.bytes < best.bytes) best = layout;
  };
  // No order is the best one for all graphs, and each takes less time than a call.
  const auto try_greatest_first = [&](Key key) {
    if (is_done()) return;
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return key(lifetimes[a]) > key(lifetimes[b]); });
    try_order();
  };
  for (const Key key : {kBegin, kLength, kArea, kBytes}) try_greatest_first(key);
  // What lies on top is placed first then.
  for (int round = 0; round < 32 && !is_done(); ++round) {
    const auto end = [&](std::size_t i) { return layout.offsets[i] + lifetimes[i].bytes; };
    const auto top = std::ranges::max_element(order, {}, end);
    std::rotate(order.begin(), top, top + 1);
    try_order();
  }
  return best;
}

std::vector<std::size_t> memory_bytes(const Graph& graph) {
  std::vector<std::size_t> bytes(graph.values.size());
  for (const auto& [info, memory] : graph.values) {
    std::size_t& own = bytes[static_cast<std::size_t>(memory)];
    own = std::max(own, checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype)));
  }
  return bytes;
}

std::vector<std::size_t> written_inputs(const Graph& graph) {
  std::vector<bool> is_written = written_memories(graph);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::size_t memory = index(memory_of(graph, graph.inputs[i].value));
    if (is_written[memory]) numbers.push_back(i);
    is_written[memory] = false;
  }
  return numbers;
}

std::vector<Lifetime> lifetimes_of(const Graph& graph) {
  std::vector<Lifetime> lifetimes(graph.values.size(), {0, ~std::size_t{0}, 0});
  const auto memory_of = [&](ValueId id) {
    return static_cast<std::size_t>(graph.values[static_cast<std::size_t>(id)].memory);
  };
  const std::vector<std::size_t> bytes = memory_bytes(graph);
  for (std::size_t memory = 0; memory < bytes.size(); ++memory) lifetimes[memory].bytes = bytes[memory];
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
  for (Lifetime& lifetime : lifetimes) {
    if (lifetime.first > lifetime.last) lifetime.bytes = 0;  // no call has it
  }
  return lifetimes;
}

}  // namespace keyway::inline v1::graph
