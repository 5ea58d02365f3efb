#include <keyway/autograd/function.h>
#include <keyway/autograd/variable.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/optimizer.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <string>
#include <typeinfo>
#include <unordered_set>

namespace keyway::inline v1::optim {

OptionVisitor::~OptionVisitor() = default;
OptimizerOptions::~OptimizerOptions() = default;
OptimizerParamState::~OptimizerParamState() = default;
void OptimizerParamState::visit(const std::function<void(std::string_view, Tensor&)>& f) {
  for (const auto& [name, tensor] : tensors()) f(name, *tensor);
}
std::int64_t OptimizerParamState::steps() const {
  return device_step.defined() ? device_step.item<std::int64_t>() : step;
}
bool OptimizerParamState::fits(std::string_view /*name*/, const Tensor& tensor, const Tensor& parameter) const {
  return tensor.sizes() == parameter.sizes();
}
bool OptimizerParamState::may_lack(std::string_view /*name*/, const Tensor& /*parameter*/) const { return false; }
ScalarType OptimizerParamState::dtype_of(std::string_view /*name*/, const Tensor& parameter) const {
  return parameter.scalar_type();
}

void update_parts(const ParamChange& change, const std::function<void(const Tensor&, const Tensor&)>& update) {
  const Tensor parts = view_as_real(change.parameter);
  change.state->visit([](std::string_view, Tensor& tensor) {
    if (tensor.defined() && tensor.is_complex()) tensor = view_as_real(tensor);
  });
  const auto join = [&] {
    change.state->visit([&](std::string_view, Tensor& tensor) {
      if (tensor.defined() && tensor.sizes() == parts.sizes()) tensor = view_as_complex(tensor);
    });
  };
  try {
    update(parts, view_as_real(change.grad));
  } catch (...) {
    join();
    throw;
  }
  join();
}

OptimizerParamGroup::~OptimizerParamGroup() = default;
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
Optimizer::~Optimizer() = default;

void OptionVisitor::flag(std::string_view name, bool& value) {
  double as_number = value ? 1 : 0;
  number(name, as_number);
  value = as_number != 0;
}

namespace {

void visit_option(OptionVisitor& visitor, const std::string& name, double& value) { visitor.number(name, value); }
void visit_option(OptionVisitor& visitor, const std::string& name, bool& value) { visitor.flag(name, value); }
void visit_option(OptionVisitor& visitor, const std::string& name, std::int64_t& value) {
  auto as_number = static_cast<double>(value);
  visitor.number(name, as_number);
  value = static_cast<std::int64_t>(as_number);
}
void visit_option(OptionVisitor& visitor, const std::string& name, std::optional<double>& value) {
  double as_number = value.value_or(-1);
  visitor.number(name, as_number);
  value = as_number < 0 ? std::nullopt : std::optional(as_number);
}
void visit_option(OptionVisitor& visitor, const std::string& name, std::array<double, 3>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) visitor.number(name + std::to_string(i + 1), values[i]);
}
// Of "betas": "beta1" and "beta2".
void visit_option(OptionVisitor& visitor, const std::string& name, std::tuple<double, double>& values) {
  const std::string one = name.substr(0, name.size() - 1);
  visitor.number(one + "1", std::get<0>(values));
  visitor.number(one + "2", std::get<1>(values));
}

}  // namespace

void OptionVisitor::visit(std::string_view members, std::initializer_list<OptionRef> options) {
  for (const OptionRef& option : options) {
    const std::size_t end = std::min(members.find(", "), members.size());
    const std::string name(members.substr(0, end - 1));
    std::visit([&](auto* value) { visit_option(*this, name, *value); }, option.option_);
    members.remove_prefix(std::min(end + 2, members.size()));
  }
}

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : initial_lr(other.initial_lr),
      params_(other.params_),
      options_(other.options_ == nullptr ? nullptr : other.options_->clone()) {}

namespace {

// Without namespaces.
template <typename T>
std::string class_of(const T& object) {
  const std::string name = autograd::detail::type_name(typeid(object).name());
  return name.substr(name.rfind(':') + 1);
}

}  // namespace

void Optimizer::add_param_group(OptimizerParamGroup group) {
  if (!group.has_options()) group.options_ = defaults_->clone();
  const OptimizerOptions &given = group.options(), &own = *defaults_;
  KEYWAY_CHECK(typeid(given) == typeid(own), "a group of parameters has {}, but this optimizer takes {}",
               class_of(given), class_of(own));
  group.options().check();
  std::unordered_set<const TensorImpl*> known;
  for (const OptimizerParamGroup& other : groups_) {
    for (const Tensor& parameter : other.params_) known.insert(parameter.impl());
  }
  for (const Tensor& parameter : group.params_) {
    KEYWAY_CHECK(parameter.defined() && parameter.is_leaf(),
                 "an optimizer changes leaves: a parameter cannot be undefined or the result of an operator");
    KEYWAY_CHECK(known.insert(parameter.impl()).second, "a parameter of shape {} is given to the optimizer twice",
                 parameter.sizes());
    group.options().check_parameter(parameter);
  }
  group.states_.resize(group.params_.size());
  groups_.push_back(std::move(group));
}

Tensor Optimizer::step(const LossClosure& closure) {
  Tensor loss;
  if (closure) {
    const AutoGradMode grad;
    loss = closure();
  }
  const NoGradGuard no_grad;
  for (OptimizerParamGroup& group : groups_) {
    std::vector<ParamChange> changes;
    changes.reserve(group.params_.size());
    for (std::size_t i = 0; i < group.params_.size(); ++i) {
      Tensor grad = group.params_[i].grad();
      if (!grad.defined()) continue;
      OptimizerParamState& state = state_of(group, i);
      changes.push_back({group.params_[i], std::move(grad), &state});
    }
    if (!changes.empty()) update_all(std::move(changes), group.options());
  }
  return loss;
}

OptimizerParamState& Optimizer::state_of(OptimizerParamGroup& group, std::size_t i) const {
  auto& state = group.states_[i];
  if (state == nullptr) state = make_state();
  return *state;
}

void Optimizer::check_capture(const Tensor& parameter) const {
  KEYWAY_CHECK(may_be_captured() || !is_captured(parameter),
               "{}: the number of the step stands on the host where steps are not fused: they cannot be captured",
               class_of(*this));
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& group : groups_) {
    for (const Tensor& parameter : group.params_) {
      if (set_to_none) {
        autograd::set_grad(parameter, {});
      } else if (const Tensor grad = parameter.grad(); grad.defined()) {
        grad.detach().zero_();
      }
    }
  }
}

namespace {

Tensor number_tensor(double value) { return full({}, value, kDouble); }

// Puts options into a state dict.
class OptionWriter final : public OptionVisitor {
 public:
  OptionWriter(nn::StateDict& state, std::string prefix) : state_(state), prefix_(std::move(prefix)) {}
  void number(std::string_view name, double& value) override {
    state_.insert(prefix_ + std::string(name), number_tensor(value));
  }

 private:
  nn::StateDict& state_;
  std::string prefix_;
};

// Takes them out again, and notes what it took.
class StateReader final : public OptionVisitor {
 public:
  explicit StateReader(const nn::StateDict& state) : state_(state) {}

  const std::string& prefix() const { return prefix_; }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void number(std::string_view name, double& value) override {
    const Tensor* tensor = take(name);
    KEYWAY_CHECK(tensor != nullptr, "the optimizer's state lacks '{}{}'", prefix_, name);
    KEYWAY_CHECK(tensor->numel() == 1, "'{}{}' of the optimizer's state is no number, but of shape {}", prefix_, name,
                 tensor->sizes());
    value = tensor->item<double>();
  }
  bool contains(std::string_view name) const { return state_.contains(prefix_ + std::string(name)); }
  // Null if there is none.
  const Tensor* take(std::string_view name) {
    const Tensor* found = state_.find(prefix_ + std::string(name));
    if (found != nullptr) ++taken_;
    return found;
  }
  void check_all_taken() const {
    KEYWAY_CHECK(taken_ == state_.size(), "the optimizer's state has {} entries, but this optimizer knows {} of them",
                 state_.size(), taken_);
  }

 private:
  const nn::StateDict& state_;
  std::string prefix_;
  std::size_t taken_ = 0;
};

std::string state_prefix(std::size_t i) { return "state." + std::to_string(i) + "."; }
std::string group_prefix(std::size_t i) { return "param_groups." + std::to_string(i) + "."; }

void read_state(StateReader& reader, const Tensor& parameter, OptimizerParamState& state) {
  state.visit_numbers([&](std::string_view name, double& number) { reader.number(name, number); });
  state.visit([&](std::string_view name, Tensor& tensor) {
    const Tensor* value = reader.take(name);
    if (value == nullptr) {
      KEYWAY_CHECK(state.step == 0 || state.may_lack(name, parameter), "the optimizer's state lacks '{}{}'",
                   reader.prefix(), name);
      return;
    }
    KEYWAY_CHECK(state.fits(name, *value, parameter), "'{}' of a parameter of shape {} has shape {}", name,
                 parameter.sizes(), value->sizes());
    tensor = value->to(parameter.device(), state.dtype_of(name, parameter)).clone();
  });
}

}  // namespace

nn::StateDict Optimizer::state_dict() const {
  nn::StateDict dict;
  std::size_t count = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    OptionWriter writer(dict, group_prefix(g));
    groups_[g].options().clone()->visit(writer);
    for (const auto& state : groups_[g].states_) {
      const std::string prefix = state_prefix(count++);
      if (state == nullptr) continue;
      dict.insert(prefix + "step", number_tensor(static_cast<double>(state->steps())));
      state->visit([&](std::string_view name, Tensor& tensor) {
        if (tensor.defined()) dict.insert(prefix + std::string(name), tensor.detach());
      });
      state->visit_numbers([&](std::string_view name, double& number) {
        dict.insert(prefix + std::string(name), number_tensor(number));
      });
    }
  }
  return dict;
}

void Optimizer::load_state_dict(const nn::StateDict& dict) {
  const NoGradGuard no_grad;
  StateReader reader(dict);
  std::vector<OptimizerParamGroup> fresh = groups_;  // without states
  std::size_t count = 0;
  for (std::size_t g = 0; g < fresh.size(); ++g) {
    reader.set_prefix(group_prefix(g));
    fresh[g].options().visit(reader);
    for (const Tensor& parameter : fresh[g].params()) {
      reader.set_prefix(state_prefix(count++));
      auto& state = fresh[g].states_.emplace_back();
      if (!reader.contains("step")) continue;
      double step = 0;
      reader.number("step", step);
      state = make_state();
      state->step = static_cast<std::int64_t>(step);
      read_state(reader, parameter, *state);
    }
  }
  reader.check_all_taken();
  groups_.swap(fresh);
}

}  // namespace keyway::inline v1::optim
