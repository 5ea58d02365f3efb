#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/functional_sibling.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/passes/geometry.h>
#include <keyway/graph/subgraph.h>

#include <algorithm>
#include <set>

namespace keyway::inline v1::graph {
namespace {

bool meet(const TensorInfo& a, const TensorInfo& b) { return a.offset < reach_of(b) && b.offset < reach_of(a); }

// Follows a graph call by call. "Old" are its values; "new" ones are those of the graph that is made.
class Functionalizer {
 public:
  explicit Functionalizer(const Graph& graph)
      : old_(graph), known_(graph.values.size()), memories_(graph.values.size()), makers_(graph.values.size()) {
    for (const Value& value : graph.values) infos_.push_back(value.info);
    new_.level = graph.level;
    new_.surroundings = graph.surroundings;
  }

  Graph functionalized() {
    add_inputs();
    for (const Node& node : old_.nodes) {
      node_ = &node;
      site_ = node.site;
      if (changes_tensor(*node.op))
        change_tensor();
      else if (node.op->schema().is_mutable())
        add_write_of_call();
      else
        add_call_of_old();
    }
    site_.clear();
    write_back();
    for (const LeafGrad& grad : old_.grads) new_.grads.push_back({current(grad.leaf), current(grad.grad)});
    for (const ValueId output : old_.outputs) new_.outputs.push_back(current(output));
    return eliminate_dead_code(new_);
  }

 private:
  // The new value of an old one, as that was after so many writes to its memory.
  struct Known {
    ValueId id = kNoValue;
    std::uint64_t version = 0;
  };
  // Of an old memory, from the first write to it.
  struct Memory {
    std::uint64_t version = 0;       // how many writes there were
    ValueId whole = kNoValue;        // new; all that lies in it
    std::optional<TensorInfo> info;  // of `whole`
    bool is_of_input = false;
  };
  // The call that made a view, and which of its results that is.
  struct Maker {
    const Node* node = nullptr;
    std::size_t number = 0;
    ValueId base = kNoValue;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    KEYWAY_FAIL(NotImplemented, "functionalize: {}{} {}", node_->op->short_name(), site_.empty() ? "" : " at " + site_,
                why);
  }

  Memory& memory(ValueId old) { return memories_[index(memory_of(old_, old))]; }
  const TensorInfo& info(ValueId old) const { return infos_[index(old)]; }
  const TensorInfo& new_info(ValueId id) const { return graph::info_of(new_, id); }
  bool is_input(ValueId old) const { return std::ranges::find(old_.inputs, old, &Input::value) != old_.inputs.end(); }

  void add_inputs() {
    for (const Input& input : old_.inputs) {
      Known& known = known_[index(input.value)];
      if (known.id == kNoValue) {
        const ValueId first = known_[index(memory_of(old_, input.value))].id;
        known.id = add_value(new_, info(input.value), first);
      }
      memory(input.value).is_of_input = true;
      new_.inputs.push_back(input);
      new_.inputs.back().value = known.id;
    }
    for (Input& input : new_.inputs) {
      if (input.grad_of != kNoValue) input.grad_of = known_[index(input.grad_of)].id;
    }
  }

  // What an old value is now, as a new one.
  ValueId current(ValueId old) {
    if (old == kNoValue) return kNoValue;
    Known& known = known_[index(old)];
    const std::uint64_t version = memory(old).version;
    if (known.version == version) return known.id;
    if (makers_[index(old)].node != nullptr) {
      make_anew(*makers_[index(old)].node);
    } else {
      known = {add_view(new_, memory(old).whole, info(old), site_), version};
    }
    return known.id;
  }
  Stack with_current(const Node& node) {
    return with_values(node.op->schema().arguments(), node.arguments, [this](ValueId old) { return current(old); });
  }

  // The memory of a result of the call, which has been added as far as its arguments: that of its new neighbour.
  ValueId new_memory(const Node& node, ValueId result) const {
    ValueId found = kNoValue;
    const auto look = [&](ValueId old) {
      const ValueId id = known_[index(old)].id;
      if (found == kNoValue && old != result && id != kNoValue && memory_of(old_, old) == memory_of(old_, result))
        found = memory_of(new_, id);
    };
    for_each_argument(node, look);
    if (found == kNoValue) for_each_result(node, look);
    return found;
  }

  // Makes a call of views again, of what they are views of now.
  void make_anew(const Node& node) {
    constexpr int kMostViews = 1000;
    if (depth_ == kMostViews) refuse("writes to what has views of views, 1000 and more");
    Node call = node;
    ++depth_;
    call.arguments = with_current(node);
    --depth_;
    call.results = with_values(node.op->schema().returns(), node.results, [&](ValueId old) {
      if (old == kNoValue) return old;
      const ValueId memory_now = new_memory(node, old);
      const ValueId id = add_value(new_, info(old), memory_now);
      Known& known = known_[index(old)];
      if (known.version != memory(old).version) known = {id, memory(old).version};
      return id;
    });
    new_.nodes.push_back(std::move(call));
  }

  void note_maker(const Node& node) {
    std::size_t count = 0, number = 0;
    ValueId base = kNoValue;
    for_each_argument(node, [&](ValueId old) {
      base = old;
      ++count;
    });
    if (count != 1) return;
    for_each_result(node, [&](ValueId old) {
      if (old != base && memory_of(old_, old) == memory_of(old_, base)) makers_[index(old)] = {&node, number, base};
      ++number;
    });
  }

  // A call that does not write.
  void add_call_of_old() {
    const Node& node = *node_;
    Node call = node;
    call.arguments = with_current(node);
    for (IValue& argument : call.arguments) {
      if (const Subgraph* const nested = subgraph_of(argument))
        argument = IValue(make_intrusive<Subgraph>(functionalize(nested->graph())));
    }
    call.results = with_values(node.op->schema().returns(), node.results, [&](ValueId old) {
      if (old == kNoValue) return old;
      Known& known = known_[index(old)];
      if (known.id == kNoValue) known = {add_value(new_, info(old), new_memory(node, old)), memory(old).version};
      return current(old);  // an argument that it gives back
    });
    new_.nodes.push_back(std::move(call));
    note_maker(node);
  }

  // A tensor gets another geometry: what was made of it is from now on found by where it lies.
  void change_tensor() {
    const Node& node = *node_;
    if (node.op->schema().name() == "detach_") return;  // what is executed has no history
    const OperatorEntry* const view = node.op->info().counterpart;
    const ValueId old = node.arguments[0].is(ValueTag::Int) ? node.arguments[0].to_int() : kNoValue;
    if (view == nullptr || old == kNoValue || is_input(old)) refuse("changes a tensor in place beside its elements");
    const Stack results = add_call(new_, *view, arguments_of(*view, *node.op, with_current(node)), site_);
    known_[index(old)] = {results[0].to_int(), memory(old).version};
    infos_[index(old)] = new_info(results[0].to_int());
    makers_[index(old)] = {};
    for (Maker& maker : makers_) {
      if (maker.base == old) maker = {};
    }
  }

  void add_write_of_call();
  void check_apart() const;
  void resize(ValueId old, ValueId id);
  void write(ValueId old, ValueId id);
  void open(ValueId old);
  void note_write(ValueId old);
  void set_whole(ValueId old, ValueId id);
  void write_back();

  const Graph& old_;
  Graph new_;
  const Node* node_ = nullptr;  // the old call that is looked at
  std::string site_;            // where that was made; empty at the end
  int depth_ = 0;               // of views of views that are made again
  std::vector<Known> known_;    // of each old value
  std::vector<TensorInfo> infos_;
  std::vector<Memory> memories_;  // of each old value that is the first in its memory
  std::vector<Maker> makers_;
  std::set<ValueId> own_;             // new memory that calls gave for what is written, and nothing else refers to
  std::set<ValueId> changed_inputs_;  // old
};

// A call that writes: its functional sibling, whose results are written.
void Functionalizer::add_write_of_call() {
  const Node& node = *node_;
  std::vector<ValueId> targets, written;
  for_each_written(node, [&](ValueId old) { written.push_back(old); });
  if (written.empty()) return;
  const std::optional<FunctionalCall> call = functional_call(new_, *node.op, with_current(node));
  if (!call) refuse("writes to its arguments, and there is no operator that computes the same without");
  check_apart();
  const Stack stack = add_call(new_, *call->op, call->arguments, site_);
  const std::vector<ValueId> results = values_of(call->op->schema().returns(), stack);
  for_each_result(node, [&](ValueId old) {
    if (known_[index(old)].id == kNoValue) targets.push_back(old);
  });
  targets.insert(targets.end(), written.begin(), written.end());
  if (results.size() != targets.size() || std::ranges::find(results, kNoValue) != results.end())
    refuse("writes to other tensors than " + call->op->short_name() + " gives");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const ValueId old = targets[i], id = results[i];
    if (memory_of(new_, id) == id) own_.insert(id);
    if (known_[index(old)].id == kNoValue) {
      if (!same_geometry(info(old), new_info(id)) || info(old).dtype != new_info(id).dtype)
        refuse("gives another tensor than " + call->op->short_name());
      known_[index(old)] = {id, memory(old).version};
      own_.erase(id);
    } else if (info(old).sizes != new_info(id).sizes) {
      resize(old, id);
    } else {
      write(old, id);
    }
  }
}

// Writes happen one after the other, and each may be read by the next: what is written has to be apart.
void Functionalizer::check_apart() const {
  std::vector<std::pair<ValueId, bool>> tensors;
  bool is_of_lists = false;
  const ArgumentList arguments = node_->op->schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    is_of_lists = is_of_lists || (arguments[i].is_write() && arguments[i].type().is(TypeKind::List));
    for_each_value_of(arguments[i], node_->arguments[i],
                      [&](ValueId old) { tensors.emplace_back(old, arguments[i].is_write()); });
  }
  const auto count = std::ranges::count_if(tensors, [](const auto& tensor) { return tensor.second; });
  if (count < 2) return;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool matters =
          is_of_lists ? tensors[i].second || tensors[j].second : tensors[i].second && tensors[j].second;
      const ValueId a = tensors[i].first, b = tensors[j].first;
      if (matters && memory_of(old_, a) == memory_of(old_, b) && meet(info(a), info(b)))
        refuse("writes to several tensors that share memory");
    }
  }
}

// An out= call that gave its result another size: that of the sibling's.
void Functionalizer::resize(ValueId old, ValueId id) {
  const ValueId first = memory_of(old_, old);
  for (std::size_t other = 0; other < known_.size(); ++other) {
    if (memory_of(old_, static_cast<ValueId>(other)) == first && static_cast<ValueId>(other) != old &&
        known_[other].id != kNoValue)
      refuse("gives another size to a tensor that shares memory");
  }
  if (is_input(old)) refuse("gives another size to an input");
  if (info(old).dtype != new_info(id).dtype || !own_.contains(memory_of(new_, id)))
    id = add_call(new_, "_to_copy", {IValue(id), IValue(info(old).dtype)}, site_);
  own_.erase(memory_of(new_, id));
  Memory& target = memory(old);
  infos_[index(old)] = new_info(id);
  target.whole = id;
  target.info = new_info(id);
  known_[index(old)] = {id, ++target.version};
}

// All that lies in the memory, before the first write to it.
void Functionalizer::open(ValueId old) {
  Memory& target = memory(old);
  if (target.info) return;
  const ValueId first = memory_of(old_, old);
  std::int64_t end = 0;
  for (std::size_t other = 0; other < old_.values.size(); ++other) {
    if (old_.values[other].memory != first) continue;
    if (infos_[other].dtype != info(first).dtype) refuse("writes to memory in which tensors of several dtypes lie");
    end = std::max(end, reach_of(infos_[other]));
  }
  const TensorInfo& base = info(first);
  if (base.offset == 0 && reach_of(base) == end &&
      is_non_overlapping_and_dense(IntArrayRef(base.sizes), IntArrayRef(base.strides))) {
    target.whole = current(first);
    target.info = base;
    return;
  }
  target.info = TensorInfo(base.dtype, base.device, {end});
  target.whole = add_view(new_, current(first), *target.info, site_);
}

// Which inputs a write changes. Elements of their memory beside them could not be written back.
void Functionalizer::note_write(ValueId old) {
  if (!memory(old).is_of_input) return;
  for (const Input& input : old_.inputs) {
    if (memory_of(old_, input.value) == memory_of(old_, old) && meet(info(input.value), info(old)))
      changed_inputs_.insert(input.value);
  }
  ValueId base = old;
  while (!is_input(base)) {
    const Maker& maker = makers_[index(base)];
    if (maker.node == nullptr || maker.node->op->info().name == "keyway::as_strided") break;
    base = maker.base;
  }
  const bool is_within = is_input(base) || std::ranges::any_of(old_.inputs, [&](const Input& input) {
                           const TensorInfo& its = info(input.value);
                           return memory_of(old_, input.value) == memory_of(old_, old) &&
                                  its.offset <= info(base).offset && reach_of(info(base)) <= reach_of(its) &&
                                  is_non_overlapping_and_dense(IntArrayRef(its.sizes), IntArrayRef(its.strides));
                         });
  if (!is_within) refuse("writes to memory of an input beside its elements");
}

// From now on the elements of an old value are those of a new one.
void Functionalizer::write(ValueId old, ValueId id) {
  if (reach_of(info(old)) == 0) return;
  if (info(old).dtype != new_info(id).dtype) {
    id = add_call(new_, "_to_copy", {IValue(id), IValue(info(old).dtype)}, site_);
    own_.insert(id);
  }
  open(old);
  note_write(old);
  Memory& target = memory(old);
  const ValueId first = memory_of(old_, old);
  ValueId part = old;
  while (!same_geometry(info(part), *target.info) && makers_[index(part)].node != nullptr) {
    const Maker maker = makers_[index(part)];
    // Of elements that are one in memory, all would have to be written.
    const TensorInfo& base = info(maker.base);
    if (overlaps_itself(IntArrayRef(base.sizes), IntArrayRef(base.strides))) break;
    const std::optional<ValueId> up = add_inverse(new_, *maker.node, maker.number, current(maker.base), id);
    if (!up) break;
    id = *up;
    part = maker.base;
    if (memory_of(new_, id) == id) own_.insert(id);
  }
  if (!same_geometry(info(part), *target.info)) {
    const TensorInfo row(target.info->dtype, target.info->device, {reach_of(*target.info)});
    const ValueId all = same_geometry(row, *target.info) ? target.whole : add_view(new_, target.whole, row, site_);
    id = add_scattered(new_, all, id, info(part), site_);
    own_.insert(memory_of(new_, id));
    if (!same_geometry(row, *target.info)) id = add_view(new_, id, *target.info, site_);
  }
  set_whole(first, id);
}

void Functionalizer::set_whole(ValueId first, ValueId id) {
  Memory& target = memory(first);
  // It may lie otherwise, or in memory of others.
  if (own_.erase(memory_of(new_, id)) == 0 || !same_geometry(new_info(id), *target.info))
    id = add_copy(new_, id, *target.info, site_);
  target.whole = id;
  ++target.version;
  if (same_geometry(info(first), *target.info)) known_[index(first)] = {id, target.version};
}

// What the program wrote to inputs, to these; what else lies in their memory is from then on a view of them.
void Functionalizer::write_back() {
  std::vector<std::pair<ValueId, ValueId>> changes;  // new: inputs, and what they become
  std::set<ValueId> written;                         // old: first values in memory
  for (std::size_t i = 0; i < old_.inputs.size(); ++i) {
    const ValueId old = old_.inputs[i].value;
    if (memory(old).version != 0) written.insert(memory_of(old_, old));
    if (changed_inputs_.erase(old) != 0) changes.emplace_back(new_.inputs[i].value, current(old));
  }
  const OperatorEntry& copy = Dispatcher::singleton().op("copy_").entry();
  for (const auto& [input, becomes] : changes)
    new_.nodes.push_back({&copy, {IValue(input), IValue(becomes), IValue(false)}, {IValue(input)}});
  for (const ValueId first : written) ++memories_[index(first)].version;
  for (std::size_t i = 0; i < old_.inputs.size(); ++i) {
    const ValueId old = old_.inputs[i].value;
    if (!written.contains(memory_of(old_, old))) continue;
    known_[index(old)] = {new_.inputs[i].value, memory(old).version};
    memory(old).whole = new_.inputs[i].value;
  }
}

}  // namespace

Graph functionalize(const Graph& graph) {
  KEYWAY_CHECK(graph.level == Level::Executed,
               "functionalize: the graph is of a program as it is written: capture what is executed");
  return Functionalizer(graph).functionalized();
}

}  // namespace keyway::inline v1::graph
