#include <keyway/backends/cuda/graph/pointwise_call.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/node_values.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::TensorInfo;
using graph::ValueId;

namespace {

// The functor of each overload, in place and with out= too, by the operator.
std::map<const OperatorEntry*, const FunctorInfo*> all_functors() {
  std::map<const OperatorEntry*, const FunctorInfo*> all;
  const auto add = [&](std::string_view name, const FunctorInfo& info) {
    if (const auto op = Dispatcher::singleton().find_op(name)) all[&op->entry()] = &info;
  };
  for (std::size_t i = 0; i < kFunctorCount; ++i) {
    const FunctorInfo& info = kFunctors[i];
    add(info.op, info);
    const auto op = Dispatcher::singleton().find_op(info.op);
    if (!op) continue;
    std::string_view others = op->entry().info().served_too;
    while (!others.empty()) {
      const std::size_t end = std::min(others.find(' '), others.size());
      add("keyway::" + std::string(others.substr(0, end)), info);
      others.remove_prefix(std::min(end + 1, others.size()));
    }
  }
  return all;
}

const FunctorInfo* functor_of(const OperatorEntry& op) {
  static const auto& all = *new std::map(all_functors());
  const auto found = all.find(&op);
  return found == all.end() ? nullptr : found->second;
}

bool is_computed_in(ScalarType dtype) {
  return dtype == kFloat || dtype == kDouble || dtype == kHalf || dtype == kBFloat16;
}

// Nothing for a value that no kernel is told of.
std::optional<PointwiseCall::Member> member(const FunctorMember& of, const IValue& value) {
  using Kind = PointwiseCall::Member::Kind;
  if (value.is_none()) return PointwiseCall::Member{Kind::None, of.is_operand, {}, {}};
  if (value.is(ValueTag::String)) return PointwiseCall::Member{Kind::Text, of.is_operand, {}, value.to_string_ref()};
  if (value.is(ValueTag::Double))
    return PointwiseCall::Member{Kind::Number, of.is_operand, {value.to_double(), 0, false}, {}};
  if (value.is(ValueTag::Int)) return PointwiseCall::Member{Kind::Number, of.is_operand, {0, value.to_int(), true}, {}};
  if (value.is(ValueTag::Bool))
    return PointwiseCall::Member{Kind::Number, of.is_operand, {0, value.to_bool() ? 1 : 0, true}, {}};
  return std::nullopt;
}

// Whether just these sizes are what the operands broadcast to. Those of an out= tensor need not be, which is resized.
bool broadcast_to(const Graph& graph, const std::vector<ValueId>& operands, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> all;  // from the last dimension to the first
  for (const ValueId id : operands) {
    const std::vector<std::int64_t>& own = info_of(graph, id).sizes;
    if (own.size() > all.size()) all.resize(own.size(), 1);
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::int64_t size = own[own.size() - 1 - d];
      if (size == 1 || size == all[d]) continue;
      if (all[d] != 1) return false;
      all[d] = size;
    }
  }
  return std::equal(all.begin(), all.end(), sizes.rbegin(), sizes.rend());
}

bool has_fusible_size(const TensorInfo& info) {
  std::int64_t numel = 1;
  for (const std::int64_t size : info.sizes) {
    if (size == 0 || numel > std::numeric_limits<std::int32_t>::max() / size) return false;
    numel *= size;
  }
  return true;
}

// Fills in what the arguments say; false if the call is none for a kernel.
bool take_arguments(const Graph& graph, const Node& node, PointwiseCall& call) {
  const FunctorInfo& functor = *call.functor;
  const ArgumentList arguments = node.op->schema().arguments();
  const bool has_out = !arguments.empty() && arguments[arguments.size() - 1].is_write() && arguments.size() > 1 &&
                       arguments[arguments.size() - 1].is_kwarg_only();
  for (std::size_t i = 0; i < arguments.size() - (has_out ? 1 : 0); ++i) {
    if (!arguments[i].type().is(TypeKind::Tensor)) continue;
    if (!node.arguments[i].is(ValueTag::Int)) return false;
    const ValueId id = node.arguments[i].to_int();
    if (id == kNoValue) return false;
    const ScalarType dtype = info_of(graph, id).dtype;
    if (static_cast<int>(i) == functor.loop_tensor) call.dtype = dtype;
    call.operands.push_back(id);
  }
  std::size_t operand = 0;
  for (std::size_t i = 0; i < arguments.size() - (has_out ? 1 : 0); ++i) {
    if (!arguments[i].type().is(TypeKind::Tensor)) continue;
    const ScalarType dtype = info_of(graph, call.operands[operand++]).dtype;
    if ((functor.promoted >> i & 1) != 0 ? dtype != call.dtype : !is_computed_in(dtype) && dtype != kBool) return false;
  }
  for (const FunctorMember& each : functor.members) {
    if (each.argument < 0) break;
    std::optional<PointwiseCall::Member> given = member(each, node.arguments[static_cast<std::size_t>(each.argument)]);
    if (!given) return false;
    call.members.push_back(std::move(*given));
  }
  return is_computed_in(call.dtype);
}

}  // namespace

std::optional<PointwiseCall> pointwise_call(const Graph& graph, const Node& node) {
  const FunctorInfo* const functor = functor_of(*node.op);
  if (functor == nullptr) return std::nullopt;
  PointwiseCall call{functor, ScalarType::Undefined, {}, {}, kNoValue};
  if (!take_arguments(graph, node, call)) return std::nullopt;
  std::size_t results = 0;
  for_each_result(node, [&](ValueId id) {
    call.result = id;
    ++results;
  });
  if (results != 1) return std::nullopt;
  const TensorInfo& result = info_of(graph, call.result);
  if ((result.dtype != call.dtype && result.dtype != kBool) || !has_fusible_size(result)) return std::nullopt;
  for (const ValueId id : call.operands) {
    if (info_of(graph, id).device != result.device) return std::nullopt;
  }
  if (!broadcast_to(graph, call.operands, result.sizes)) return std::nullopt;
  return call;
}

namespace {

// Makes the groups, call by call.
class Grouping {
 public:
  explicit Grouping(const Graph& graph) : graph_(graph), needed_until_(graph.values.size(), 0) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto use = [&](ValueId id) { needed_until_[graph::index(memory_of(graph_, id))] = i; };
      for_each_argument(graph.nodes[i], use);
    }
    const auto keep = [&](ValueId id) { needed_until_[graph::index(memory_of(graph_, id))] = graph.nodes.size(); };
    for (const graph::Input& input : graph.inputs) {
      if (input.value != kNoValue) keep(input.value);
    }
    for (const ValueId id : graph.outputs) {
      if (id != kNoValue) keep(id);
    }
  }

  std::vector<PointwiseGroup> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::optional<PointwiseCall> call = pointwise_call(graph_, graph_.nodes[i]);
      if (call && fits(i, *call)) {
        add(i, std::move(*call));
        continue;
      }
      finish();
      if (call && fits(i, *call)) add(i, std::move(*call));
    }
    finish();
    return std::move(groups_);
  }

 private:
  // Whether the kernel may make this call too, after those of the group.
  bool fits(std::size_t node, const PointwiseCall& call) const {
    const TensorInfo& info = info_of(graph_, call.result);
    if (!group_.calls.empty()) {
      const TensorInfo& first = info_of(graph_, group_.calls.front().result);
      if (first.sizes != info.sizes || first.device != info.device) return false;
    }
    return has_room(node, call) &&
           std::ranges::all_of(call.operands, [&](ValueId id) { return id == call.result || may_read(call, id); }) &&
           may_write(call.result);
  }

  bool has_room(std::size_t node, const PointwiseCall& call) const {
    std::set<ValueId> read(group_.read.begin(), group_.read.end()), written;
    for (const ValueId id : call.operands) {
      if (!values_.contains(id)) read.insert(id);
    }
    const auto count = [&](ValueId id) {
      if (needed_until_[graph::index(memory_of(graph_, id))] > node) written.insert(id);
    };
    for (const PointwiseCall& other : group_.calls) count(other.result);
    count(call.result);
    return read.size() + written.size() <= FusedArguments::kMostOperands &&
           numbers_ + call.members.size() <= FusedArguments::kMostNumbers;
  }

  bool may_read(const PointwiseCall& call, ValueId id) const {
    if (memory_of(graph_, id) == memory_of(graph_, call.result)) return false;
    const auto place = places_.find(memory_of(graph_, id));
    return place == places_.end() || !place->second.is_written || place->second.value == id;
  }

  bool may_write(ValueId id) const {
    const auto place = places_.find(memory_of(graph_, id));
    return place == places_.end() || (place->second.value == id && !place->second.is_several);
  }

  void add(std::size_t node, PointwiseCall call) {
    if (group_.calls.empty()) group_.first = node;
    const auto see = [&](ValueId id, bool writes) {
      values_.insert(id);
      Place& place = places_.try_emplace(memory_of(graph_, id), Place{id}).first->second;
      place.is_several = place.is_several || place.value != id;
      place.is_written = place.is_written || writes;
    };
    for (const ValueId id : call.operands) {
      if (!values_.contains(id)) group_.read.push_back(id);
      see(id, false);
    }
    see(call.result, true);
    numbers_ += call.members.size();
    group_.calls.push_back(std::move(call));
  }

  void finish() {
    if (group_.calls.size() > 1) {
      const std::size_t last = group_.first + group_.calls.size() - 1;
      std::set<ValueId> written;
      for (const PointwiseCall& call : group_.calls) {
        const bool is_needed = needed_until_[graph::index(memory_of(graph_, call.result))] > last;
        if (is_needed && written.insert(call.result).second) group_.written.push_back(call.result);
      }
      if (!group_.written.empty()) groups_.push_back(std::move(group_));
    }
    group_ = {};
    values_.clear();
    places_.clear();
    numbers_ = 0;
  }

  struct Place {
    ValueId value;
    bool is_several = false;  // values lie there
    bool is_written = false;
  };

  const Graph& graph_;
  std::vector<std::size_t> needed_until_;  // by memory: the last node that takes it
  std::vector<PointwiseGroup> groups_;
  PointwiseGroup group_;  // that is being made
  std::set<ValueId> values_;
  std::map<ValueId, Place> places_;  // by memory
  std::size_t numbers_ = 0;
};

}  // namespace

std::vector<PointwiseGroup> pointwise_groups(const Graph& graph) { return Grouping(graph).run(); }

}  // namespace keyway::inline v1::cuda
