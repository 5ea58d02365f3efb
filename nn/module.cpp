#include <keyway/autograd/function.h>
#include <keyway/nn/module.h>
#include <keyway/ops/all.h>

#include <ostream>
#include <sstream>
#include <typeinfo>
#include <unordered_set>

namespace keyway::inline v1::nn {

namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// Calls visit(name, module) for a module and all of its parts; `M` may be const.
template <typename M, typename F>
void walk(M& module, const std::string& name, F& visit) {
  visit(name, module);
  for (const auto& [child_name, child] : module.named_children()) {
    walk(static_cast<M&>(*child), joined(name, child_name), visit);
  }
}

std::string listed(const char* title, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "" : std::string("\n  ") + title + ": " + text;
}

}  // namespace

Module::~Module() = default;

std::string Module::name() const { return autograd::detail::type_name(typeid(*this).name()); }

void Module::check_name(const std::string& name) const {
  KEYWAY_CHECK(!name.empty() && name.find('.') == std::string::npos,
               "'{}' cannot name a part of {}: a name is not empty and has no dots", name, this->name());
  KEYWAY_CHECK(!parameters_.contains(name) && !buffers_.contains(name) && !children_.contains(name),
               "{} has a part '{}' already", this->name(), name);
}

Tensor Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name(name);
  if (tensor.defined()) {
    KEYWAY_CHECK(!requires_grad || autograd::is_differentiable(tensor.scalar_type()),
                 "parameter '{}' of {} is {} and cannot have a gradient", name, this->name(), tensor.scalar_type());
    KEYWAY_CHECK(tensor.is_leaf(), "parameter '{}' of {} is the result of an operator: detach() it first", name,
                 this->name());
    tensor.requires_grad_(requires_grad);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

namespace {
template <typename Hook>
unsigned add_hook(std::unique_ptr<ModuleHooks>& hooks, NumberedHooks<Hook> ModuleHooks::*kind, Hook hook) {
  KEYWAY_CHECK(hook != nullptr, "a hook is a function, and not empty");
  if (hooks == nullptr) hooks = std::make_unique<ModuleHooks>();
  (hooks.get()->*kind).emplace_back(hooks->next, std::move(hook));
  return hooks->next++;
}
}  // namespace

unsigned Module::register_forward_pre_hook(ForwardPreHook hook) {
  return add_hook(hooks_, &ModuleHooks::forward_pre, std::move(hook));
}
unsigned Module::register_forward_hook(ForwardHook hook) {
  return add_hook(hooks_, &ModuleHooks::forward, std::move(hook));
}
unsigned Module::register_full_backward_hook(BackwardHook hook) {
  return add_hook(hooks_, &ModuleHooks::backward, std::move(hook));
}

bool Module::remove_hook(unsigned id) {
  if (hooks_ == nullptr) return false;
  const auto remove = [id](auto& hooks) {
    return std::erase_if(hooks, [id](const auto& it) { return it.first == id; });
  };
  return remove(hooks_->forward_pre) + remove(hooks_->forward) + remove(hooks_->backward) != 0;
}

Tensor Module::register_buffer(std::string name, Tensor tensor) {
  check_name(name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name(name);
  KEYWAY_CHECK(module != nullptr, "part '{}' of {} is no module", name, this->name());
  children_.insert(std::move(name), std::move(module));
}

Module::Tensors Module::collect(Tensors Module::*own, bool recurse) const {
  Tensors found;
  std::unordered_set<const TensorImpl*> seen;
  const auto visit = [&](const std::string& prefix, const Module& module) {
    for (const auto& [name, tensor] : module.*own) {
      if (tensor.defined() && seen.insert(tensor.impl()).second) found.insert(joined(prefix, name), tensor);
    }
  };
  if (recurse) {
    walk(*this, "", visit);
  } else {
    visit("", *this);
  }
  return found;
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return collect(&Module::parameters_, recurse);
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return collect(&Module::buffers_, recurse);
}

void Module::visit_tensors(const std::function<void(const std::string&, const Tensor&)>& visit) const {
  const auto visit_module = [&](const std::string& prefix, const Module& module) {
    for (const Tensors* own : {&module.parameters_, &module.buffers_}) {
      for (const auto& [name, tensor] : *own) {
        if (tensor.defined()) visit(joined(prefix, name), tensor);
      }
    }
  };
  walk(*this, "", visit_module);
}

void Module::apply(const std::function<void(const std::string&, Module&)>& visit, const std::string& name) {
  walk(*this, name, visit);
}

void Module::apply(const std::function<void(Module&)>& visit) {
  const auto visit_module = [&](const std::string&, Module& module) { visit(module); };
  walk(*this, "", visit_module);
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (set_to_none) {
      autograd::set_grad(parameter, {});
    } else if (const Tensor grad = parameter.grad(); grad.defined()) {
      grad.detach().zero_();
    }
  }
}

void Module::convert(TensorOptions options) {
  const NoGradGuard no_grad;
  const auto converted = [&](const Tensor& tensor) {
    const bool casts = options.has_dtype() && autograd::is_differentiable(tensor.scalar_type());
    return tensor.detach().to(options.device_opt().value_or(tensor.device()),
                              casts ? options.dtype() : tensor.scalar_type());
  };
  visit_tensors([&](const std::string&, const Tensor& tensor) {
    const Tensor grad = tensor.grad();
    tensor.set_data(converted(tensor));
    if (grad.defined()) autograd::set_grad(tensor, converted(grad));
  });
}

StateDict Module::state_dict() const {
  StateDict state;
  visit_tensors([&](const std::string& name, const Tensor& tensor) { state.insert(name, tensor.detach()); });
  return state;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  const StateDict own = state_dict();
  std::vector<std::string> missing, unexpected, shapes;
  for (const auto& [name, tensor] : own) {
    const Tensor* value = state.find(name);
    if (value == nullptr || !value->defined()) {
      missing.push_back(name);
    } else if (!(value->sizes() == tensor.sizes())) {
      const FormatArg sizes[] = {name, value->sizes(), tensor.sizes()};
      shapes.push_back(format("{} is {} but should be {}", sizes));
    }
  }
  for (const auto& [name, value] : state) {
    if (strict && !own.contains(name)) unexpected.push_back(name);
  }
  if (!strict) missing.clear();
  const std::string errors = listed("missing", missing) + listed("unexpected", unexpected) + listed("shapes", shapes);
  KEYWAY_CHECK(errors.empty(), "the state does not fit {}:{}", name(), errors);
  const NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) {
    const Tensor* value = state.find(name);
    if (value != nullptr && value->defined()) tensor.copy_(*value);
  }
}

void Module::pretty_print(std::ostream& stream) const {
  std::string type = name();
  if (type.ends_with("Impl")) type.resize(type.size() - 4);
  stream << type.substr(type.rfind(':') + 1);
  if (children_.is_empty()) return;
  stream << "(\n";
  for (const auto& [child_name, child] : children_) {
    std::ostringstream part;
    child->pretty_print(part);
    std::string text = part.str();
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
      text.insert(at + 1, "  ");
    }
    stream << "  (" << child_name << "): " << text << "\n";
  }
  stream << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print(stream);
  return stream;
}

}  // namespace keyway::inline v1::nn
