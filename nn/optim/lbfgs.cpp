#include <keyway/nn/optim/lbfgs.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/nn/optim/strong_wolfe.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::optim {

namespace {

Tensor as_real(const Tensor& tensor) { return tensor.is_complex() ? view_as_real(tensor) : tensor; }
double greatest(const Tensor& tensor) { return tensor.abs().max().item<double>(); }

// A list as one tensor, with the list's elements along its first dimension.
void visit_list(std::string_view name, std::vector<Tensor>& list,
                const std::function<void(std::string_view, Tensor&)>& f) {
  Tensor all = list.empty() ? Tensor() : stack(list);
  f(name, all);
  if (all.defined()) list = all.unbind(0);
}

// One call of step().
class Run {
 public:
  Run(const LBFGSOptions& options, const std::vector<Tensor>& params, LBFGSParamState& state,
      const Optimizer::LossClosure& closure)
      : options_(options), params_(params), state_(state), closure_(closure) {}

  Tensor operator()();

 private:
  // The number that is made small; what the closure returned goes to `result`.
  double evaluate(Tensor* result = nullptr);
  Tensor flat_grad() const;
  Tensor direction(const Tensor& grad);
  // Takes in the last step and what it changed of the gradient, if the function curves upwards there.
  void remember(const Tensor& grad);
  void move(double t, const Tensor& along) const;
  LinePoint search(const LinePoint& start, const Tensor& along, double t);

  const LBFGSOptions& options_;
  const std::vector<Tensor>& params_;
  LBFGSParamState& state_;
  const Optimizer::LossClosure& closure_;
  std::int64_t evaluations_ = 0;
};

double Run::evaluate(Tensor* result) {
  ++evaluations_;
  ++state_.func_evals;
  Tensor loss;
  {
    const AutoGradMode with_grad;
    loss = closure_();
  }
  if (result != nullptr) *result = loss;
  const auto number = loss.item<double>();
  return options_.maximize() ? -number : number;
}

Tensor Run::flat_grad() const {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : params_) {
    const Tensor grad = parameter.grad();
    parts.push_back(as_real(grad.defined() ? grad.detach() : zeros_like(parameter)).reshape({-1}));
  }
  const Tensor grad = cat(parts);
  return options_.maximize() ? grad.neg() : grad;
}

void Run::remember(const Tensor& grad) {
  const Tensor y = grad.sub(state_.prev_flat_grad), s = state_.d.mul(state_.t), product = dot(y, s);
  if (!(product.item<double>() > 1e-10)) return;
  if (static_cast<std::int64_t>(state_.old_dirs.size()) == options_.history_size()) {
    for (auto* list : {&state_.old_dirs, &state_.old_stps, &state_.ro}) list->erase(list->begin());
  }
  state_.old_dirs.push_back(y);
  state_.old_stps.push_back(s);
  state_.ro.push_back(product.reciprocal());
  state_.H_diag = product.div(dot(y, y));
}

// Minus the gradient times the inverse Hessian that the changes so far suggest: the two loops of Nocedal (1980).
Tensor Run::direction(const Tensor& grad) {
  if (!state_.d.defined()) {
    for (auto* list : {&state_.old_dirs, &state_.old_stps, &state_.ro}) list->clear();
    state_.H_diag = grad.new_full({}, 1);
    return grad.neg();
  }
  remember(grad);
  const std::size_t count = state_.old_dirs.size();
  std::vector<Tensor> parts(count);
  Tensor found = grad.neg();
  for (std::size_t i = count; i-- > 0;) {
    parts[i] = dot(state_.old_stps[i], found).mul(state_.ro[i]);
    found = found.sub(state_.old_dirs[i].mul(parts[i]));
  }
  found = found.mul(state_.H_diag);
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor back = dot(state_.old_dirs[i], found).mul(state_.ro[i]);
    found = found.add(state_.old_stps[i].mul(parts[i].sub(back)));
  }
  return found;
}

void Run::move(double t, const Tensor& along) const {
  std::int64_t at = 0;
  for (const Tensor& parameter : params_) {
    const Tensor real = as_real(parameter);
    real.add_(along.narrow(0, at, real.numel()).view_as(real), t);
    at += real.numel();
  }
}

LinePoint Run::search(const LinePoint& start, const Tensor& along, double t) {
  std::vector<Tensor> begin;
  for (const Tensor& parameter : params_) begin.push_back(parameter.clone());
  const auto at = [&](double length) {
    move(length, along);
    const double loss = evaluate();
    const Tensor grad = flat_grad();
    for (std::size_t i = 0; i < params_.size(); ++i) params_[i].copy_(begin[i]);
    return LinePoint{length, loss, grad, dot(grad, along).item<double>()};
  };
  return StrongWolfe(at, start, greatest(along), 1e-9).search(t);
}

Tensor Run::operator()() {
  Tensor first;
  double loss = evaluate(&first);
  Tensor grad = flat_grad();
  const std::int64_t most = options_.max_eval().value_or(options_.max_iter() * 5 / 4);
  for (std::int64_t i = 1; i <= options_.max_iter() && !(greatest(grad) <= options_.tolerance_grad()); ++i) {
    const Tensor along = direction(grad);
    double t = options_.lr();
    if (!state_.d.defined()) t *= std::min(1.0, 1 / grad.abs().sum().item<double>());
    ++state_.n_iter;
    state_.d = along;
    state_.t = t;
    state_.prev_flat_grad = grad;
    state_.prev_loss = loss;
    const auto slope = dot(grad, along).item<double>();
    if (slope > -options_.tolerance_change()) break;
    const double old_loss = loss;
    if (options_.line_search_fn()) {
      const LinePoint found = search({0, loss, grad, slope}, along, t);
      state_.t = t = found.t;
      loss = found.loss;
      grad = found.grad;
      move(t, along);
    } else {
      move(t, along);
      if (i < options_.max_iter()) {
        loss = evaluate();
        grad = flat_grad();
      }
    }
    if (evaluations_ >= most || greatest(along.mul(t)) <= options_.tolerance_change() ||
        std::abs(loss - old_loss) < options_.tolerance_change()) {
      break;
    }
  }
  return first;
}

}  // namespace

void LBFGSOptions::visit(OptionVisitor& visitor) {
  if (!max_eval()) max_eval(max_iter() * 5 / 4);
  visitor.visit("lr_, max_iter_, max_eval_, tolerance_grad_, tolerance_change_, history_size_, maximize_",
                {lr(), max_iter(), *max_eval(), tolerance_grad(), tolerance_change(), history_size(), maximize()});
}

void LBFGSOptions::check() const {
  check_not_negative("LBFGS", {{"lr", lr()}});
  KEYWAY_CHECK(!line_search_fn() || *line_search_fn() == "strong_wolfe",
               "LBFGS: line_search_fn is '{}', but must be 'strong_wolfe'", *line_search_fn());
}

void LBFGSParamState::visit(const std::function<void(std::string_view, Tensor&)>& f) {
  f("d", d);
  f("prev_flat_grad", prev_flat_grad);
  f("H_diag", H_diag);
  visit_list("old_dirs", old_dirs, f);
  visit_list("old_stps", old_stps, f);
  visit_list("ro", ro, f);
}

void LBFGSParamState::visit_numbers(const std::function<void(std::string_view, double&)>& f) {
  f("func_evals", func_evals);
  f("n_iter", n_iter);
  f("t", t);
  f("prev_loss", prev_loss);
}

// Before the first iteration there are none; the lists may be empty later too, all of them.
bool LBFGSParamState::may_lack(std::string_view name, const Tensor& /*parameter*/) const {
  return n_iter == 0 || name == "old_dirs" || ((name == "old_stps" || name == "ro") && old_dirs.empty());
}

// All are of real parts.
ScalarType LBFGSParamState::dtype_of(std::string_view /*name*/, const Tensor& parameter) const {
  return to_real(parameter.scalar_type());
}

bool LBFGSParamState::fits(std::string_view name, const Tensor& tensor, const Tensor& /*parameter*/) const {
  const std::int64_t dims = name == "H_diag" ? 0 : name == "old_dirs" || name == "old_stps" ? 2 : 1;
  if (tensor.dim() != dims) return false;
  return (name != "old_stps" && name != "ro") || tensor.size(0) == static_cast<std::int64_t>(old_dirs.size());
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults)
    : Optimizer(std::make_unique<LBFGSOptions>(std::move(defaults))) {
  KEYWAY_CHECK(groups.size() == 1 && !groups[0].params().empty(),
               "LBFGS: there are {} groups of parameters, but must be one, with parameters", groups.size());
  this->defaults().check();
  add_param_group(std::move(groups[0]));
}

Tensor LBFGS::step(const LossClosure& closure) {
  KEYWAY_CHECK(closure != nullptr, "LBFGS: step() calls its closure, which must be given");
  OptimizerParamGroup& group = param_groups()[0];
  const NoGradGuard no_grad;
  OptimizerParamState& state = state_of(group, 0);
  Tensor loss = Run(static_cast<const LBFGSOptions&>(group.options()), group.params(),
                    static_cast<LBFGSParamState&>(state), closure)();
  ++state.step;
  return loss;
}

std::unique_ptr<OptimizerParamState> LBFGS::make_state() const { return std::make_unique<LBFGSParamState>(); }

}  // namespace keyway::inline v1::optim
