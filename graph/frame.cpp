#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/storage_listener.h>
#include <keyway/dispatch/call/backend_kernel.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/leave_boxed_op.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/frame.h>
#include <keyway/graph/meta_calls.h>
#include <keyway/graph/plain_calls.h>
#include <keyway/graph/section_layout.h>

#include <algorithm>
#include <set>

namespace keyway::inline v1::graph {
namespace {

// Whether an element of one lies in its memory where that of the other lies in its own.
bool lie_alike(const Graph& graph, ValueId a, ValueId b) {
  const TensorInfo &x = info_of(graph, a), &y = info_of(graph, b);
  return x.dtype == y.dtype && x.sizes == y.sizes && x.strides == y.strides && x.offset == y.offset;
}

void check_info(const Node& node, const TensorInfo& info, const TensorBase& result) {
  KEYWAY_CHECK(result.defined() && info.is_of(result), "{} gives {}, but gave {} in the capture", node.op->short_name(),
               result.defined() ? to_string(TensorInfo(result)) : "no tensor", info);
}

}  // namespace

Frame::Frame(const Graph& graph, const std::vector<Tensor>& inputs, std::vector<Tensor>& results)
    : graph_(graph),
      bytes_(memory_bytes(graph)),
      is_written_(written_memories(graph)),
      lifetimes_(lifetimes_of(graph)),
      written_inputs_(written_inputs(graph)),
      results_(graph, tensors_),
      nothing_(make_storage(0, DeviceType::CPU)) {
  const NoSharing own;
  make_tensors(inputs);
  place_inputs(inputs);
  for (const Node& node : graph.nodes) learn(node);
  for (Step& step : steps_) ++(step.direct != nullptr ? direct_calls_ : other_calls_);
  note_writes(inputs);
  results = results_.of(inputs);
  find_heirs();
  join_chains();
  drop_heirs();
  for (std::size_t memory = 0; memory < places_.size(); ++memory) {
    if (in_memory_[memory].empty()) continue;
    if (places_[memory] == Place::Output) output_memories_.push_back(static_cast<ValueId>(memory));
    if (places_[memory] == Place::Chain) place(static_cast<ValueId>(memory), nothing_);
  }
  find_sections();
  lay_out_memory();
  release();
  is_learned_ = true;
}

bool Frame::is_fixed() const {
  for (std::size_t id = 0; id < tensors_.size(); ++id) {
    if (!graph_.values[id].info.is_of(tensors_[id])) return false;
  }
  return true;
}

bool Frame::is_current() const {
  return std::ranges::all_of(tables_, [](const auto& each) { return &each.first->table() == each.second; });
}

void Frame::make_tensors(const std::vector<Tensor>& inputs) {
  in_memory_.resize(graph_.values.size());
  makers_.resize(graph_.values.size());
  places_.assign(graph_.values.size(), Place::Arena);
  for (std::size_t id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    const TensorInfo& info = value.info;
    std::int64_t numel = 1;
    for (const std::int64_t size : info.sizes) numel *= size;
    const auto base = make_intrusive<TensorImpl>(nothing_, info.dtype, IntArrayRef(info.sizes),
                                                 IntArrayRef(info.strides), numel, /*contiguous=*/false);
    base->set_geometry(info.sizes, info.strides, info.offset, numel);
    tensors_.emplace_back(base);
    in_memory_[index(value.memory)].push_back(static_cast<ValueId>(id));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    places_[index(memory_of(graph_, graph_.inputs[i].value))] = Place::Input;
  const auto leaves = [&](ValueId id) {
    if (id == kNoValue) return;
    Place& its = places_[index(memory_of(graph_, id))];
    if (its == Place::Arena) its = Place::Output;
  };
  std::ranges::for_each(graph_.outputs, leaves);
  for (const LeafGrad& grad : graph_.grads) leaves(grad.grad);
}

void Frame::place(ValueId memory, const Storage& storage) {
  const bool is_input = places_[index(memory)] == Place::Input;
  if (storage.is_shared() && (!is_input || is_written_[index(memory)])) own_bytes(storage);
  for (const ValueId id : in_memory_[index(memory)]) tensor(id).impl()->set_storage(storage);
}

void Frame::check_room(ValueId memory, const Storage& storage) const {
  KEYWAY_CHECK(storage.nbytes() >= bytes_[index(memory)],
               "what the graph has in the memory of %{} takes {} bytes, and the memory has {}", memory,
               bytes_[index(memory)], storage.nbytes());
}

void Frame::place_inputs(const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i].value;
    if (is_learned_) check_room(memory_of(graph_, id), inputs[i].storage());
    const Storage& storage = inputs[i].storage();
    if (!tensor(id).storage().is_alias_of(storage) || storage.is_shared()) place(memory_of(graph_, id), storage);
  }
}

void Frame::place_outputs() {
  for (const ValueId memory : output_memories_)
    place(memory, make_storage(lifetimes_[index(memory)].bytes, DeviceType::CPU));
}

void Frame::release() {
  for (const Input& input : graph_.inputs) {
    if (!input.is_state || input.grad_of != kNoValue) place(memory_of(graph_, input.value), nothing_);
  }
  for (const ValueId memory : output_memories_) place(memory, nothing_);
  for (const ValueId memory : dynamic_memories_) place(memory, nothing_);
}

void Frame::learn(const Node& node) {
  const FunctionSchema& schema = node.op->schema();
  for_each_result(node, [&](ValueId id) {
    const Node*& maker = makers_[index(id)];
    if (maker == nullptr) maker = &node;
  });
  if (is_view(graph_, node)) return check_view(node);
  tables_.emplace(node.op, &node.op->table());
  if (learn_plain(node)) return;
  Step step{nullptr, &node,
            with_tensors(schema.arguments(), node.arguments, [&](ValueId id) -> TensorBase& { return tensor(id); })};
  Stack results;
  std::vector<Storage> before;
  for_each_written(node, [&](ValueId id) { before.push_back(tensor(id).storage()); });
  step.direct = call_watched(*node.op, step.arguments, results);
  for_each_written(node, [&, memory = before.begin()](ValueId id) mutable {
    KEYWAY_CHECK_AS(NotImplemented, tensor(id).storage().impl() == (memory++)->impl(),
                    "{} puts other memory under a tensor, which a plan does not follow: run the graph call by call",
                    node.op->short_name());
  });
  if (step.direct != nullptr && !use_own_tensors(*step.direct, node, step.arguments, results)) step.direct = nullptr;
  take_results(node, step.arguments, results);
  if (step.direct == nullptr) {
    for_each_result(node, [&](ValueId id) {
      if (makers_[index(id)] != &node) return;  // it wrote to that, and did not make it
      const ValueId memory = memory_of(graph_, id);
      Place& its = places_[index(memory)];
      if (its == Place::Input || its == Place::Dynamic || id != memory) return;
      its = Place::Dynamic;
      dynamic_memories_.push_back(memory);
    });
  }
  steps_.push_back(std::move(step));
}

void Frame::check_view(const Node& node) {
  const FunctionSchema& schema = node.op->schema();
  Stack stack = with_tensors(schema.arguments(), node.arguments, [&](ValueId id) -> TensorBase& { return tensor(id); });
  call_boxed(*node.op, stack);
  graph::take_results(schema.returns(), node.results, stack, [&](ValueId id, const TensorBase& result) {
    const TensorInfo& info = info_of(graph_, id);
    check_info(node, info, result);
    KEYWAY_CHECK(result.is_alias_of(tensor(id)), "{} gives no view of the memory of %{}", node.op->short_name(),
                 memory_of(graph_, id));
  });
}

bool Frame::learn_plain(const Node& node) {
  const std::optional<PlainCall> plain = plain_call(node);
  if (!plain || !node.results[0].is(ValueTag::Int)) return false;
  const ValueId made = node.results[0].to_int();
  // What is not so the call itself will tell.
  if (memory_of(graph_, made) != made || makers_[index(made)] != &node || places_[index(made)] == Place::Input)
    return false;
  TensorInfo info = info_of(graph_, made);
  info.device = Device(DeviceType::Meta);
  check_info(node, info, result_on_meta(node));
  place(made, make_storage(lifetimes_[index(made)].bytes, DeviceType::CPU));
  if (plain->op == nullptr) return true;
  const ArgumentList arguments = plain->op->schema().arguments();
  Step step{nullptr, &node,
            with_tensors(arguments, plain->arguments, [&](ValueId id) -> TensorBase& { return tensor(id); })};
  Stack results;
  step.direct = call_watched(*plain->op, step.arguments, results);
  const Node writes{plain->op, plain->arguments, node.results};
  if (step.direct == nullptr || !use_own_tensors(*step.direct, writes, step.arguments, results)) return false;
  tables_.emplace(plain->op, &plain->op->table());
  steps_.push_back(std::move(step));
  return true;
}

// What a call with one result gives, without data.
TensorBase Frame::result_on_meta(const Node& node) {
  const ArgumentList arguments = node.op->schema().arguments();
  const auto on_meta = [&](ValueId id) {
    const TensorInfo info(tensor(id));
    return meta_tensor(make_storage(tensor(id).storage().nbytes(), Device(DeviceType::Meta)), info);
  };
  Stack stack = with_tensors(arguments, node.arguments, on_meta);
  call_on_meta(*node.op, stack, any_tensor_in(stack, [](const TensorBase& tensor) { return tensor.defined(); }));
  return stack[0].tensor_ref();
}

std::unique_ptr<DirectCall> Frame::call_watched(const OperatorEntry& op, const Stack& arguments, Stack& results) {
  results = arguments;
  const DispatchKeySet keys =
      boxed_call_keys(op, results).remove(Functionality::ADInplaceOrView).remove(Functionality::CopyOnWrite);
  const Table& table = op.table();
  const Table::Found found = table.find(keys);
  const ErasedKernel& kernel = table.kernel(found.kernel);
  const BackendWrapper* const wrapper = op.info().wrapper;
  if (kernel.flags != 0 || wrapper == nullptr || wrapper->spy == nullptr || !wrapper->is_of(kernel)) {
    call_boxed(op, results);
    return nullptr;
  }
  ErasedKernel watched = kernel;
  watched.context = const_cast<void*>(wrapper->spy);
  DirectCallRecording recording(*static_cast<void (*const*)()>(kernel.context));
  watched.boxed(op, watched, found.keys, results);
  return recording.take();
}

// Has the call use the tensors of the frame in the place of those that the wrapper has made. False if it uses others,
// such as converted arguments.
bool Frame::use_own_tensors(DirectCall& call, const Node& node, const Stack& arguments, const Stack& results) {
  std::vector<std::pair<TensorBase, ValueId>> made;
  graph::take_results(node.op->schema().returns(), node.results, results,
                      [&](ValueId id, const TensorBase& result) { made.emplace_back(result, id); });
  for (const DirectCall::TensorSlot& slot : call.tensors()) {
    if (!slot.tensor->defined()) continue;
    const auto is_same = [&](const TensorBase& other) { return other.is_same(*slot.tensor); };
    if (any_tensor_in(arguments, is_same)) continue;
    const auto found = std::ranges::find_if(made, [&](const auto& each) { return is_same(each.first); });
    if (!slot.is_out || found == made.end()) return false;
    *slot.tensor = tensor(found->second);
  }
  return true;
}

void Frame::take_results(const Node& node, const Stack& arguments, const Stack& results) {
  graph::take_results(node.op->schema().returns(), node.results, results, [&](ValueId id, const TensorBase& result) {
    const TensorBase& own = tensor(id);
    if (result.defined() && result.is_same(own)) return;
    check_info(node, info_of(graph_, id), result);
    if (result.is_alias_of(own)) return;
    const auto is_alias = [&](const TensorBase& argument) { return argument.is_alias_of(result); };
    const bool is_first =
        memory_of(graph_, id) == id && makers_[index(id)] == &node && places_[index(id)] != Place::Input;
    KEYWAY_CHECK(is_first && !any_tensor_in(arguments, is_alias),
                 "the memory of what {} gives, %{}, is not as the graph says: it is {}", node.op->short_name(), id,
                 is_first ? "that of an argument" : "new");
    if (is_learned_) check_room(id, result.storage());
    place(id, result.storage());
  });
}

void Frame::note_writes(const std::vector<Tensor>& inputs) const {
  for (const std::size_t number : written_inputs_) {
    inputs[number].storage().impl()->bump_version();
    keyway::note_written(inputs[number].storage());
  }
}

void Frame::lay_out_memory() {
  std::vector<std::size_t> bytes(lifetimes_.size());
  for (std::size_t memory = 0; memory < bytes.size(); ++memory) {
    if (!in_memory_[memory].empty() && places_[memory] == Place::Arena) bytes[memory] = lifetimes_[memory].bytes;
  }
  laid_out_for_ = runner_ != nullptr && runner_->has_parallel() ? runner_ : nullptr;
  const std::vector<Section> sections = laid_out_for_ != nullptr ? runner_->sections() : in_order(steps_.size());
  const std::vector<std::vector<std::size_t>> uses = uses_of_memories(uses_, bytes.size());
  const std::vector<std::size_t> homes = homes_of(heirs_, uses, sections);
  layout_ = lay_out(bytes, homes, uses, sections);
  arena_memory_ = make_storage(layout_.bytes, DeviceType::CPU);
  for (std::size_t memory = 0; memory < bytes.size(); ++memory) {
    if (in_memory_[memory].empty() || places_[memory] != Place::Arena) continue;
    void* const at = static_cast<char*>(arena_memory_.data()) + layout_.offsets[homes[memory]];
    place(static_cast<ValueId>(memory),
          Storage(make_intrusive<StorageImpl>(DataPtr(at, DeviceType::CPU), bytes[memory], false)));
  }
}

std::vector<Chain::Call> Frame::pointwise_calls(std::size_t first) {
  std::vector<Chain::Call> calls;
  for (std::size_t i = first; i < steps_.size() && calls.size() < Chain::kMost; ++i) {
    const Step& step = steps_[i];
    if (step.direct == nullptr || !step.node->op->has_tag("pointwise")) break;
    Chain::Call call{step.direct.get(), step.node->op, {}};
    for (const DirectCall::TensorSlot& slot : step.direct->tensors()) {
      if (slot.is_out && slot.tensor->defined()) call.written.push_back(*slot.tensor);
    }
    if (i == first && !Chain::may_begin(call)) break;
    calls.push_back(std::move(call));
  }
  return calls;
}

std::size_t Frame::number_of(const Step& step) const {
  return static_cast<std::size_t>(step.node - graph_.nodes.data());
}

void Frame::find_heirs() {
  for (const Step& step : steps_) {
    if (step.direct == nullptr || !step.node->op->has_tag("pointwise")) continue;
    const std::size_t number = number_of(step);
    std::vector<ValueId> results, arguments;
    for_each_result(*step.node, [&](ValueId id) { results.push_back(id); });
    for_each_argument(*step.node, [&](ValueId id) { arguments.push_back(id); });
    const ValueId made = results.size() == 1 ? results[0] : kNoValue;
    if (made == kNoValue || memory_of(graph_, made) != made || lifetimes_[index(made)].first != number) continue;
    const auto leaves_its_place = [&](ValueId argument) {
      const Lifetime& lifetime = lifetimes_[index(memory_of(graph_, argument))];
      return lifetime.last == number && lifetime.bytes == lifetimes_[index(made)].bytes &&
             std::ranges::all_of(arguments, [&](ValueId other) {
               return memory_of(graph_, other) != memory_of(graph_, argument) || lie_alike(graph_, other, made);
             });
    };
    const auto found = std::ranges::find_if(arguments, leaves_its_place);
    if (found != arguments.end()) heirs_.emplace_back(index(made), index(memory_of(graph_, *found)));
  }
}

void Frame::drop_heirs() {
  std::erase_if(heirs_, [&](const auto& pair) {
    return places_[pair.first] != Place::Arena || places_[pair.second] != Place::Arena;
  });
  std::map<std::size_t, std::size_t> heirs;  // by the memory
  for (const auto& [heir, memory] : heirs_) heirs.emplace(memory, heir);
  std::set<std::size_t> dropped;
  for (const Step& step : steps_) {
    for (const Node* const node : step.chained) {
      for_each_argument(*node, [&](ValueId id) {
        const auto found = heirs.find(index(memory_of(graph_, id)));
        if (found == heirs.end() || lie_alike(graph_, id, static_cast<ValueId>(found->second))) return;
        if (std::ranges::find(step.chained, makers_[found->second]) != step.chained.end())
          dropped.insert(found->second);
      });
    }
  }
  std::erase_if(heirs_, [&](const auto& pair) { return dropped.contains(pair.first); });
}

std::vector<TensorBase> Frame::passing_tensors(std::size_t begin, std::size_t end) {
  const std::size_t first = number_of(steps_[begin]), last = number_of(steps_[end - 1]);
  std::vector<TensorBase> passing;
  for (std::size_t i = begin; i < end; ++i) {
    for_each_result(*steps_[i].node, [&](ValueId id) {
      const std::size_t memory = index(id);
      if (memory_of(graph_, id) != id || in_memory_[memory].size() != 1) return;
      if (places_[memory] != Place::Arena || lifetimes_[memory].first < first || lifetimes_[memory].last > last) return;
      places_[memory] = Place::Chain;
      passing.push_back(tensor(id));
    });
  }
  return passing;
}

void Frame::join_chains() {
  std::vector<Step> joined;
  for (std::size_t i = 0; i < steps_.size();) {
    const std::vector<Chain::Call> calls = pointwise_calls(i);
    const std::size_t count = Chain::length(calls);
    if (count < 2) {
      joined.push_back(std::move(steps_[i++]));
      continue;
    }
    const std::vector<Chain::Call> own(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count));
    joined.push_back({nullptr, steps_[i].node, {}, std::make_unique<Chain>(own, passing_tensors(i, i + count))});
    for (std::size_t each = i; each < i + count; ++each) joined.back().chained.push_back(steps_[each].node);
    chained_calls_ += count;
    i += count;
  }
  steps_ = std::move(joined);
}

StepUse Frame::use_of(const Step& step) const {
  StepUse use;
  use.is_movable = step.direct != nullptr || step.chain != nullptr;
  const auto write = [&](ValueId id) {
    use.writes.push_back(index(memory_of(graph_, id)));
    const Place its = places_[use.writes.back()];
    use.is_movable = use.is_movable && its != Place::Input && its != Place::Dynamic;
  };
  const auto add = [&](const Node& node) {
    for_each_argument(node, [&](ValueId id) { use.reads.push_back(index(memory_of(graph_, id))); });
    for_each_written(node, write);
    for_each_result(node, write);
    use.is_movable = use.is_movable && !has_effect(node) && !node.op->has_tag("nondeterministic");
  };
  if (step.chain == nullptr) add(*step.node);
  for (const Node* const node : step.chained) add(*node);
  return use;
}

void Frame::find_sections() {
  for (const Step& step : steps_) uses_.push_back(use_of(step));
  if (is_forced_) use_runner(3);
}

void Frame::use_runner(std::size_t most) {
  most_parts_ = most;
  runner_ =
      most > 1 && steps_.size() > 1 ? &runners_.try_emplace(most, uses_, most, is_forced_).first->second : nullptr;
}

void Frame::follow_sections() {
  const std::size_t most = is_forced_ ? most_parts_ : most_parts();
  if (most != most_parts_) use_runner(most);
  const bool are_others = runner_ != nullptr && runner_->learn();
  const SectionRunner* const beside = runner_ != nullptr && runner_->has_parallel() ? runner_ : nullptr;
  if (are_others || beside != laid_out_for_) lay_out_memory();
}

void Frame::make_steps() {
  if (runner_ != nullptr && !runner_->is_in_order())
    return runner_->run([this](std::size_t step) { make_call(steps_[step]); });
  for (Step& step : steps_) make_call(step);
}

Plan::Statistics Frame::statistics() const {
  Plan::Statistics known = {.direct_calls = direct_calls_,
                            .chained_calls = chained_calls_,
                            .other_calls = other_calls_,
                            .arena_bytes = layout_.bytes,
                            .live_bytes = layout_.live_bytes};
  for (const Section& section : runner_ != nullptr ? runner_->sections() : std::vector<Section>()) {
    if (!section.is_parallel()) continue;
    known.parallel_parts += section.parts.size();
    for (const std::size_t step : section.steps())
      known.parallel_calls += std::max<std::size_t>(1, steps_[step].chained.size());
  }
  return known;
}

void Frame::make_call(Step& step) {
  if (step.chain != nullptr) return step.chain->run();
  if (step.direct != nullptr) {
    try {
      return step.direct->run();
    } catch (...) {
      leave_boxed_op(*step.node->op, step.arguments);
    }
  }
  Stack stack = step.arguments;
  call_boxed(*step.node->op, stack);
  take_results(*step.node, step.arguments, stack);
}

std::vector<Tensor> Frame::run(const std::vector<Tensor>& inputs) {
  const struct Released {
    Frame& frame;
    const std::vector<Tensor>& inputs;
    ~Released() {  // where a call throws, too: others may have written
      frame.note_writes(inputs);
      frame.release();
    }
  } released{*this, inputs};
  follow_sections();
  const NoSharing own;
  place_inputs(inputs);
  place_outputs();
  make_steps();
  return results_.of(inputs);
}

}  // namespace keyway::inline v1::graph
