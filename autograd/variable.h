// What a tensor carries for gradients, and the functions that read and change it.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/core/base/spin_lock.h>

namespace keyway::inline v1::autograd {

// How a view came to be: what an in-place change of it may do.
enum class CreationMeta : std::uint8_t {
  Default,
  NoGrad,          // made under no_grad: a change that needs gradients is an error, since the view has no history
  MultiOutput,     // one of several views that one call made
  CustomFunction,  // made by a user's Function
  OtherDtype,      // its elements are of another dtype than its base's
  Inference,       // made in inference mode
};

// A view and its base: the tensor that is no view itself. Gradients of a view that was changed in place, or
// whose base was, flow through as_strided with this geometry.
struct ViewInfo {
  Tensor base;
  std::atomic<std::uint32_t> version{0};  // the storage's version at which grad_fn was last valid
  CreationMeta creation = CreationMeta::Default;
  intrusive_ptr<Node> base_grad_fn;  // the base's grad_fn when this view was made; null if `creation` was Default then
};

// Of a leaf: what may replace its gradient, and what is told that it has been accumulated.
using GradientHook = std::function<Tensor(const Tensor& grad)>;
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;
struct LeafHooks {
  HookList<GradientHook> of_gradient;
  HookList<PostAccumulateHook> post_accumulate;
};

class KEYWAY_API AutogradMeta final : public AutogradMetaInterface {
 public:
  explicit AutogradMeta(TensorImpl* self) : self_(self) {}
  ~AutogradMeta() override;

  bool requires_grad() const override { return requires_grad_ || grad_fn() != nullptr; }
  bool is_leaf() const override { return grad_fn() == nullptr; }
  const intrusive_ptr<TensorImpl>& grad() const override { return grad_; }

  // The node that made the tensor. Of a view it is renewed here when base or view have changed since.
  const intrusive_ptr<Node>& grad_fn() const {
    if (view_.base.defined() && view_.version.load(std::memory_order_acquire) != self_->version()) [[unlikely]]
      renew_view_grad_fn();
    return grad_fn_;
  }
  std::uint32_t output_nr() const { return output_nr_; }

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* block, std::size_t size) { free_block(block, size); }

 private:
  friend struct MetaAccess;
  void renew_view_grad_fn() const;

  TensorImpl* self_;  // the tensor that owns this
  intrusive_ptr<TensorImpl> grad_;
  mutable intrusive_ptr<Node> grad_fn_;
  mutable std::uint32_t output_nr_ = 0;
  bool requires_grad_ = false;  // of a leaf, set by the user
  bool retains_grad_ = false;
  mutable SpinLock accumulator_lock_;  // of the accumulator, and of which gradient there is
  weak_intrusive_ptr<Node> accumulator_;
  Stream last_accumulation_stream_{DeviceType::CPU};  // the CPU's: none yet
  mutable ViewInfo view_;                             // without a base: no view
  std::atomic<LeafHooks*> hooks_{nullptr};            // owned
};

// Only floating and complex tensors have gradients.
inline bool is_differentiable(ScalarType dtype) { return is_floating_point(dtype) || is_complex(dtype); }

// PyTorch's name of a tensor that gradients may flow through.
using Variable = Tensor;
inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Variable& variable : variables) {
    if (variable.defined() && variable.requires_grad()) return true;
  }
  return false;
}

// The node that made a tensor; null for leaves.
KEYWAY_API intrusive_ptr<Node> grad_fn(const TensorBase& tensor);
// Like grad_fn(), but does not renew the node of a view that was changed in place, itself or by its base: it may be
// stale. For inspection only.
KEYWAY_API const Node* last_grad_fn(const TensorBase& tensor);
// Where the gradient of a tensor goes: to the node that made it, of a leaf that requires one to its
// accumulator, else nowhere.
KEYWAY_API Edge gradient_edge(const TensorBase& tensor);
// Makes `edge` the origin of a tensor.
KEYWAY_API void set_gradient_edge(const TensorBase& tensor, Edge edge);
// Makes `node` the origin of `result`. For a non-differentiable result (of integers) it only adds an input of the node
// that never gets a gradient.
KEYWAY_API void set_history(const TensorBase& result, const intrusive_ptr<Node>& node);
// The same after an in-place change, of which `self` was input `input_nr`; a view passes its history on to its base.
KEYWAY_API void rebase_history(const TensorBase& self, const intrusive_ptr<Node>& node, std::size_t input_nr = 0);
// Throws if an in-place change of argument `name`, which has a gradient to record if `records`, is not allowed.
KEYWAY_API void check_inplace(std::string_view name, const TensorBase& self, bool records);

// Makes `result`, which shares the storage of `base`, a view of it that gradients flow through.
KEYWAY_API void as_view(const TensorBase& base, const TensorBase& result,
                        CreationMeta creation = CreationMeta::Default);
// Hears of each view that as_view makes in this thread; null: nobody does. Returns who did before.
using ViewListener = void (*)(const TensorBase& view);
KEYWAY_API ViewListener exchange_view_listener(ViewListener listener);
KEYWAY_API bool is_view(const TensorBase& tensor);
// The tensor that a view is of; undefined for others.
KEYWAY_API Tensor view_base(const TensorBase& tensor);
// Errors that a view must give when it is changed in place; set by Function and multi-output views.
KEYWAY_API void set_creation_meta(const TensorBase& view, CreationMeta creation);

// The tensor whose AutogradMeta answers for `tensor`: itself, or, for a dual tensor whose level has ended, its primal.
KEYWAY_API TensorBase unwrap_if_ended(const TensorBase& tensor);
// Throws keyway::Error(Autograd), beginning with `asked`, for the tensor of an example within vmap, and for a dual
// one.
KEYWAY_API void check_not_batched_or_dual(const TensorBase& tensor, std::string_view asked);
KEYWAY_API void set_requires_grad(const TensorBase& tensor, bool requires_grad);
KEYWAY_API Tensor grad_of(const TensorBase& tensor);
KEYWAY_API void set_grad(const TensorBase& tensor, const Tensor& grad);
// The stream that a leaf's gradient was accumulated in the last time; until then the CPU's. Requires: the leaf's node
// is locked.
KEYWAY_API Stream& last_accumulation_stream(const TensorBase& leaf);
// Keeps the gradient of a tensor that is no leaf, as the tensor's hooks leave it.
KEYWAY_API void retain_grad(const TensorBase& tensor);
KEYWAY_API bool retains_grad(const TensorBase& tensor);
// Calls the hooks of a leaf with its gradient, which they may replace.
KEYWAY_API void run_leaf_hooks(const TensorBase& leaf, Tensor& grad);
KEYWAY_API void run_post_accumulate_hooks(const TensorBase& leaf);
// Called with the gradient of `tensor` whenever one is computed; a defined result, of the same shape, dtype and device,
// replaces it. Of a tensor that is changed in place later: the gradient of its value until then.
KEYWAY_API void register_hook(const TensorBase& tensor, GradientHook hook);
// Called with a leaf whenever a backward has added to its `grad`.
KEYWAY_API void register_post_accumulate_grad_hook(const TensorBase& leaf, PostAccumulateHook hook);
// Drops the cached AccumulateGrad, so that later graphs see the leaf's current sizes and dtype.
KEYWAY_API void forget_accumulator(const TensorBase& leaf);
// Cuts a tensor off its history, in place.
KEYWAY_API void detach_in_place(const TensorBase& tensor);

}  // namespace keyway::inline v1::autograd
