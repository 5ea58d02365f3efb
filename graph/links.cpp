#include <keyway/core/dtype/scalar_type.h>
#include <keyway/graph/links.h>
#include <keyway/graph/node_values.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

bool has(const std::vector<ValueId>& ids, ValueId id) { return std::ranges::find(ids, id) != ids.end(); }

void add(std::vector<ValueId>& ids, ValueId id) {
  if (!has(ids, id)) ids.push_back(id);
}

// Walks through a graph and knows who has last made or written what.
class Linker {
 public:
  explicit Linker(const Graph& graph)
      : graph_(graph), maker_(graph.values.size(), kNobody), writer_(graph.values.size(), kNobody) {}

  std::vector<Link> links() {
    std::size_t item = 0;
    for (const Input& input : graph_.inputs) {
      // What lies in the memory of an earlier input needs nothing of it.
      if (maker_of(input.value) == kNobody) maker_of(input.value) = item;
      if (writer_of(input.value) == kNobody) writer_of(input.value) = item;
      ++item;
    }
    for (const Node& node : graph_.nodes) {
      const CallValues values(node);
      for (const ValueId id : values.given) use(id, item);
      for (const ValueId id : values.made) {
        maker_of(id) = item;
        if (memory_of(graph_, id) == id) writer_of(id) = item;
      }
      for (const ValueId id : values.written) maker_of(id) = writer_of(id) = item;
      ++item;
    }
    for (const LeafGrad& grad : graph_.grads) use(grad.grad, item++);
    for (const ValueId output : graph_.outputs) use(output, item++);
    return std::move(links_);
  }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  std::size_t& maker_of(ValueId id) { return maker_[index(id)]; }
  std::size_t& writer_of(ValueId id) { return writer_[index(memory_of(graph_, id))]; }

  void use(ValueId id, std::size_t item) {
    if (id == kNoValue) return;
    const std::size_t maker = maker_of(id), writer = writer_of(id);
    if (maker != kNobody) links_.push_back({maker, item, id, false});
    const bool is_later = writer != kNobody && (maker == kNobody || writer > maker);
    if (is_later && writer >= graph_.inputs.size()) links_.push_back({writer, item, id, true});
  }

  const Graph& graph_;
  std::vector<std::size_t> maker_;   // of each value: the item that made it, or has last written to it
  std::vector<std::size_t> writer_;  // of each memory, to any part of it
  std::vector<Link> links_;
};

}  // namespace

CallValues::CallValues(const Node& node) {
  for_each_argument(node, [&](ValueId id) { add(given, id); });
  for_each_written(node, [&](ValueId id) { add(written, id); });
  for_each_result(node, [&](ValueId id) {
    if (!has(given, id)) add(made, id);
  });
}

CallKind kind_of(const Graph& graph, const Node& node) {
  const CallValues values(node);
  if (!values.written.empty()) return CallKind::Write;
  const bool is_view = std::ranges::all_of(values.made, [&](ValueId made) {
    return std::ranges::any_of(values.given,
                               [&](ValueId given) { return memory_of(graph, given) == memory_of(graph, made); });
  });
  if (is_view && !values.given.empty()) return CallKind::View;
  return node.op->has_tag("pointwise") ? CallKind::Pointwise : CallKind::Other;
}

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::View: return "view";
    case CallKind::Write: return "write";
    case CallKind::Pointwise: return "pointwise";
    case CallKind::Other: break;
  }
  return "other";
}

double bytes_of(const TensorInfo& info) {
  auto bytes = static_cast<double>(element_size(info.dtype));  // sizes of a text may be beyond all integers
  for (std::size_t i = 0; i < info.sizes.size(); ++i) {
    if (info.strides[i] != 0 || info.sizes[i] == 0) bytes *= static_cast<double>(info.sizes[i]);
  }
  return bytes;
}

double bytes_moved(const Graph& graph, const Node& node) {
  if (kind_of(graph, node) == CallKind::View) return 0;
  const CallValues values(node);
  double bytes = 0;
  const auto count = [&](ValueId id) { bytes += bytes_of(info_of(graph, id)); };
  std::ranges::for_each(values.given, count);
  std::ranges::for_each(values.made, count);
  std::ranges::for_each(values.written, count);
  return bytes;
}

std::vector<Link> links_of(const Graph& graph) { return Linker(graph).links(); }

}  // namespace keyway::inline v1::graph
