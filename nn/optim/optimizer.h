// Optimizer: changes parameters by their gradients.
//
//   optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(1e-3).weight_decay(0.1));
//   optimizer.zero_grad();
//   loss(model).backward();
//   optimizer.step();
#pragma once

#include <keyway/nn/state_dict.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace keyway::inline v1::optim {

// An option whose numbers are visited.
class OptionRef {
 public:
  template <typename T>
  OptionRef(T& option) : option_(&option) {}  // NOLINT

 private:
  friend class OptionVisitor;
  std::variant<double*, std::int64_t*, bool*, std::optional<double>*, std::tuple<double, double>*,
               std::array<double, 3>*>
      option_;
};

// Reads or writes the numbers of an options object by name.
class KEYWAY_API OptionVisitor {
 public:
  virtual ~OptionVisitor();
  virtual void number(std::string_view name, double& value) = 0;
  void flag(std::string_view name, bool& value);
  // All numbers of members that are named like "lr_, betas_": "lr", "beta1", "beta2". Absent ones are -1.
  void visit(std::string_view members, std::initializer_list<OptionRef> options);
};

// visit() of an options class, for these members.
#define KEYWAY_VISIT_OPTIONS(...) \
  void visit(OptionVisitor& visitor) override { visitor.visit(#__VA_ARGS__, {__VA_ARGS__}); }

// What a group of parameters is trained with. Each optimizer has its own, with accessors.
class KEYWAY_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
  // What schedules of momentum change: "momentum", or the first of "betas". Absent: there is neither.
  virtual std::optional<double> get_momentum() const = 0;
  // Requires: get_momentum() is there.
  virtual void set_momentum(double momentum) = 0;
  virtual void visit(OptionVisitor& visitor) = 0;
  // Throws keyway::Error for values that make no sense.
  virtual void check() const {}
  // Throws keyway::Error for a parameter that the optimizer cannot change.
  virtual void check_parameter(const Tensor& /*parameter*/) const {}
};

struct NamedTensor {
  std::string_view name;
  Tensor* tensor;
};

// What an optimizer remembers of one parameter.
class KEYWAY_API OptimizerParamState {
 public:
  virtual ~OptimizerParamState();
  // All tensors, also undefined ones.
  virtual std::vector<NamedTensor> tensors() { return {}; }
  // Calls f for each of tensors(), or for what a class without them makes of its members.
  virtual void visit(const std::function<void(std::string_view name, Tensor& tensor)>& f);
  // Calls f for each number besides `step`.
  virtual void visit_numbers(const std::function<void(std::string_view name, double& number)>& /*f*/) {}
  // Whether `tensor` has a shape that is remembered under this name.
  virtual bool fits(std::string_view name, const Tensor& tensor, const Tensor& parameter) const;
  // Whether a state of steps that were taken, whose numbers are known, may be without the tensor of this name.
  virtual bool may_lack(std::string_view name, const Tensor& parameter) const;
  // The dtype of the tensor of this name.
  virtual ScalarType dtype_of(std::string_view name, const Tensor& parameter) const;
  // The steps that this parameter has seen. Reads device_step, if that counts them.
  std::int64_t steps() const;
  std::int64_t step = 0;
  // The same number on the parameter's device, float32, where fused steps read it. A graph that is replayed counts
  // here, and not in `step`.
  Tensor device_step;
};

// A parameter that a step changes.
struct ParamChange {
  Tensor parameter;
  Tensor grad;
  OptimizerParamState* state;
};

// Calls update(parameter, grad) with the real and imaginary parts of a complex parameter and of its gradient, as
// numbers in a last dimension; while it runs, its state has such parts too.
KEYWAY_API void update_parts(const ParamChange& change,
                             const std::function<void(const Tensor& parameter, const Tensor& grad)>& update);

// Counts one step more for each of some changes, and takes it back unless the update comes to keep(): one that throws
// is no step. Requires: the changes outlive this.
class CountedStep {
 public:
  explicit CountedStep(std::span<const ParamChange> changes) : changes_(changes) {
    for (const ParamChange& change : changes_) ++change.state->step;
  }
  CountedStep(const CountedStep&) = delete;
  CountedStep& operator=(const CountedStep&) = delete;
  ~CountedStep() {
    for (const ParamChange& change : changes_) --change.state->step;
  }
  void keep() { changes_ = {}; }

 private:
  std::span<const ParamChange> changes_;
};

// Parameters that are trained alike. Without options of its own a group takes the optimizer's.
class KEYWAY_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options = nullptr);  // NOLINT
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  const std::vector<Tensor>& params() const { return params_; }
  bool has_options() const { return options_ != nullptr; }
  // Requires: has_options(), as every group of an optimizer has.
  OptimizerOptions& options() { return *options_; }
  const OptimizerOptions& options() const { return *options_; }
  // The learning rate that schedules begin from; absent: there was no schedule yet.
  std::optional<double> initial_lr;

 private:
  friend class Optimizer;
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::vector<std::unique_ptr<OptimizerParamState>> states_;  // one for each parameter
};

class KEYWAY_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  // Changes every parameter that has a gradient. `closure`, if given, computes the loss and the gradients first; its
  // result is returned.
  virtual Tensor step(const LossClosure& closure = nullptr);
  void zero_grad(bool set_to_none = true);

  // Throws keyway::Error for a parameter that is no leaf or is in a group already, for options that make no sense, and
  // for those of another optimizer.
  void add_param_group(OptimizerParamGroup group);
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  const OptimizerOptions& defaults() const { return *defaults_; }

  // Options and states: "param_groups.0.lr", "state.3.exp_avg", parameters counted over all groups. Tensors are shared.
  nn::StateDict state_dict() const;
  // Goes on from there. Throws keyway::Error for unknown or missing names and wrong shapes; then nothing has changed.
  // Of a parameter that has no step there is no tensor to be missing.
  void load_state_dict(const nn::StateDict& state);

 protected:
  explicit Optimizer(std::unique_ptr<OptimizerOptions> defaults) : defaults_(std::move(defaults)) {}

  // Changes parameters of one group in place, and counts the step of each one that was changed, as CountedStep does.
  // Called by step() without recording.
  virtual void update_all(std::vector<ParamChange> /*changes*/, const OptimizerOptions& /*options*/) {}
  virtual std::unique_ptr<OptimizerParamState> make_state() const = 0;
  // The state of a parameter, made if there is none.
  OptimizerParamState& state_of(OptimizerParamGroup& group, std::size_t i) const;
  // Whether an update of one parameter may be captured, as it looks at no number of its state: these stand on the host,
  // where a replay does not change them.
  virtual bool may_be_captured() const { return false; }
  // Throws keyway::Error where one is captured that may not be.
  void check_capture(const Tensor& parameter) const;

 private:
  std::vector<OptimizerParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

// What is the same of all options and optimizers but for the types.
template <typename Self>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override { return std::make_unique<Self>(self()); }
  double get_lr() const override { return self().lr(); }
  void set_lr(double lr) override { static_cast<Self&>(*this).lr(lr); }
  std::optional<double> get_momentum() const override {
    if constexpr (requires(const Self& options) { options.betas(); }) {
      return std::get<0>(self().betas());
    } else if constexpr (requires(const Self& options) { options.momentum(); }) {
      return self().momentum();
    } else {
      return std::nullopt;
    }
  }
  void set_momentum(double momentum) override {
    if constexpr (requires(Self & options) { options.betas(); }) {
      static_cast<Self&>(*this).betas({momentum, std::get<1>(self().betas())});
    } else if constexpr (requires(Self & options) { options.momentum(); }) {
      static_cast<Self&>(*this).momentum(momentum);
    }
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

template <typename Options, typename State>
class OptimizerOf : public Optimizer {
 public:
  explicit OptimizerOf(std::vector<OptimizerParamGroup> groups, Options defaults = Options())
      : Optimizer(std::make_unique<Options>(std::move(defaults))) {
    this->defaults().check();
    for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
  }
  explicit OptimizerOf(std::vector<Tensor> params, Options defaults = Options())
      : OptimizerOf(std::vector<OptimizerParamGroup>{std::move(params)}, std::move(defaults)) {}

 protected:
  // Changes one parameter, which is real, or the parts of a complex one. state.step counts this step.
  virtual void update(const Tensor& parameter, const Tensor& grad, const Options& options, State& state) = 0;
  // Changes those that one operator can change together, with CountedStep, and leaves the others.
  virtual void update_fused(std::vector<ParamChange>& /*changes*/, const Options& /*options*/) {}

 private:
  void update_all(std::vector<ParamChange> changes, const OptimizerOptions& options) final {
    const auto& own = static_cast<const Options&>(options);
    update_fused(changes, own);
    for (const ParamChange& change : changes) {
      check_capture(change.parameter);
      auto& state = static_cast<State&>(*change.state);
      CountedStep count({&change, 1});
      const auto step = [&](const Tensor& parameter, const Tensor& grad) { update(parameter, grad, own, state); };
      change.parameter.is_complex() ? update_parts(change, step) : step(change.parameter, change.grad);
      count.keep();
    }
  }
  std::unique_ptr<OptimizerParamState> make_state() const final { return std::make_unique<State>(); }
};

}  // namespace keyway::inline v1::optim
