#include <keyway/autograd/alias.h>
#include <keyway/autograd/function.h>
#include <keyway/dispatch/registry/pin_library.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cxxabi.h>
#include <utility>

namespace keyway::inline v1::autograd {

variable_list AutogradContext::saved_tensors() const {
  variable_list tensors;
  for (const SavedVariable& saved : saved_) tensors.push_back(saved.unpack(*node_, /*with_history=*/true));
  return tensors;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  for (const Tensor& input : inputs) {
    if (input.defined()) dirty_.insert(input.impl());
  }
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  for (const Tensor& output : outputs) non_differentiable_.insert(output.impl());
}

variable_list FunctionNode::apply(variable_list&& grads) {
  if (ctx.materialize_grads_) {
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (const InputMetadata* info = input_metadata(i); info != nullptr && !grads[i].defined()) {
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

// The inputs that forward changed in place say so.
void FunctionNode::mark_changed(const variable_list& inputs, const variable_list& outputs, bool records) {
  for (const TensorImpl* dirty : ctx.dirty_) {
    const auto input = std::ranges::find(inputs, dirty, &Tensor::impl);
    KEYWAY_CHECK_AS(Autograd, input != inputs.end(), "{}: a tensor given to mark_dirty is no input of forward", name_);
    KEYWAY_CHECK_AS(Autograd, std::ranges::find(outputs, dirty, &Tensor::impl) != outputs.end(),
                    "{}: forward must return the inputs that it gives to mark_dirty", name_);
    KEYWAY_CHECK_AS(Autograd, !is_view(*input) || outputs.size() == 1,
                    "{}: forward changed a view in place: it must return nothing else", name_);
    check_inplace("input of " + name_, *input, records);
    input->impl()->bump_version();
  }
}

void FunctionNode::finish(const variable_list& inputs, variable_list& outputs, bool records) {
  const auto refuse = [&](const variable_list& tensors, Functionality key, const char* text) {
    for (const Tensor& tensor : tensors)
      KEYWAY_CHECK_AS(NotImplemented, !tensor.defined() || !tensor.key_set().has(key), text, name_);
  };
  refuse(
      inputs, Functionality::Batched,
      "vmap: {} cannot take the tensor of an example: a function with a backward of its own says nothing of batches");
  refuse(inputs, Functionality::ForwardAD,
         "forward mode: {} cannot take a dual tensor: a function with a backward of its own says nothing of tangents");
  mark_changed(inputs, outputs, records);
  refuse(outputs, Functionality::ForwardAD,
         "forward mode: {} gives a dual tensor, but takes none: what it uses of duals has to be among its arguments");
  if (!records) return;
  refuse(outputs, Functionality::Batched,
         "vmap: {} gives the tensor of an example, but takes none: what it uses of examples has to be among its "
         "arguments");
  const auto self = intrusive_ptr<Node>::retain(this);
  note_history_change(TensorBase(), "a Function of autograd is applied");
  for (Tensor& output : outputs) {
    const auto input = std::ranges::find(inputs, output.impl(), &Tensor::impl);
    if (!output.defined()) {
      add_undefined_input();
    } else if (ctx.non_differentiable_.contains(output.impl())) {
      if (input != inputs.end()) output = output.detach();
      add_undefined_input();
    } else if (ctx.dirty_.contains(output.impl())) {
      rebase_history(output, self, static_cast<std::size_t>(input - inputs.begin()));
    } else {
      // An input that is returned as it is becomes a view of itself, with this node as its origin.
      if (input != inputs.end()) {
        output = Tensor(alias_of(*input));
        as_view(*input, output, CreationMeta::CustomFunction);
      }
      if (is_view(output)) set_creation_meta(output, CreationMeta::CustomFunction);
      set_history(output, self);
    }
  }
  for (const Tensor& tensor : std::exchange(ctx.to_save_, {})) {
    ctx.saved_.emplace_back(tensor, std::ranges::find(outputs, tensor.impl(), &Tensor::impl) != outputs.end());
  }
}

namespace detail {
void pin_library_of_function(const void* function) noexcept { pin_library_of(function); }

variable_list gradients_of_tensors(const std::string& name, const std::vector<bool>& positions,
                                   variable_list gradients) {
  while (gradients.size() > positions.size() && !gradients.back().defined()) gradients.pop_back();
  KEYWAY_CHECK_AS(Autograd, gradients.size() == positions.size(),
                  "{} returned {} gradients, but forward took {} arguments", name, gradients.size(), positions.size());
  variable_list of_tensors;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    KEYWAY_CHECK_AS(Autograd, positions[i] || !gradients[i].defined(),
                    "{} returned a gradient for argument {} of forward, which is no tensor", name, i);
    if (positions[i]) of_tensors.push_back(std::move(gradients[i]));
  }
  return of_tensors;
}

std::string type_name(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}
}  // namespace detail

}  // namespace keyway::inline v1::autograd
