#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/capture_listener.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/forward_mode_hooks.h>
#include <keyway/autograd/leaf_hooks.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/autograd/variable.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/keys/thread_state.h>

#include <mutex>

namespace keyway::inline v1::autograd {

// A gradient may have a gradient, which has one: they go one after the other, not each within the last.
AutogradMeta::~AutogradMeta() {
  while (grad_ && grad_->use_count() == 1 && grad_->autograd_meta() != nullptr) {
    grad_ = std::move(static_cast<AutogradMeta*>(grad_->autograd_meta())->grad_);
  }
  delete hooks_.load(std::memory_order_acquire);
}

// The functions below are Meta's only users; what they change is theirs to know.
struct MetaAccess {
  static AutogradMeta* find(const TensorBase& tensor) {
    return static_cast<AutogradMeta*>(tensor.impl()->autograd_meta());
  }
  static AutogradMeta& make(const TensorBase& tensor) {
    if (find(tensor) == nullptr) tensor.impl()->set_autograd_meta(std::make_unique<AutogradMeta>(tensor.impl()));
    return *find(tensor);
  }
  static ViewInfo* view(const TensorBase& tensor) {
    AutogradMeta* meta = find(tensor);
    return meta == nullptr || !meta->view_.base.defined() ? nullptr : &meta->view_;
  }
  // As it was last set: that of a view may be out of date.
  static const Node* fn(const AutogradMeta& meta) { return meta.grad_fn_.get(); }
  static void set_fn(AutogradMeta& meta, Edge edge) {
    meta.output_nr_ = edge.input_nr;
    meta.grad_fn_ = std::move(edge.node);
  }
  static bool& requires_grad(AutogradMeta& meta) { return meta.requires_grad_; }
  static bool& retains_grad(AutogradMeta& meta) { return meta.retains_grad_; }
  // A backward may replace it while another thread asks for it.
  static intrusive_ptr<TensorImpl> grad(const AutogradMeta& meta) {
    const std::lock_guard lock(meta.accumulator_lock_);
    return meta.grad_;
  }
  static void set_grad(AutogradMeta& meta, intrusive_ptr<TensorImpl> grad) {
    const std::lock_guard lock(meta.accumulator_lock_);
    std::swap(meta.grad_, grad);  // what was there goes after the lock
  }
  static SpinLock& accumulator_lock(AutogradMeta& meta) { return meta.accumulator_lock_; }
  static weak_intrusive_ptr<Node>& accumulator(AutogradMeta& meta) { return meta.accumulator_; }
  static Stream& last_accumulation_stream(AutogradMeta& meta) { return meta.last_accumulation_stream_; }
  static ViewInfo& view_slot(AutogradMeta& meta) { return meta.view_; }
  // Null if there are none.
  static const LeafHooks* hooks(const TensorBase& leaf) {
    const AutogradMeta* meta = find(leaf);
    return meta == nullptr ? nullptr : meta->hooks_.load(std::memory_order_acquire);
  }
  static LeafHooks& make_hooks(const TensorBase& leaf) {
    AutogradMeta& meta = make(leaf);
    LeafHooks* there = meta.hooks_.load(std::memory_order_acquire);
    if (there != nullptr) return *there;
    auto made = std::make_unique<LeafHooks>();
    if (meta.hooks_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      return *made.release();
    return *there;
  }
};

namespace {

// Serialises what several threads may do to a view's grad_fn while they only read the view. One lock for all views,
// since renewing one may renew another; it is rare.
constinit ForkSafeRecursiveMutex graph_mutex(LockOrder::Graph);

void add_autograd_key(TensorImpl& impl) { impl.set_key_set(impl.key_set().add(Functionality::Autograd)); }

void mark_recorded(const TensorBase& tensor) {
  add_autograd_key(*tensor.impl());
  if (const ViewInfo* view = MetaAccess::view(tensor)) add_autograd_key(*view->base.impl());
}

// In anomaly mode: what a new one is to remember is asked for without the lock.
KEYWAY_COLD intrusive_ptr<Node> remembering_accumulator(const TensorBase& leaf, AutogradMeta& meta) {
  {
    const std::lock_guard lock(MetaAccess::accumulator_lock(meta));
    if (intrusive_ptr<Node> alive = MetaAccess::accumulator(meta).lock()) return alive;
  }
  // Goes after the lock, if another thread was first.
  intrusive_ptr<Node> made = make_intrusive<AccumulateGrad>(Tensor(leaf), NodeOrigin::here());
  const std::lock_guard lock(MetaAccess::accumulator_lock(meta));
  if (intrusive_ptr<Node> alive = MetaAccess::accumulator(meta).lock()) return alive;
  MetaAccess::accumulator(meta) = weak_intrusive_ptr<Node>(made);
  return made;
}

intrusive_ptr<Node> grad_accumulator(const TensorBase& leaf, AutogradMeta& meta) {
  if (AnomalyMode::is_enabled()) [[unlikely]]
    return remembering_accumulator(leaf, meta);
  const std::lock_guard lock(MetaAccess::accumulator_lock(meta));
  if (intrusive_ptr<Node> alive = MetaAccess::accumulator(meta).lock()) return alive;
  intrusive_ptr<Node> made = make_intrusive<AccumulateGrad>(Tensor(leaf));
  MetaAccess::accumulator(meta) = weak_intrusive_ptr<Node>(made);
  return made;
}

// Adds what comes to `edge` to the tensor's gradient, as long as the tensor's gradient goes there: an in-place change
// leads it elsewhere.
void retain_at(const TensorBase& tensor, const Edge& edge) {
  edge.node->add_retaining_hook([weak = weak_intrusive_ptr<TensorImpl>(tensor.impl_ptr()), node = edge.node.get(),
                                 i = edge.input_nr](variable_list& grads) {
    const intrusive_ptr<TensorImpl> alive = weak.lock();
    if (!alive || !grads[i].defined()) return;
    const TensorBase self(alive);
    AutogradMeta& meta = *MetaAccess::find(self);
    const std::lock_guard lock(*node);  // other threads may run a backward over the same node
    if (MetaAccess::fn(meta) != node) return;
    const Tensor before = grad_of(self);
    const Tensor now = before.defined() ? before + grads[i] : grads[i].clone();
    if (backward_uses_other_streams()) {
      record_use_for_caller(before);
      record_use_for_caller(now);
    }
    MetaAccess::set_grad(meta, now.impl_ptr());
  });
}

// Replaces a gradient by what the hook gives for it, if anything.
void call_hook(const GradientHook& hook, Tensor& grad) {
  if (!grad.defined()) return;
  Tensor replaced = hook(grad);
  if (!replaced.defined()) return;
  KEYWAY_CHECK_AS(
      Autograd,
      replaced.sizes() == grad.sizes() && replaced.dtype() == grad.dtype() && replaced.device() == grad.device(),
      "a hook replaced a gradient, {}, by one that is not like it, {}", describe(grad), describe(replaced));
  grad = std::move(replaced);
}

std::string_view why_not(CreationMeta creation) {
  switch (creation) {
    case CreationMeta::NoGrad: return "it was made under no_grad, so that its base does not know of it";
    case CreationMeta::MultiOutput: return "it is one of several views that one call returned";
    case CreationMeta::OtherDtype: return "its elements are of another dtype than its base's";
    case CreationMeta::CustomFunction: return "a custom Function made it";
    case CreationMeta::Inference: return "it was made in inference mode";
    case CreationMeta::Default: break;
  }
  return "";
}

}  // namespace

void AutogradMeta::renew_view_grad_fn() const {
  intrusive_ptr<Node> before;  // goes after the lock: what it frees may wait for another language's
  const TensorBase& base = view_.base;
  const bool follows = view_.creation == CreationMeta::Default && base.requires_grad();
  // Before the lock, since in anomaly mode both may wait for another language's.
  Edge base_edge = follows ? gradient_edge(base) : Edge();
  NodeOrigin origin = follows && AnomalyMode::is_enabled() ? NodeOrigin::here() : NodeOrigin();
  const std::lock_guard lock(graph_mutex);
  const std::uint32_t version = self_->version();
  if (view_.version.load(std::memory_order_relaxed) == version) return;
  // A view that is a leaf of its own keeps its history as long as its base has none. One that its base does not know of
  // stays a constant, but must not miss a history that the base got since.
  if (view_.creation != CreationMeta::Default) {
    KEYWAY_CHECK_AS(Autograd, autograd::grad_fn(base) == view_.base_grad_fn,
                    "the base of a view was changed in place where gradients are recorded, but the view cannot follow: "
                    "{}; make the view again",
                    why_not(view_.creation));
  } else if (follows) {
    const TensorBase self(intrusive_ptr<TensorImpl>::retain(self_));
    before = std::exchange(
        grad_fn_, make_intrusive<AsStridedBackward>(std::move(base_edge), geometry_of(base), self, std::move(origin)));
    output_nr_ = 0;
    if (retains_grad_) retain_at(self, {grad_fn_, 0});
  }
  view_.version.store(version, std::memory_order_release);
}

intrusive_ptr<Node> grad_fn(const TensorBase& tensor) {
  const AutogradMeta* meta = tensor.defined() ? MetaAccess::find(tensor) : nullptr;
  return meta == nullptr ? nullptr : meta->grad_fn();
}

const Node* last_grad_fn(const TensorBase& tensor) {
  const AutogradMeta* meta = MetaAccess::find(tensor);
  return meta == nullptr ? nullptr : MetaAccess::fn(*meta);
}

Edge gradient_edge(const TensorBase& tensor) {
  AutogradMeta* meta = MetaAccess::find(tensor);
  if (meta == nullptr) return {};
  if (const intrusive_ptr<Node>& fn = meta->grad_fn()) return {fn, meta->output_nr()};
  if (!MetaAccess::requires_grad(*meta)) return {};
  return {grad_accumulator(tensor, *meta), 0};
}

void set_gradient_edge(const TensorBase& tensor, Edge edge) {
  AutogradMeta& meta = MetaAccess::make(tensor);
  if (MetaAccess::retains_grad(meta)) [[unlikely]]
    retain_at(tensor, edge);
  MetaAccess::set_fn(meta, std::move(edge));
  if (ViewInfo* view = MetaAccess::view(tensor)) view->version = tensor._version();
  mark_recorded(tensor);
}

void set_history(const TensorBase& result, const intrusive_ptr<Node>& node) {
  if (!result.defined() || !is_differentiable(result.dtype())) {
    node->add_undefined_input();
    return;
  }
  const std::uint32_t number = node->add_input_metadata(result);
  set_gradient_edge(result, {node, number});
}

void rebase_history(const TensorBase& self, const intrusive_ptr<Node>& node, std::size_t input_nr) {
  note_history_change(self, "gets a history in place");
  ViewInfo* view = MetaAccess::view(self);
  const std::uint32_t number = node->add_input_metadata(self);
  if (view == nullptr) {
    set_gradient_edge(self, {node, number});
    return;
  }
  note_history_change(view->base, "gets a history in place");
  const TensorBase& base = view->base;
  const intrusive_ptr<Node> slices = make_intrusive<CopySlices>(gradient_edge(base), base, self, node, input_nr);
  set_gradient_edge(base, {slices, 0});
  add_autograd_key(*self.impl());
  view->version = self._version() - 1;  // not the current one: grad_fn is renewed when it is asked for
}

void check_inplace(std::string_view name, const TensorBase& self, bool records) {
  if (!grad_enabled() || !self.defined()) return;  // the operator refuses an undefined one
  if (self.is_inference()) {
    KEYWAY_CHECK_AS(Autograd, !records || InferenceMode::is_enabled(),
                    "argument '{}' was made in inference mode and cannot be changed in place outside of it: clone() it "
                    "first",
                    name);
    return;
  }
  const ViewInfo* view = MetaAccess::view(self);
  const bool has_history = self.requires_grad() || (view != nullptr && view->base.requires_grad());
  if (!records && !has_history) return;
  if (view != nullptr) {
    KEYWAY_CHECK_AS(Autograd, view->creation == CreationMeta::Default,
                    "argument '{}' is a view that cannot be changed in place where gradients are recorded: {}", name,
                    why_not(view->creation));
    KEYWAY_CHECK_AS(Autograd, !(view->base.requires_grad() && view->base.is_leaf()),
                    "argument '{}' is a view of a leaf that requires grad: change it under no_grad, or change a copy",
                    name);
  }
  KEYWAY_CHECK_AS(Autograd, !(self.is_leaf() && self.requires_grad()),
                  "argument '{}' is a leaf that requires grad: change it under no_grad, or change a copy", name);
}

constinit thread_local const CaptureListener* capture_listener __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit thread_local ViewListener view_listener __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

void as_view(const TensorBase& base, const TensorBase& result, CreationMeta creation) {
  if (!result.defined() || result.is_inference()) return;
  if (creation == CreationMeta::Default) {
    if (InferenceMode::is_enabled()) {
      creation = CreationMeta::Inference;
    } else if (!grad_enabled()) {
      creation = CreationMeta::NoGrad;
    }
  }
  const ViewInfo* outer = MetaAccess::view(base);
  // A view of such a view is no better; what is wrong with it goes on.
  if (outer != nullptr && creation == CreationMeta::Default) creation = outer->creation;
  const TensorBase& root = outer != nullptr ? outer->base : base;
  if (creation == CreationMeta::Default && !can_follow(root.dtype(), result.dtype()))
    creation = CreationMeta::OtherDtype;
  auto meta = std::make_unique<AutogradMeta>(result.impl());
  ViewInfo& view = MetaAccess::view_slot(*meta);
  view.base = Tensor(root);
  view.version = result._version();
  view.creation = creation;
  if (creation != CreationMeta::Default) view.base_grad_fn = grad_fn(root);
  result.impl()->set_autograd_meta(std::move(meta));
  if (is_differentiable(result.dtype())) add_autograd_key(*result.impl());
  if (view_listener != nullptr) [[unlikely]]
    view_listener(result);
}

ViewListener exchange_view_listener(ViewListener listener) { return std::exchange(view_listener, listener); }

bool is_view(const TensorBase& tensor) { return MetaAccess::view(tensor) != nullptr; }

Tensor view_base(const TensorBase& tensor) {
  const ViewInfo* view = MetaAccess::view(tensor);
  return view == nullptr ? Tensor() : view->base;
}

void set_creation_meta(const TensorBase& tensor, CreationMeta creation) {
  if (ViewInfo* view = MetaAccess::view(tensor)) view->creation = creation;
}

TensorBase unwrap_if_ended(const TensorBase& tensor) {
  if (!tensor.defined() || !tensor.key_set().has(Functionality::ForwardAD)) return tensor;
  return forward_mode_hooks().unwrap_if_ended(tensor);
}

void check_not_batched_or_dual(const TensorBase& tensor, std::string_view asked) {
  KEYWAY_CHECK_AS(Autograd, !tensor.key_set().has(Functionality::Batched),
                  "{}: within vmap the graph is that of all examples, in which the tensor of one has no place: a "
                  "function is differentiated by keyway.func.grad",
                  asked);
  KEYWAY_CHECK_AS(Autograd, !tensor.key_set().has(Functionality::ForwardAD),
                  "{}: a dual tensor has no history of its own: ask its primal, which unpack_dual gives, or "
                  "differentiate it by grad(), whose gradients are dual",
                  asked);
}

void set_requires_grad(const TensorBase& tensor, bool requires_grad) {
  KEYWAY_CHECK_AS(Autograd, !requires_grad || is_differentiable(tensor.dtype()),
                  "requires_grad_: only floating and complex tensors can require gradients, not {}", tensor.dtype());
  KEYWAY_CHECK_AS(Autograd, !requires_grad || !tensor.is_inference() || InferenceMode::is_enabled(),
                  "requires_grad_: a tensor made in inference mode cannot require gradients outside of it: clone() it");
  if (!requires_grad && MetaAccess::find(tensor) == nullptr) return;
  check_not_batched_or_dual(tensor, "requires_grad_");
  KEYWAY_CHECK_AS(Autograd, requires_grad || tensor.is_leaf(),
                  "requires_grad_: a tensor that was computed cannot be told not to require gradients: use detach()");
  if (!tensor.is_leaf()) return;
  if (tensor.requires_grad() != requires_grad) note_history_change(tensor, "is told whether it requires grad");
  MetaAccess::requires_grad(MetaAccess::make(tensor)) = requires_grad;
  if (requires_grad) mark_recorded(tensor);
}

Tensor grad_of(const TensorBase& tensor) {
  if (capture_listener != nullptr && tensor.defined()) [[unlikely]]
    capture_listener->grad_asked(tensor);
  AutogradMeta* meta = tensor.defined() ? MetaAccess::find(unwrap_if_ended(tensor)) : nullptr;
  return meta == nullptr ? Tensor() : Tensor(TensorBase(MetaAccess::grad(*meta)));
}

void set_grad(const TensorBase& tensor, const Tensor& grad) {
  if (grad.defined()) {
    KEYWAY_CHECK_AS(Autograd, !grad.is_same(tensor), "a tensor cannot be its own gradient");
    KEYWAY_CHECK_AS(Autograd, grad.sizes() == tensor.sizes(), "a gradient of shape {} is set for a tensor of shape {}",
                    grad.sizes(), tensor.sizes());
    KEYWAY_CHECK_AS(Autograd, grad.dtype() == tensor.dtype(), "a gradient of {} is set for a tensor of {}",
                    grad.dtype(), tensor.dtype());
    KEYWAY_CHECK_AS(Autograd, grad.device() == tensor.device(), "a gradient on {} is set for a tensor on {}",
                    grad.device(), tensor.device());
  }
  if (capture_listener != nullptr) [[unlikely]]
    capture_listener->grad_set(tensor, grad);
  MetaAccess::set_grad(MetaAccess::make(unwrap_if_ended(tensor)), grad.impl_ptr());
}

Stream& last_accumulation_stream(const TensorBase& leaf) {
  return MetaAccess::last_accumulation_stream(MetaAccess::make(leaf));
}

void retain_grad(const TensorBase& tensor) {
  check_not_batched_or_dual(tensor, "retain_grad");
  KEYWAY_CHECK_AS(Autograd, tensor.requires_grad(), "retain_grad: the tensor does not require grad");
  if (tensor.is_leaf() || retains_grad(tensor)) return;
  note_history_change(tensor, "retains its gradient");
  MetaAccess::retains_grad(MetaAccess::make(tensor)) = true;
  retain_at(tensor, gradient_edge(tensor));
}

void run_leaf_hooks(const TensorBase& leaf, Tensor& grad) {
  if (const LeafHooks* hooks = MetaAccess::hooks(leaf))
    hooks->of_gradient.for_each([&](const GradientHook& hook) { call_hook(hook, grad); });
}

void run_post_accumulate_hooks(const TensorBase& leaf) {
  const LeafHooks* hooks = MetaAccess::hooks(leaf);
  if (hooks == nullptr) return;
  const Tensor tensor(leaf);
  hooks->post_accumulate.for_each([&](const PostAccumulateHook& hook) { hook(tensor); });
}

bool retains_grad(const TensorBase& tensor) {
  AutogradMeta* meta = MetaAccess::find(tensor);
  return meta != nullptr && MetaAccess::retains_grad(*meta);
}

void register_hook(const TensorBase& given, GradientHook hook) {
  KEYWAY_CHECK_AS(Autograd, given.defined(), "register_hook: the tensor is undefined");
  const TensorBase tensor = unwrap_if_ended(given);
  check_not_batched_or_dual(tensor, "register_hook");
  KEYWAY_CHECK_AS(Autograd, tensor.requires_grad(), "register_hook: the tensor does not require grad");
  note_history_change(tensor, "gets a hook");
  if (!tensor.is_leaf()) {
    const Edge edge = gradient_edge(tensor);
    edge.node->add_tensor_hook(
        [hook = std::move(hook), i = edge.input_nr](variable_list& grads) { call_hook(hook, grads[i]); });
    return;
  }
  MetaAccess::make_hooks(tensor).of_gradient.add(std::move(hook));
  note_leaf_hook_change();
}

void register_post_accumulate_grad_hook(const TensorBase& leaf, PostAccumulateHook hook) {
  KEYWAY_CHECK_AS(Autograd, leaf.requires_grad() && leaf.is_leaf(),
                  "register_post_accumulate_grad_hook: the tensor is no leaf that requires grad");
  note_history_change(leaf, "gets a hook");
  MetaAccess::make_hooks(leaf).post_accumulate.add(std::move(hook));
  note_leaf_hook_change();
}

namespace {

constinit std::atomic<std::uint64_t> hook_changes{0};

}  // namespace

bool has_leaf_hooks(const TensorBase& leaf) {
  AutogradMeta* const meta = MetaAccess::find(leaf);
  if (meta == nullptr) return false;
  const LeafHooks* const hooks = MetaAccess::hooks(leaf);
  if (hooks != nullptr && !(hooks->of_gradient.empty() && hooks->post_accumulate.empty())) return true;
  intrusive_ptr<Node> accumulator;  // goes after the lock
  const std::lock_guard lock(MetaAccess::accumulator_lock(*meta));
  accumulator = MetaAccess::accumulator(*meta).lock();
  return accumulator && accumulator->has_post_hooks();
}

std::uint64_t leaf_hook_changes() { return hook_changes.load(std::memory_order_acquire); }
void note_leaf_hook_change() { hook_changes.fetch_add(1, std::memory_order_acq_rel); }

void forget_accumulator(const TensorBase& leaf) {
  AutogradMeta* meta = MetaAccess::find(leaf);
  if (meta == nullptr) return;
  const std::lock_guard lock(MetaAccess::accumulator_lock(*meta));
  MetaAccess::accumulator(*meta) = {};
}

void detach_in_place(const TensorBase& tensor) {
  KEYWAY_CHECK_AS(Autograd, !is_view(tensor), "detach_: a view cannot be detached in place: use detach()");
  AutogradMeta* meta = MetaAccess::find(tensor);
  if (meta == nullptr) return;
  note_history_change(tensor, "is detached in place");
  MetaAccess::set_fn(*meta, {});
  MetaAccess::requires_grad(*meta) = false;
  tensor.impl()->set_key_set(tensor.key_set().remove(Functionality::Autograd));
}

}  // namespace keyway::inline v1::autograd
