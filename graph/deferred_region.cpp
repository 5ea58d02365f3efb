#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred_region.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/kept_graphs.h>

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace keyway::inline v1::graph {
namespace {

// What becomes of a call.
struct Verdict {
  enum class What : std::uint8_t { Record, MakeNow, FlushAndMake } what;
  std::string why = {};  // of a flush
};

bool is_strided(const TensorBase& tensor) {
  const DispatchKeySet keys = tensor.key_set();
  return keys.has(Functionality::Dense) && !keys.has(Functionality::Batched) && !keys.has(Functionality::ForwardAD) &&
         !keys.has(Functionality::Python) && tensor.impl()->extra() == nullptr && !tensor.device().is_meta();
}

// Whether a factory makes tensors of a kind that a graph's values are not.
bool makes_other_tensors(const OperatorEntry& op, const Stack& values) {
  if (op.info().boxed.device < 0) return false;
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is(ValueTag::Layout) && values[i].to_layout() != Layout::Strided) return true;
    if (values[i].is(ValueTag::Bool) && values[i].to_bool() && arguments[i].name() == "pin_memory") return true;
    if (values[i].is(ValueTag::Device) && values[i].to_device().is_meta()) return true;
  }
  return false;
}

// Outside of inference mode, tensors that were made in it are not written to: the call itself says so.
bool writes_to_inference_tensor(const OperatorEntry& op, const Stack& values) {
  if (!op.schema().is_mutable() || InferenceMode::is_enabled()) return false;
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (arguments[i].is_write() &&
        any_tensor(values[i], [](const TensorBase& tensor) { return tensor.is_inference(); }))
      return true;
  }
  return false;
}

Verdict judge(const OperatorEntry& op, const Stack& values) {
  using enum Verdict::What;
  if (!op.info().name.starts_with("keyway::")) return {FlushAndMake, op.short_name() + " is of another library"};
  if (included_keys().has(Functionality::Python)) return {FlushAndMake, "a mode of Python sees the calls"};
  const bool is_check = op.schema().returns().empty() && !op.schema().is_mutable();
  if (is_check || op.has_tag("data_dependent_shape")) return {FlushAndMake, op.short_name() + " reads elements"};
  if (any_tensor_in(values, [](const TensorBase& tensor) { return !is_strided(tensor); })) {
    const bool all_meta = !any_tensor_in(values, [](const TensorBase& tensor) { return !tensor.device().is_meta(); });
    return all_meta ? Verdict{MakeNow} : Verdict{FlushAndMake, op.short_name() + " takes a tensor of another kind"};
  }
  if (changes_tensor(op)) {
    // A geometry alone; not what takes memory.
    if (op.has_tag("inplace_view") && !op.has_tag("nondeterministic")) return {MakeNow};
    return {FlushAndMake, op.short_name() + " changes a tensor's memory or history"};
  }
  if (!op.schema().is_mutable() && (gives_unset_memory(op) || !gives_tensors(op))) return {MakeNow};
  if (std::ranges::any_of(values, [](const IValue& value) {
        return value.is(ValueTag::Dict) || value.is(ValueTag::Object) || value.is(ValueTag::List);
      }))
    return {FlushAndMake, op.short_name() + " takes objects"};
  if (writes_to_inference_tensor(op, values)) return {FlushAndMake, op.short_name() + " writes to an inference tensor"};
  if (makes_other_tensors(op, values)) return {FlushAndMake, op.short_name() + " makes a tensor of another kind"};
  return {Record};
}

// A device that a factory names by its type alone is the one that is current now.
void name_devices(const OperatorEntry& op, Stack& values) {
  const int at = op.info().boxed.device;
  if (at < 0) return;
  IValue& value = values[static_cast<std::size_t>(at)];
  if (!value.is(ValueTag::Device)) return;
  const Device device = value.to_device();
  if (!device.is_cpu() && !device.has_index()) value = IValue(current_device(device.type()));
}

// That of a call on a device: where its work belongs.
std::optional<Stream> stream_of(const Stack& values) {
  std::optional<Device> device;
  for (const IValue& value : values) {
    if (value.is(ValueTag::Device) && !value.to_device().is_cpu()) device = value.to_device();
  }
  for_each_tensor(values, [&](const TensorBase& tensor) {
    if (!tensor.device().is_cpu()) device = tensor.device();
  });
  return device ? std::optional(current_stream(*device)) : std::nullopt;
}

// The thread's state as if nothing had been set, with gradients off, and the default dtype of then: what deferred calls
// run in.
class PlainState {
 public:
  explicit PlainState(ScalarType default_dtype) : before_(thread_state), default_dtype_(get_default_dtype()) {
    thread_state = ThreadState{};
    thread_state.grad_disabled = true;
    if (default_dtype != default_dtype_) set_default_dtype(default_dtype);
  }
  ~PlainState() {
    thread_state = before_;
    if (get_default_dtype() != default_dtype_) set_default_dtype(default_dtype_);
  }
  PlainState(const PlainState&) = delete;
  PlainState& operator=(const PlainState&) = delete;

 private:
  ThreadState before_;
  ScalarType default_dtype_;
};

// The error of a deferred call, with the places where calls of that operator were deferred.
[[noreturn]] void rethrow_with_site(const Graph& graph, const Error& error) {
  std::set<std::string> sites;
  for (const Node& node : graph.nodes) {
    if (node.op->short_name() == error.op() && !node.site.empty()) sites.insert(node.site);
  }
  std::string where;
  for (const std::string& site : sites) where += (where.empty() ? " at " : " or ") + site;
  Error named(error.kind(), std::string(error.message()) + "; the call was deferred" + where, error.file(),
              error.line());
  if (!error.op().empty()) named.leave_op(error.op());
  throw named;
}

void unmark(const TensorBase& tensor) {
  tensor.impl()->set_key_set(tensor.key_set().remove(Functionality::Functionalize));
}

// The memory of a tensor of a graph, by an address that nobody owns.
Storage shadow_of(const Storage& storage) {
  return Storage(make_intrusive<StorageImpl>(DataPtr(storage.data(), storage.device()), storage.nbytes(), false));
}

// Gives a storage without data that of another one, which it then keeps.
void fill(const Storage& pending, const Storage& with) {
  own_bytes(with);
  const auto free = [](void* storage) { delete static_cast<Storage*>(storage); };
  const std::size_t bytes = pending.nbytes();
  pending.impl()->set_data(DataPtr(with.data(), new Storage(with), free, with.device()), bytes);
}

}  // namespace

bool DeferredRegion::has(const TensorBase& tensor) const {
  const std::lock_guard lock(mutex_);
  return recorded_.memories.contains(tensor.storage().impl());
}

bool DeferredRegion::flush_if_pending(const TensorBase& tensor, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!has(tensor)) return false;
  flush(why);
  return true;
}

void DeferredRegion::mark(const TensorBase& tensor) {
  tensor.impl()->set_key_set(tensor.key_set().add(Functionality::Functionalize));
  recorded_.marked.emplace_back(tensor.impl_ptr());
}

void DeferredRegion::call(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  if (is_written_with_others(op, below)) return redispatch_boxed(op, below, values);
  if (op.schema().is_alias() && !op.schema().is_mutable()) {  // a view, or calls that come here
    redispatch_boxed(op, below, values);
    const std::lock_guard lock(mutex_);
    for_each_tensor(values, [&](const TensorBase& tensor) {
      if (tensor.key_set().has(Functionality::Functionalize)) recorded_.marked.emplace_back(tensor.impl_ptr());
    });
    return;
  }
  const std::string site = call_site();
  {
    const std::lock_guard lock(mutex_);
    Verdict verdict = judge(op, values);
    if (verdict.what == Verdict::What::Record) {
      name_devices(op, values);
      follow_surroundings(values);
      if (record(op, values, site)) {
        ++statistics_.deferred_calls;
        return;
      }
      verdict = {Verdict::What::FlushAndMake, op.short_name() + " is not known before it is made"};
    }
    ++statistics_.immediate_calls;
    if (verdict.what == Verdict::What::FlushAndMake) flush(verdict.why + (site.empty() ? "" : " at " + site));
  }
  const ExcludeDispatchKeyGuard unrecorded(DispatchKeySet(Functionality::Functionalize));
  redispatch_boxed(op, below, values);
}

void DeferredRegion::follow_surroundings(const Stack& values) {
  Surroundings& then = recorded_.graph.surroundings;
  const std::optional<Stream> stream = stream_of(values);
  if (!recorded_.graph.nodes.empty()) {
    if (then.default_dtype != get_default_dtype()) flush("the default dtype was changed");
    if (stream && recorded_.stream && *stream != *recorded_.stream) flush("another stream became current");
  }
  then.grad_enabled = false;
  then.default_dtype = get_default_dtype();
  if (stream) recorded_.stream = stream;
}

ValueId DeferredRegion::value_of(const TensorBase& tensor) {
  if (!tensor.defined()) return kNoValue;
  Graph& graph = recorded_.graph;
  const auto [found, is_new] = recorded_.memories.try_emplace(tensor.storage().impl());
  Memory& memory = found->second;
  if (is_new) memory.storage = tensor.storage();
  for (const ValueId id : memory.values) {
    if (info_of(graph, id).is_of(tensor)) return id;
  }
  TensorInfo info(tensor);
  info.requires_grad = false;
  ValueId id = kNoValue;
  if (memory.storage) {
    id = add_value(graph, std::move(info), memory.values.empty() ? kNoValue : memory.values.front());
    graph.inputs.push_back({.value = id});
    recorded_.inputs.push_back(found->first);
  } else {
    const TensorInfo& first = info_of(graph, memory.values.front());
    KEYWAY_CHECK(first.dtype == info.dtype, "memory of {} is used as {} before it is filled", first, info);
    id = add_view(graph, memory.values.front(), info);
  }
  memory.values.push_back(id);
  return id;
}

bool DeferredRegion::gives_new_tensors(const Stack& arguments, const Stack& results) const {
  const OperatorEntry& op = *recorded_.graph.nodes.back().op;
  bool holds = true;
  for_each_value(op.schema().returns(), results, [&](ValueId id) {
    if (id == kNoValue) return;
    bool is_argument = false;
    for_each_value(op.schema().arguments(), arguments, [&](ValueId argument) { is_argument |= argument == id; });
    const Value& value = recorded_.graph.values[index(id)];
    holds = holds && (is_argument || (value.memory == id && value.info.offset == 0));
  });
  return holds;
}

TensorBase DeferredRegion::pending_tensor(ValueId id) {
  const TensorInfo& info = info_of(recorded_.graph, id);
  const std::size_t bytes = checked_nbytes(info.sizes, info.strides, 0, element_size(info.dtype));
  const auto storage = make_intrusive<StorageImpl>(DataPtr(nullptr, info.device), bytes, true);
  std::int64_t numel = 1;
  for (const std::int64_t size : info.sizes) numel *= size;
  const bool is_contiguous = info.strides == TensorInfo(info.dtype, info.device, info.sizes).strides;
  TensorBase tensor(make_intrusive<TensorImpl>(Storage(storage), info.dtype, IntArrayRef(info.sizes),
                                               IntArrayRef(info.strides), numel, is_contiguous));
  recorded_.memories[storage.get()] = {{}, weak_intrusive_ptr<StorageImpl>(storage), {id}};
  mark(tensor);
  return tensor;
}

bool DeferredRegion::record(const OperatorEntry& op, Stack& values, const std::string& site) {
  Graph& graph = recorded_.graph;
  const ArgumentList arguments = op.schema().arguments(), returns = op.schema().returns();
  std::unordered_map<ValueId, TensorBase> tensors;  // of the call
  Stack numbers, results;
  std::size_t value_count = 0, node_count = 0;
  bool is_numbered = false;
  try {
    numbers = with_numbers(arguments, values, [&](const TensorBase& tensor) {
      const ValueId id = value_of(tensor);
      if (id != kNoValue) tensors.emplace(id, tensor);
      return id;
    });
    value_count = graph.values.size(), node_count = graph.nodes.size();
    is_numbered = true;
    results = add_call(graph, op, numbers, site);
  } catch (const std::exception&) {  // the call itself will tell
    if (!is_numbered) return false;
    results.clear();
  }
  // Of several tensors in one place, a call gives that which it writes to.
  std::unordered_map<ValueId, TensorBase> written;
  bool is_clear = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!arguments[i].is_write()) continue;
    for_each_tensor({&values[i], 1}, [&](const TensorBase& tensor) {
      TensorBase& known = written[value_of(tensor)];
      is_clear = is_clear && (!known.defined() || known.is_same(tensor));
      known = tensor;
    });
  }
  if (!is_clear || graph.nodes.size() == node_count || !gives_new_tensors(numbers, results)) {
    graph.values.erase(graph.values.begin() + static_cast<std::ptrdiff_t>(value_count), graph.values.end());
    graph.nodes.resize(node_count);
    return false;
  }
  for (const auto& [id, tensor] : written) {
    mark(tensor);
    tensors[id] = tensor;
  }
  values = with_tensors(returns, results, [&](ValueId id) -> TensorBase& {
    TensorBase& tensor = tensors[id];
    if (!tensor.defined()) tensor = pending_tensor(id);
    return tensor;
  });
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none() && returns[i].type().is(TypeKind::Tensor)) values[i] = IValue(TensorBase());
  }
  return true;
}

std::vector<Tensor> DeferredRegion::run(Recorded& going, bool& is_known) {
  const PlainState state(going.graph.surroundings.default_dtype);
  std::unordered_map<const StorageImpl*, Storage> shadows;
  std::vector<Tensor> inputs;
  const std::vector<bool> is_written = written_memories(going.graph);
  for (std::size_t i = 0; i < going.inputs.size(); ++i) {
    const Value& value = going.graph.values[index(going.graph.inputs[i].value)];
    const TensorInfo& info = value.info;
    const Storage& storage = going.memories.at(going.inputs[i]).storage;
    if (is_written[index(value.memory)]) own_bytes(storage);  // before its address is taken
    Storage& shadow = shadows[going.inputs[i]];
    if (!shadow) shadow = shadow_of(storage);
    inputs.emplace_back(tensor_over(shadow, info));
  }
  std::optional<StreamGuard> stream;
  if (going.stream) stream.emplace(*going.stream);
  try {
    return run_kept(going.graph, inputs, is_known);
  } catch (const Error& error) {
    rethrow_with_site(going.graph, error);
  }
}

void DeferredRegion::flush(const std::string& why) {
  Recorded going;  // what it lets go of goes when the lock has
  std::vector<std::pair<ValueId, Storage>> pending;
  const std::lock_guard lock(mutex_);
  std::swap(going, recorded_);
  for (const auto& [impl, memory] : going.memories) {
    if (memory.storage) continue;
    if (Storage storage(memory.pending.lock()); storage)
      pending.emplace_back(memory.values.front(), std::move(storage));
  }
  std::ranges::sort(pending, {}, &std::pair<ValueId, Storage>::first);
  for (const auto& [id, storage] : pending) going.graph.outputs.push_back(id);
  if (!going.graph.nodes.empty()) {
    bool is_known = false;
    const std::vector<Tensor> outputs = run(going, is_known);
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const TensorInfo& info = info_of(going.graph, pending[i].first);
      KEYWAY_CHECK_AS(Internal, info.is_of(outputs[i]), "a deferred call gave {}, but its Meta kernel said {}",
                      TensorInfo(outputs[i]), info);
      fill(pending[i].second, outputs[i].storage());
    }
    note_flush(why, going.graph.nodes.size(), is_known);
  }
  for (const weak_intrusive_ptr<TensorImpl>& marked : going.marked) {
    if (const TensorBase tensor(marked.lock()); tensor.defined()) unmark(tensor);
  }
}

void DeferredRegion::note_flush(const std::string& why, std::size_t calls, bool is_known) {
  ++statistics_.flushes;
  if (is_known) ++statistics_.known_graphs;
  auto& [flushes, all_calls] = reasons_[why];
  ++flushes;
  all_calls += calls;
}

Deferred::Statistics DeferredRegion::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

std::string DeferredRegion::explain() const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("{} calls deferred, {} made at once; {} flushes, {} of graphs that were known",
                                 statistics_.deferred_calls, statistics_.immediate_calls, statistics_.flushes,
                                 statistics_.known_graphs);
  for (const auto& [why, counts] : reasons_)
    text += fmt::format("\nflushed {} times, {} calls: {}", counts.first, counts.second, why);
  return text;
}

}  // namespace keyway::inline v1::graph
