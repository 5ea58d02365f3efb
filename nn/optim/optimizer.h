// Optimizer: changes parameters by their gradients.
//
//   optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(1e-3).weight_decay(0.1));
//   optimizer.zero_grad();
//   loss(model).backward();
//   optimizer.step();
#pragma once

#include <keyway/nn/state_dict.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace keyway::inline v1::optim {

// Reads or writes the numbers of an options object by name.
class KEYWAY_API OptionVisitor {
 public:
  virtual ~OptionVisitor();
  virtual void number(std::string_view name, double& value) = 0;
  void flag(std::string_view name, bool& value);
};

// What a group of parameters is trained with. Each optimizer has its own, with accessors.
class KEYWAY_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
  virtual void visit(OptionVisitor& visitor) = 0;
};

// What an optimizer remembers of one parameter.
class KEYWAY_API OptimizerParamState {
 public:
  virtual ~OptimizerParamState();
  // Calls f for each tensor, also for undefined ones.
  virtual void visit(const std::function<void(std::string_view name, Tensor& tensor)>& f) = 0;
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
  Tensor step(const LossClosure& closure = nullptr);
  void zero_grad(bool set_to_none = true);

  // Throws keyway::Error for a parameter that is no leaf or is in a group already.
  void add_param_group(OptimizerParamGroup group);
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  const OptimizerOptions& defaults() const { return *defaults_; }

  // Options and states: "param_groups.0.lr", "state.3.exp_avg", parameters counted over all groups. Tensors are shared.
  nn::StateDict state_dict() const;
  // Goes on from there. Throws keyway::Error for unknown or missing names and wrong shapes; then nothing has changed.
  void load_state_dict(const nn::StateDict& state);

 protected:
  explicit Optimizer(std::unique_ptr<OptimizerOptions> defaults) : defaults_(std::move(defaults)) {}

  // Changes parameters of one group in place. Called without recording; state->step is counted already.
  virtual void update_all(std::vector<ParamChange> changes, const OptimizerOptions& options) = 0;
  virtual std::unique_ptr<OptimizerParamState> make_state() const = 0;

 private:
  std::vector<OptimizerParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

// What is the same of all options and optimizers but for the types.
template <typename Self>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }
  double get_lr() const override { return static_cast<const Self&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Self&>(*this).lr(lr); }
};

template <typename Options, typename State>
class OptimizerOf : public Optimizer {
 public:
  explicit OptimizerOf(std::vector<OptimizerParamGroup> groups, Options defaults)
      : Optimizer(std::make_unique<Options>(std::move(defaults))) {
    for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
  }

 protected:
  // Changes one parameter.
  virtual void update(const Tensor& parameter, const Tensor& grad, const Options& options, State& state) = 0;
  // Changes those that one operator can change together, and leaves the others.
  virtual void update_fused(std::vector<ParamChange>& /*changes*/, const Options& /*options*/) {}

 private:
  void update_all(std::vector<ParamChange> changes, const OptimizerOptions& options) final {
    const auto& own = static_cast<const Options&>(options);
    update_fused(changes, own);
    for (const ParamChange& change : changes) {
      update(change.parameter, change.grad, own, static_cast<State&>(*change.state));
    }
  }
  std::unique_ptr<OptimizerParamState> make_state() const final { return std::make_unique<State>(); }
};

}  // namespace keyway::inline v1::optim
