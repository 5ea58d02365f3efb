#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/leaf_hooks.h>
#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/recorder.h>

#include <algorithm>
#include <unordered_set>

namespace keyway::inline v1::graph {

using Origin = SeenTensors::Origin;

namespace {

bool is_with_tensors(const IValue& value) {
  if (!value.is(ValueTag::Dict)) return false;
  for (std::size_t i = 0; i < value.to_dict().size(); ++i) {
    if (any_tensor(value.to_dict().entry(i).value, [](const TensorBase&) { return true; })) return true;
  }
  return false;
}

// Whether a call needs no elements of its tensors: it gives views of them, or tensors that are made like them.
bool is_about_geometry(const OperatorEntry& op) {
  return (op.schema().is_alias() && !op.schema().is_mutable()) || gives_unset_memory(op) ||
         op.info().name.ends_with("_like") || op.info().name.starts_with("keyway::new_");
}

// Whether the sizes of what an index gives depend on elements: those of masks.
bool has_masks(const IValue& indices) {
  return any_tensor(indices, [](const TensorBase& index) { return index.dtype() == kBool || index.dtype() == kByte; });
}

// Whether the results of a call are numbers that follow from the elements of its tensors.
bool reads_elements(const OperatorEntry& op, const Stack& arguments) {
  if (op.has_tag("data_dependent_shape")) {
    const std::optional<std::size_t> indices = op.schema().arguments().find("indices");
    return !indices || has_masks(arguments[*indices]);
  }
  const ArgumentList returns = op.schema().returns();
  const bool gives_numbers =
      std::ranges::any_of(returns, [](const Argument result) { return !is_of_tensors(result.type()); });
  // Those of Keyway have the tag if they do; what others give is not known.
  return gives_numbers && op.info().boxed.tensors != 0 && !op.info().name.starts_with("keyway::");
}

// "; at model.py:12", if that is known.
std::string where_now() {
  const std::string site = call_site();
  return site.empty() ? "" : "; at " + site;
}

// The gradient that a leaf keeps; undefined if it has none.
TensorBase kept_grad(const TensorBase& leaf) {
  const AutogradMetaInterface* const meta = leaf.impl()->autograd_meta();
  return meta == nullptr ? TensorBase() : TensorBase(meta->grad());
}

}  // namespace

Recorder::Recorder(Level level, Capture::Refusal refusal)
    : refusal_(refusal), has_saved_tensor_hooks_(autograd::saved_tensor_hooks != nullptr) {
  graph_.level = level;
  graph_.surroundings = Surroundings::now();
}

void Recorder::refuse(const std::string& reason) {
  if (refused_.empty()) refused_ = "capture: " + reason + where_now();
  if (refusal_ == Capture::Refusal::Throw) KEYWAY_FAIL(Value, "{}", refused_);
  graph_.inputs.clear();  // what they refer to may go
  graph_.nodes.clear();
  inputs_.clear();
  input_numbers_.clear();
  seen_ = SeenTensors();
}

void Recorder::add_argument(const Tensor& tensor, std::string name) {
  KEYWAY_CHECK(tensor.defined(), "capture: argument {} is undefined", graph_.inputs.size());
  KEYWAY_CHECK(graph_.nodes.empty() && graph_.argument_count() == graph_.inputs.size(),
               "capture: arguments are added before the program runs");
  KEYWAY_CHECK_AS(
      NotImplemented, !is_of_transform(tensor),
      "capture: argument {} is a tensor of vmap, forward mode or a wrapper: capture the program without that, "
      "and run the graph within it",
      graph_.inputs.size());
  check_is_leaf(tensor, "argument " + std::to_string(graph_.inputs.size()));
  if (!refused_.empty()) return;
  if (const SeenTensors::Seen* seen = seen_.find(tensor))  // the same tensor twice
    return add_input({seen->value, std::move(name)}, tensor);
  const ValueId id = add_value(tensor, Origin::Argument);
  add_input({id, std::move(name)}, tensor);
  note_first_grad(tensor, id);
  // Whether another tensor than the arguments lies in the memory.
  SeenTensors::Memory& memory = *seen_.find_memory(tensor);
  memory.origin = tensor.storage().use_count() > memory.values.size() ? Origin::SharedArgument : Origin::Argument;
}

void Recorder::add_input(Input input, const TensorBase& tensor) {
  input_numbers_.emplace(input.value, graph_.inputs.size());
  input.is_inference = tensor.is_inference();
  graph_.inputs.push_back(std::move(input));
  inputs_.push_back(tensor);
}

Input* Recorder::input_of(ValueId id) {
  const auto found = input_numbers_.find(id);
  return found == input_numbers_.end() ? nullptr : &graph_.inputs[found->second];
}

const TensorInfo& Recorder::now(ValueId id) const {
  const auto found = changed_.empty() ? changed_.end() : changed_.find(id);
  return found == changed_.end() ? info_of(graph_, id) : found->second;
}

ValueId Recorder::add_value(const TensorBase& tensor, Origin origin) {
  const ValueId id = static_cast<ValueId>(graph_.values.size());
  const SeenTensors::Memory* memory = seen_.find_memory(tensor);
  const ValueId first = memory == nullptr || memory->values.empty() ? id : memory_of(graph_, memory->values.front());
  graph_.values.push_back({TensorInfo(tensor), first});
  seen_.add(tensor, id, origin);
  return id;
}

ValueId Recorder::add_state(const TensorBase& tensor) {
  check_is_leaf(tensor, "a tensor that the program has from elsewhere");
  if (!refused_.empty()) return kNoValue;
  const ValueId id = add_value(tensor, Origin::State);
  const auto leaf = first_grads_.find(tensor.impl());
  Input input{.value = id, .is_state = true};
  if (leaf == first_grads_.end())
    input.state = Tensor(tensor);
  else
    input.grad_of = leaf->second;
  add_input(std::move(input), tensor);
  note_first_grad(tensor, id);
  return id;
}

ValueId Recorder::value_of(const TensorBase& tensor) {
  if (!tensor.defined()) return kNoValue;
  if (is_of_transform(tensor)) {
    refuse("a tensor of vmap, forward mode or a wrapper is used at this level");
    return kNoValue;
  }
  check_is_own(tensor, seen_.find_memory(tensor) != nullptr);
  if (!refused_.empty()) return kNoValue;
  if (const SeenTensors::Seen* seen = seen_.find(tensor)) {
    if (seen->storage == tensor.storage().impl() && now(seen->value).is_of(tensor)) return seen->value;
  }
  const SeenTensors::Memory* memory = seen_.find_memory(tensor);
  if (memory != nullptr && memory->origin == Origin::WithinCall && memory->values.empty()) {
    refuse("a tensor is used that was computed within a call, as gradients use such: capture what is executed");
    return kNoValue;
  }
  if (memory == nullptr || memory->origin == Origin::State) {
    if (seen_.find(tensor) == nullptr) return add_state(tensor);
    refuse("the memory or the sizes of a tensor were changed beside the dispatcher");
    return kNoValue;
  }
  return value_in_memory(tensor, *memory);
}

void Recorder::check_is_own(const TensorBase& tensor, bool is_known) {
  const StorageWatch::Elsewhere elsewhere = watch_.elsewhere(tensor.storage());
  if (elsewhere.is_written)
    return refuse("another thread has written to a tensor of the program: a graph has the calls of one thread");
  if (!is_known && elsewhere.is_made)
    refuse("another thread has made a tensor of the program since it began: a graph has the calls of one thread");
}

// Of a tensor that no call has made.
ValueId Recorder::value_in_memory(const TensorBase& tensor, const SeenTensors::Memory& memory) {
  const auto same = std::ranges::find_if(memory.values, [&](ValueId id) { return now(id).is_of(tensor); });
  if (memory.origin == Origin::SharedArgument) {
    // It may be one that the program has from elsewhere, and that need not share the memory of another argument.
    refuse("a tensor shares memory with an argument, but no call has made it of that: make it an argument, too");
    return kNoValue;
  }
  if (same != memory.values.end()) {
    const ValueId id = *same;
    seen_.add(tensor, id, memory.origin);
    return id;
  }
  const auto base = std::ranges::find_if(memory.values, [&](ValueId id) { return now(id).dtype == tensor.dtype(); });
  if (base == memory.values.end() || graph_.level == Level::Program) {
    refuse("a tensor shares memory with another, but no call has made it a view of that");
    return kNoValue;
  }
  if (memory.bytes != tensor.storage().nbytes()) {
    refuse("memory of a tensor that a call has made was given another size beside the dispatcher");
    return kNoValue;
  }
  return add_view(
      "keyway::as_strided",
      {IValue(*base), IValue(tensor.sizes().vec()), IValue(tensor.strides().vec()), IValue(tensor.storage_offset())},
      tensor, memory.origin);
}

ValueId Recorder::add_view(const char* op, Stack arguments, const TensorBase& tensor, Origin origin) {
  const ValueId id = add_value(tensor, origin);
  graph_.nodes.push_back(
      {&Dispatcher::singleton().op(op).entry(), std::move(arguments), {IValue(id)}, call_site(), !grad_enabled()});
  return id;
}

void Recorder::note_within_call(const Stack& results) {
  if (!refused_.empty()) return;
  for_each_tensor(results, [&](const TensorBase& tensor) { seen_.add_memory_within_call(tensor); });
}

void Recorder::note_first_grad(const TensorBase& leaf, ValueId id) {
  const TensorBase grad = kept_grad(leaf);
  if (!grad.defined() || grads_.contains(id)) return;
  first_grads_.emplace(grad.impl(), id);
  // It may have been met before its leaf.
  const SeenTensors::Seen* const seen = seen_.find(grad);
  Input* const input = seen == nullptr ? nullptr : input_of(seen->value);
  if (input == nullptr || !input->is_state) return;
  input->grad_of = id;
  input->state = Tensor();
}

void Recorder::grad_asked(const TensorBase& leaf) {
  if (!refused_.empty() || !leaf.is_leaf() || is_of_transform(leaf)) return;
  const ValueId id = value_of(leaf);
  Input* const input = id == kNoValue ? nullptr : input_of(id);
  if (input == nullptr || grads_.contains(id) || input->has_grad) return;
  const TensorBase grad = kept_grad(leaf);
  input->has_grad = grad.defined();
  const SeenTensors::Seen* const seen = grad.defined() ? seen_.find(grad) : nullptr;
  const Input* const of_grad = seen == nullptr ? nullptr : input_of(seen->value);
  if (of_grad != nullptr && !of_grad->is_state)
    refuse("an argument is the gradient of a leaf, which the program uses as such, too: a run could be given another");
}

void Recorder::grad_set(const TensorBase& leaf, const TensorBase& grad) {
  if (!refused_.empty() || is_of_transform(leaf)) return;
  const ValueId id = value_of(leaf);
  if (id == kNoValue || input_of(id) == nullptr) return;
  grads_[id] = value_of(grad);
}

void Recorder::history_changed(const TensorBase& tensor, const char* how) {
  if (!refused_.empty()) return;
  // As written, calls change histories in a run as they did; what is no call is lost.
  bool is_lost = calls_within_ == 0;
  if (graph_.level == Level::Executed) {
    const SeenTensors::Seen* const seen = tensor.defined() ? seen_.find(tensor) : nullptr;
    is_lost =
        tensor.defined() && (seen != nullptr ? input_of(seen->value) != nullptr : seen_.find_memory(tensor) == nullptr);
  }
  if (is_lost) refuse(tensor.defined() ? std::string("a tensor ") + how + ", which a graph does not do" : how);
}

void Recorder::check_is_leaf(const TensorBase& tensor, const std::string& which) {
  if (graph_.level == Level::Executed && graph_.surroundings.grad_enabled && tensor.requires_grad() &&
      !tensor.is_leaf())
    refuse(which +
           " has a history, which gradients in the program would go on to: detach it, or capture it as written");
}

void Recorder::alias_made(const TensorBase& of, const TensorBase& alias) {
  if (!refused_.empty() || is_of_transform(of)) return;
  // As written, a tensor within the call that goes on, which the program does not see.
  if (graph_.level == Level::Program && calls_within_ > 0 && seen_.find(of) == nullptr) return;
  // A result of the call that goes on: it is known when the call has ended.
  const SeenTensors::Memory* const memory = seen_.find_memory(of);
  if (memory != nullptr && memory->origin == Origin::WithinCall && memory->values.empty()) return;
  const ValueId id = value_of(of);
  if (id == kNoValue) return;
  seen_.add(alias, id, seen_.find_memory(of)->origin);
  seen_.find(alias)->is_made_beside = true;
}

ValueId Recorder::result_of(const TensorBase& tensor, const std::vector<TensorBase>& arguments) {
  if (!tensor.defined()) return kNoValue;
  const bool is_argument =
      std::ranges::any_of(arguments, [&](const TensorBase& argument) { return argument.is_same(tensor); });
  const SeenTensors::Seen* seen = seen_.find(tensor);
  if (seen == nullptr || (seen->is_made_beside && !is_argument)) return add_value(tensor, Origin::Call);
  const ValueId id = seen->value;
  seen_.move_memory(tensor, Origin::Call);
  if (!now(id).is_of(tensor)) changed_.insert_or_assign(id, TensorInfo(tensor));
  return id;
}

void Recorder::check_recordable(const OperatorEntry& op, const Stack& arguments) {
  if (reads_elements(op, arguments))
    refuse(op.short_name() +
           " gives numbers or sizes that depend on the elements of a tensor, which a graph cannot follow: compute with "
           "tensors instead");
  if (std::ranges::any_of(arguments, is_with_tensors))
    refuse(op.short_name() + " takes tensors in a dictionary, which a graph has no place for");
}

void Recorder::check_modes() {
  if (included_keys().has(Functionality::Python))
    return refuse("a mode of Python sees the calls, and would not see those of a graph");
  if (InferenceMode::is_enabled() != graph_.surroundings.inference)
    return refuse("the program enters or leaves inference mode, which a run would not: run the graph within the mode");
  if (autograd::saved_tensor_hooks != nullptr && (graph_.level == Level::Program || has_saved_tensor_hooks_))
    return refuse(
        "hooks of saved tensors are set, which a run would not set: capture what is executed, and set them in "
        "the program");
  if (graph_.level == Level::Executed && autograd::AnomalyMode::is_enabled())
    refuse("anomaly mode is on, which looks at each gradient, as a run would not");
}

void Recorder::check_is_set(const OperatorEntry& op, const Stack& values) {
  if (is_about_geometry(op)) return;
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto is_unset = [&](const TensorBase& tensor) {
      const SeenTensors::Memory* memory = seen_.find_memory(tensor);
      return memory != nullptr && !memory->is_set && tensor.numel() != 0;
    };
    if (!any_tensor(values[i], is_unset) || (arguments[i].is_write() && overwrites(op))) continue;
    refuse(op.short_name() + " reads '" + std::string(arguments[i].name()) +
           "', which empty() gave and no call has written to: if its memory was written to directly, a graph cannot "
           "follow that");
  }
}

void Recorder::call(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  // What it calls is recorded, as it calls it.
  if (graph_.level == Level::Executed && is_written_with_others(op, below)) return redispatch_boxed(op, below, values);
  const ExcludeDispatchKeyGuard unrecorded(
      DispatchKeySet(graph_.level == Level::Program ? Functionality::Tracer : Functionality::Functionalize));
  if (refused_.empty()) check_modes();
  if (refused_.empty()) check_recordable(op, values);
  if (refused_.empty()) check_is_set(op, values);
  if (!refused_.empty()) return redispatch_boxed(op, below, values);
  const FunctionSchema& schema = op.schema();
  const bool gives_numbers = !schema.returns().empty() && !gives_tensors(op);
  if (gives_numbers && !schema.is_mutable() && op.info().boxed.tensors != 0)
    return redispatch_boxed(op, below, values);  // sizes and the like, which are the same in every run
  record(op, below, values);
}

void Recorder::record(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  const FunctionSchema& schema = op.schema();
  Node node{&op,
            with_numbers(schema.arguments(), values, [&](const TensorBase& t) { return value_of(t); }),
            {},
            call_site(),
            !grad_enabled()};
  std::vector<TensorBase> arguments, written;
  std::vector<DimVector> sizes;  // of what is written
  for (std::size_t i = 0; i < values.size(); ++i) {
    for_each_tensor({&values[i], 1}, [&](const TensorBase& tensor) {
      arguments.push_back(tensor);
      if (!schema.arguments()[i].is_write()) return;
      written.push_back(tensor);
      sizes.emplace_back(tensor.sizes());
    });
  }
  if (keeps_inputs_ && std::ranges::any_of(written, [&](const TensorBase& tensor) { return is_from_outside(tensor); }))
    return refuse(op.short_name() + " writes in place to a tensor from outside: write to a clone() of it");
  const struct Within {
    Recorder& recorder;
    const std::string* outer;
    ~Within() {
      --recorder.calls_within_;
      recorder.site_ = outer;
    }
  } within{*this, std::exchange(site_, &node.site)};
  ++calls_within_;
  try {
    redispatch_boxed(op, below, values);
  } catch (const std::exception& error) {
    // If the program goes on, it has caught this, and another run may not have to.
    if (refused_.empty()) refused_ = "capture: the program caught an error of a call: " + std::string(error.what());
    throw;
  }
  if (!refused_.empty()) return;
  for (std::size_t i = 0; i < written.size() && !op.has_tag("inplace_view"); ++i) {
    const SeenTensors::Memory* const memory = seen_.find_memory(written[i]);
    const bool is_shared = memory == nullptr || memory->values.size() > 1 || is_from_outside(written[i]);
    if (is_shared && written[i].sizes() != IntArrayRef(sizes[i]))
      return refuse(op.short_name() + " gives other sizes to a tensor that comes from outside or shares memory");
  }
  for (const TensorBase& tensor : written) {
    result_of(tensor, arguments);
    if (SeenTensors::Memory* memory = seen_.find_memory(tensor)) memory->is_set = true;
  }
  node.results = with_numbers(schema.returns(), values, [&](const TensorBase& t) { return result_of(t, arguments); });
  if (gives_unset_memory(op)) {
    for_each_tensor(values, [&](const TensorBase& tensor) { seen_.find_memory(tensor)->is_set = false; });
  }
  graph_.nodes.push_back(std::move(node));
}

bool Recorder::is_from_outside(const TensorBase& tensor) {
  const SeenTensors::Memory* const memory = seen_.find_memory(tensor);
  return memory != nullptr && memory->origin != Origin::Call && memory->origin != Origin::WithinCall;
}

ValueId Recorder::output_of(const TensorBase& tensor, std::size_t number) {
  KEYWAY_CHECK(
      graph_.level == Level::Program || !tensor.requires_grad(),
      "capture: result {} requires grad, but what is executed has no history: return what detach() gives, or its "
      "gradient with it, or capture the program as it is written",
      number);
  const ValueId id = value_of(tensor);
  if (id == kNoValue) return id;
  const SeenTensors::Memory& memory = *seen_.find_memory(tensor);
  KEYWAY_CHECK(memory.is_set || tensor.numel() == 0,
               "capture: result {} is what empty() gave, and no call has written to it: if its memory was written to "
               "directly, a graph cannot follow that",
               number);
  // A tensor of its own over the memory of the value.
  if (seen_.find(tensor)->is_made_beside) return add_view("keyway::alias", {IValue(id)}, tensor, memory.origin);
  return id;
}

void Recorder::check_inputs() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    check_is_own(inputs_[i], /*is_known=*/true);
    if (!refused_.empty()) return;
    const SeenTensors::Seen& seen = *seen_.find(inputs_[i]);
    const bool is_as_seen = seen.value == graph_.inputs[i].value && seen.storage == inputs_[i].storage().impl() &&
                            now(seen.value).is_of(inputs_[i]);
    if (!is_as_seen)
      return refuse(
          graph_.inputs[i].is_state
              ? "the sizes or the memory of a tensor that the program has from elsewhere were changed in place"
              : "the sizes or the memory of argument " + std::to_string(i) + " were changed in place");
  }
}

ValueId Recorder::kept_value(const std::vector<Tensor>& outputs) const {
  // The history of results keeps what their gradients need.
  if (std::ranges::any_of(outputs, [](const Tensor& output) { return output.defined() && output.requires_grad(); }))
    return kNoValue;
  std::unordered_set<ValueId> grads;
  for (const auto& [leaf, grad] : grads_) grads.insert(grad);
  std::unordered_set<const TensorImpl*> results;
  for (const Tensor& output : outputs) results.insert(output.impl());
  const std::vector<std::pair<TensorBase, ValueId>> alive = seen_.alive();
  // A view keeps what it is a view of.
  std::unordered_map<const TensorImpl*, std::uint32_t> views;
  for (const auto& [tensor, id] : alive) {
    if (autograd::is_view(tensor)) ++views[autograd::view_base(tensor).impl()];
  }
  for (const auto& [tensor, id] : alive) {
    if (is_input(id) || grads.contains(id) || results.contains(tensor.impl())) continue;
    const auto of = views.find(tensor.impl());
    if (of == views.end() || tensor.use_count() > 1 + of->second) return id;  // `alive` itself keeps it
  }
  return kNoValue;
}

void Recorder::check_kept(const std::vector<Tensor>& outputs) {
  const ValueId id = kept_value(outputs);
  if (id == kNoValue) return;
  std::string maker, site;
  for (const Node& node : graph_.nodes) {
    for_each_value(node.op->schema().returns(), node.results, [&](ValueId made) {
      if (made != id || !maker.empty()) return;
      maker = " of " + node.op->short_name();
      site = node.site.empty() ? "" : " at " + node.site;
    });
  }
  refuse("the program keeps a result" + maker + site +
         " beyond its end, which a run of the graph would not: return it");
}

void Recorder::note_hooks() {
  if (graph_.level == Level::Program) return;  // a backward of it runs them
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (autograd::has_leaf_hooks(inputs_[i])) graph_.inputs[i].hooks = autograd::leaf_hook_changes();
  }
}

Graph Recorder::finish(const std::vector<Tensor>& outputs) {
  if (refused_.empty()) check_inputs();
  if (refused_.empty()) check_kept(outputs);
  for (std::size_t i = 0; i < outputs.size() && refused_.empty(); ++i) {
    graph_.outputs.push_back(outputs[i].defined() ? output_of(outputs[i], i) : kNoValue);
  }
  if (!refused_.empty()) KEYWAY_FAIL(Value, "{}", refused_);
  for (const auto& [leaf, grad] : grads_) {
    // What a result is may have become a value of its own.
    const TensorBase kept = grad == kNoValue ? TensorBase() : kept_grad(inputs_[input_numbers_.at(leaf)]);
    const SeenTensors::Seen* const seen = kept.defined() ? seen_.find(kept) : nullptr;
    graph_.grads.push_back({leaf, seen == nullptr ? grad : seen->value});
  }
  note_hooks();
  return renumbered(std::move(graph_));
}

}  // namespace keyway::inline v1::graph
