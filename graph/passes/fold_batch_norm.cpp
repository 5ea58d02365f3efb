#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/fold_batch_norm.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::graph {
namespace {

// shift + convolution * scale, where shift and scale have a number for each channel.
struct Affine {
  std::size_t convolution;  // the number of its node
  ValueId shift, scale;
};

class Folder {
 public:
  explicit Folder(const Graph& graph) : graph_(graph), makers_(graph.values.size()), uses_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for_each_argument(graph.nodes[i], [&](ValueId id) { ++uses_[index(id)]; });
      for_each_result(graph.nodes[i], [&](ValueId id) {
        if (!makers_[index(id)]) makers_[index(id)] = i;
      });
    }
    for_each_left(graph, [&](ValueId id) { ++uses_[index(id)]; });
  }

  Graph folded() {
    result_ = graph_;
    result_.nodes.clear();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::optional<Affine> affine = affine_at(i);
      if (affine)
        add_convolution(*affine, graph_.nodes[i]);
      else
        result_.nodes.push_back(graph_.nodes[i]);
    }
    return eliminate_dead_code(result_);
  }

 private:
  const TensorInfo& info(ValueId id) const { return info_of(graph_, id); }

  std::optional<Affine> affine_at(std::size_t number) const {
    const Node& node = graph_.nodes[number];
    if (node.op->full_name() != "keyway::addcmul" || node.arguments[3].to_scalar() != 1) return {};
    for (const std::size_t product : {1, 2}) {
      const ValueId made = node.arguments[product].to_int();
      const std::optional<std::size_t> maker = makers_[index(made)];
      const Affine affine{maker.value_or(0), node.arguments[0].to_int(), node.arguments[3 - product].to_int()};
      if (maker && is_convolution(*maker, number) && uses_[index(made)] == 1 &&
          info(node.results[0].to_int()) == info(made) && is_of_channels(affine.shift, info(made)) &&
          is_of_channels(affine.scale, info(made)))
        return affine;
    }
    return {};
  }

  // Whether the node convolves what is the same still at a later node.
  bool is_convolution(std::size_t number, std::size_t later) const {
    const Node& node = graph_.nodes[number];
    if (node.op->full_name() != "keyway::convolution" || node.arguments[6].to_bool()) return false;
    if (info(node.arguments[1].to_int()).sizes.empty()) return false;
    bool is_same = true;
    for (std::size_t i = number + 1; i < later; ++i) {
      for_each_written(graph_.nodes[i], [&](ValueId written) {
        for_each_argument(
            node, [&](ValueId id) { is_same = is_same && memory_of(graph_, id) != memory_of(graph_, written); });
      });
    }
    return is_same;
  }

  bool is_of_channels(ValueId id, const TensorInfo& images) const {
    const TensorInfo& own = info(id);
    if (images.sizes.size() < 2) return false;
    std::vector<std::int64_t> sizes(images.sizes.size(), 1);
    sizes[1] = images.sizes[1];
    if (own.sizes != sizes && own.sizes != std::vector<std::int64_t>(sizes.begin() + 1, sizes.end())) return false;
    TensorInfo dense(images.dtype, images.device, own.sizes);
    dense.offset = own.offset;
    return own == dense;
  }

  void add_convolution(const Affine& affine, const Node& addcmul) {
    Node node = graph_.nodes[affine.convolution];
    const ValueId weight = node.arguments[1].to_int();
    const std::int64_t channels = info(weight).sizes[0];
    std::vector<std::int64_t> by_channel(info(weight).sizes.size(), 1);
    by_channel[0] = channels;
    const auto seen_as = [&](ValueId id, const std::vector<std::int64_t>& sizes) {
      return add_call(result_, "view", {IValue(id), IValue(sizes)}, addcmul.site);
    };
    const ValueId factor = seen_as(affine.scale, by_channel);
    node.arguments[1] = IValue(add_call(result_, "mul.Tensor", {IValue(weight), IValue(factor)}, addcmul.site));
    const ValueId shift = seen_as(affine.shift, {channels});
    const ValueId scale = seen_as(affine.scale, {channels});
    if (node.arguments[2].is_none())
      node.arguments[2] = IValue(shift);
    else
      node.arguments[2] = IValue(add_call(
          result_, "addcmul", {IValue(shift), node.arguments[2], IValue(scale), addcmul.arguments[3]}, addcmul.site));
    node.results = addcmul.results;
    result_.nodes.push_back(std::move(node));
  }

  const Graph& graph_;
  Graph result_;
  std::vector<std::optional<std::size_t>> makers_;  // of each value: the node, if none is an input
  std::vector<int> uses_;                           // of each value
};

}  // namespace

Graph fold_batch_norm(const Graph& graph) { return Folder(graph).folded(); }

}  // namespace keyway::inline v1::graph
