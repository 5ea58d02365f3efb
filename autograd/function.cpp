#include <keyway/autograd/function.h>
#include <keyway/ops/all.h>

#include <cstdlib>
#include <cxxabi.h>

namespace keyway::inline v1::autograd {

variable_list AutogradContext::saved_tensors() const {
  variable_list tensors;
  for (const SavedVariable& saved : saved_) tensors.push_back(saved.unpack(*node_));
  return tensors;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  for (const Tensor& input : inputs) dirty_.insert(input.impl());
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  for (const Tensor& output : outputs) non_differentiable_.insert(output.impl());
}

variable_list FunctionNode::apply(variable_list&& grads) {
  if (ctx.materialize_grads_) {
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (const OutputInfo* info = output_info(i); info != nullptr && !grads[i].defined()) {
        grads[i] = keyway::zeros(info->sizes, TensorOptions(info->dtype).device(info->device));
      }
    }
  }
  variable_list out = backward_(ctx, std::move(grads));
  KEYWAY_CHECK_AS(Autograd, out.size() == next_edges().size(), "{} returned {} gradients, but forward took {} tensors",
                  name_, out.size(), next_edges().size());
  return out;
}

void FunctionNode::release_variables() {
  for (SavedVariable& saved : ctx.saved_) saved.reset();
}

void FunctionNode::finish(const variable_list& inputs, variable_list& outputs, bool records) {
  std::unordered_set<const TensorImpl*> given;
  for (const Tensor& input : inputs) given.insert(input.impl());
  for (const Tensor& input : inputs) {
    if (ctx.dirty_.contains(input.impl())) {
      check_inplace(input, records);
      input.impl()->bump_version();
    }
  }
  const auto self = intrusive_ptr<Node>::retain(this);
  for (Tensor& output : outputs) {
    if (!output.defined() || !records) continue;
    const bool is_input = given.contains(output.impl());
    const bool dirty = ctx.dirty_.contains(output.impl());
    if (ctx.non_differentiable_.contains(output.impl())) {
      add_undefined_output();
    } else if (dirty) {
      rebase_history(output, self);
    } else {
      // An input that is returned as it is becomes a tensor of its own, with this node as its origin.
      if (is_input) output = output.detach();
      if (is_view(output)) set_creation(output, Creation::CustomFunction);
      set_history(output, self);
    }
  }
  if (!records) return;
  for (const Tensor& tensor : ctx.to_save_) {
    bool is_output = false;
    for (const Tensor& output : outputs) is_output = is_output || output.is_same(tensor);
    ctx.saved_.emplace_back(tensor, is_output);
  }
  ctx.to_save_.clear();
}

namespace detail {
std::string type_name(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}
}  // namespace detail

}  // namespace keyway::inline v1::autograd
