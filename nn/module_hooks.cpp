#include <keyway/autograd/function.h>
#include <keyway/core/base/error.h>
#include <keyway/nn/module.h>
#include <keyway/ops/all.h>

#include <algorithm>

namespace keyway::inline v1::nn::detail {
namespace {

// Tensors as they come, behind a node of their own, whose hooks see their gradients.
struct Passage : autograd::Function<Passage> {
  static std::vector<Tensor> forward(autograd::AutogradContext& context, const std::vector<Tensor>& tensors) {
    std::vector<Tensor> passed, fixed;
    for (const Tensor& tensor : tensors) {
      passed.push_back(tensor.view_as(tensor));
      if (!tensor.requires_grad()) fixed.push_back(passed.back());
    }
    context.mark_non_differentiable(fixed);
    return passed;
  }
  static std::vector<Tensor> backward(autograd::AutogradContext&, std::vector<Tensor> grads) { return grads; }
};

// Of what a hook left of `count` tensors.
void check_left(const char* hook, const Module& module, const std::vector<Tensor>& tensors, std::size_t count) {
  KEYWAY_CHECK(tensors.size() == count, "a {} of {} made {} tensors of {}", hook, module.name(), tensors.size(), count);
  KEYWAY_CHECK(std::ranges::all_of(tensors, &Tensor::defined), "a {} of {} left an undefined tensor", hook,
               module.name());
}

// Puts the tensors behind a node, which is returned; null where none of them requires grad.
autograd::Node* put_behind_node(std::vector<Tensor>& tensors) {
  if (!grad_enabled() || std::ranges::none_of(tensors, &Tensor::requires_grad)) return nullptr;
  tensors = Passage::apply(tensors);
  for (const Tensor& tensor : tensors)
    if (tensor.requires_grad()) return autograd::grad_fn(tensor).get();
  return nullptr;
}

}  // namespace

// Kept by the nodes of the call.
struct HookedCall::Backward {
  std::shared_ptr<Module> module;
  NumberedHooks<BackwardHook> hooks;
  std::size_t inputs = 0;
  bool sees_inputs = false;
  std::vector<Tensor> grad_outputs;

  void run(std::vector<Tensor>& grad_inputs) {
    const std::vector<Tensor> grads = std::move(grad_outputs);
    for (const auto& [id, hook] : hooks) {
      const std::size_t count = grad_inputs.size();
      hook(*module, grad_inputs, grads);
      KEYWAY_CHECK(grad_inputs.size() == count, "a backward hook of {} made {} gradients of {}", module->name(),
                   grad_inputs.size(), count);
    }
  }
};

HookedCall::HookedCall(Module& module, const ModuleHooks& hooks) : module_(module), hooks_(hooks) {
  if (hooks_.backward.empty()) return;
  backward_ = std::make_shared<Backward>();
  backward_->module = module.shared_from_this();
  backward_->hooks = hooks_.backward;
}

HookedCall::~HookedCall() = default;

void HookedCall::before(std::vector<Tensor>& inputs) {
  for (const auto& [id, hook] : hooks_.forward_pre) {
    const std::size_t count = inputs.size();
    hook(module_, inputs);
    check_left("forward pre-hook", module_, inputs, count);
  }
  if (backward_ != nullptr) {
    backward_->inputs = inputs.size();
    if (autograd::Node* const node = put_behind_node(inputs)) {
      backward_->sees_inputs = true;
      node->add_post_hook([state = backward_](std::vector<Tensor>& grad_inputs, const std::vector<Tensor>&) {
        if (!state->grad_outputs.empty()) state->run(grad_inputs);
      });
    }
  }
  inputs_ = inputs;
}

void HookedCall::after(std::vector<Tensor>& outputs) {
  for (const auto& [id, hook] : hooks_.forward) {
    const std::size_t count = outputs.size();
    hook(module_, inputs_, outputs);
    check_left("forward hook", module_, outputs, count);
  }
  if (backward_ == nullptr) return;
  autograd::Node* const node = put_behind_node(outputs);
  if (node == nullptr) return;
  node->add_pre_hook([state = backward_](std::vector<Tensor>& grad_outputs) {
    state->grad_outputs = grad_outputs;
    if (state->sees_inputs) return;
    std::vector<Tensor> none(state->inputs);
    state->run(none);
  });
}

}  // namespace keyway::inline v1::nn::detail
