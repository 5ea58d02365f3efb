// Optimizers and schedules by name, over ten steps of one small model.
#include <keyway/nn/nn.h>
#include <keyway/ops/all.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

using optim::Optimizer;

const nn::StateDict& no_tensors() {
  static const nn::StateDict empty_state;
  return empty_state;
}

using Groups = std::vector<optim::OptimizerParamGroup>;
using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(Groups groups, Given& given)>;

// Reads `lr` and whatever `read` reads, and makes the optimizer.
template <typename Made, typename Options, typename Read>
OptimizerMaker optimizer(const Read& read) {
  return [read](Groups groups, Given& given) -> std::unique_ptr<Optimizer> {
    Options options;
    double lr = options.lr();
    given.read("lr", lr);
    options.lr(lr);
    read(given, options);
    return std::make_unique<Made>(std::move(groups), options);
  };
}

// The options of Adam and AdamW have setters alone.
const auto read_adam = [](Given& given, auto& options) {
  auto betas = options.betas();
  double eps = options.eps(), weight_decay = options.weight_decay();
  bool amsgrad = options.amsgrad(), maximize = options.maximize();
  auto fused = options.fused();
  given.read("betas", betas), given.read("eps", eps), given.read("weight_decay", weight_decay);
  given.read("amsgrad", amsgrad), given.read("maximize", maximize), given.read("fused", fused);
  options.betas(betas).eps(eps).weight_decay(weight_decay).amsgrad(amsgrad).maximize(maximize).fused(fused);
};

const std::map<std::string, OptimizerMaker>& optimizers() {
  using namespace optim;
  static const std::map<std::string, OptimizerMaker> all = {
      {"Adadelta", optimizer<Adadelta, AdadeltaOptions>(
                       [](Given& given, auto& options) { READ(rho), READ(eps), READ(weight_decay), READ(maximize); })},
      {"Adafactor", optimizer<Adafactor, AdafactorOptions>([](Given& given, auto& options) {
         READ(beta2_decay), READ(d), READ(weight_decay), READ(maximize);
         std::vector<double> eps;
         given.read("eps", eps);
         if (eps.size() == 2) options.eps1(eps[0]).eps2(eps[1]);
       })},
      {"Adagrad", optimizer<Adagrad, AdagradOptions>([](Given& given, auto& options) {
         READ(lr_decay), READ(weight_decay), READ(initial_accumulator_value), READ(eps), READ(maximize);
       })},
      {"Adam", optimizer<Adam, AdamOptions>(read_adam)},
      {"AdamW", optimizer<AdamW, AdamWOptions>(read_adam)},
      {"Adamax", optimizer<Adamax, AdamaxOptions>(
                     [](Given& given, auto& options) { READ(betas), READ(eps), READ(weight_decay), READ(maximize); })},
      {"ASGD", optimizer<ASGD, ASGDOptions>([](Given& given, auto& options) {
         READ(lambd), READ(alpha), READ(t0), READ(weight_decay), READ(maximize);
       })},
      {"LBFGS", optimizer<LBFGS, LBFGSOptions>([](Given& given, auto& options) {
         READ(max_iter), READ(max_eval), READ(tolerance_grad), READ(tolerance_change), READ(history_size);
         READ(line_search_fn), READ(maximize);
       })},
      {"Muon", optimizer<Muon, MuonOptions>([](Given& given, auto& options) {
         READ(weight_decay), READ(momentum), READ(nesterov), READ(ns_coefficients), READ(eps), READ(ns_steps);
         READ(adjust_lr_fn);
       })},
      {"NAdam", optimizer<NAdam, NAdamOptions>([](Given& given, auto& options) {
         READ(betas), READ(eps), READ(weight_decay), READ(momentum_decay), READ(decoupled_weight_decay), READ(maximize);
       })},
      {"RAdam", optimizer<RAdam, RAdamOptions>([](Given& given, auto& options) {
         READ(betas), READ(eps), READ(weight_decay), READ(decoupled_weight_decay), READ(maximize);
       })},
      {"RMSprop", optimizer<RMSprop, RMSpropOptions>([](Given& given, auto& options) {
         READ(alpha), READ(eps), READ(weight_decay), READ(momentum), READ(centered), READ(maximize);
       })},
      {"Rprop", optimizer<Rprop, RpropOptions>(
                    [](Given& given, auto& options) { READ(etas), READ(step_sizes), READ(maximize); })},
      {"SGD", optimizer<SGD, SGDOptions>([](Given& given, auto& options) {
         READ(momentum), READ(dampening), READ(weight_decay), READ(nesterov), READ(maximize), READ(fused);
       })},
  };
  return all;
}

// Schedules. ReduceLROnPlateau is none that others can be made of: it looks at a measure.
struct Schedule {
  std::shared_ptr<optim::LRScheduler> by_step;
  std::shared_ptr<optim::ReduceLROnPlateau> by_measure;
};
using ScheduleMaker = std::function<std::shared_ptr<optim::LRScheduler>(Optimizer& optimizer, Given& given)>;

double inverse(std::int64_t step) { return 1 / (1 + static_cast<double>(step)); }

optim::CyclicLROptions cyclic(Given& given) {
  optim::CyclicLROptions options(given.get<optim::PerGroup>("base_lr"), given.get<optim::PerGroup>("max_lr"));
  READ(step_size_up), READ(step_size_down), READ(mode), READ(gamma), READ(cycle_momentum), READ(base_momentum);
  READ(max_momentum);
  return options;
}

optim::OneCycleLROptions one_cycle(Given& given) {
  optim::OneCycleLROptions options(given.get<optim::PerGroup>("max_lr"), given.integer("total_steps"));
  READ(pct_start), READ(anneal_strategy), READ(cycle_momentum), READ(base_momentum), READ(max_momentum);
  READ(div_factor), READ(final_div_factor), READ(three_phase);
  return options;
}

template <typename Made, typename... Args>
std::shared_ptr<optim::LRScheduler> schedule(Optimizer& optimizer, Args... args) {
  return std::make_shared<Made>(optimizer, std::move(args)...);
}

const std::map<std::string, ScheduleMaker>& schedules() {
  using namespace optim;
  static const std::map<std::string, ScheduleMaker> all = {
      {"LambdaLR", [](Optimizer& o, Given&) { return schedule<LambdaLR>(o, LambdaLR::Lambda(inverse)); }},
      {"MultiplicativeLR",
       [](Optimizer& o, Given&) { return schedule<MultiplicativeLR>(o, LambdaLR::Lambda(inverse)); }},
      {"StepLR", [](Optimizer& o, Given& g) { return schedule<StepLR>(o, g.integer("step_size"), g.number("gamma")); }},
      {"MultiStepLR",
       [](Optimizer& o, Given& g) {
         return schedule<MultiStepLR>(o, g.get<std::vector<std::int64_t>>("milestones"), g.number("gamma"));
       }},
      {"ExponentialLR", [](Optimizer& o, Given& g) { return schedule<ExponentialLR>(o, g.number("gamma")); }},
      {"ConstantLR",
       [](Optimizer& o, Given& g) { return schedule<ConstantLR>(o, g.number("factor"), g.integer("total_iters")); }},
      {"LinearLR",
       [](Optimizer& o, Given& g) {
         return schedule<LinearLR>(o, g.number("start_factor"), g.number("end_factor"), g.integer("total_iters"));
       }},
      {"PolynomialLR",
       [](Optimizer& o, Given& g) { return schedule<PolynomialLR>(o, g.integer("total_iters"), g.number("power")); }},
      {"CosineAnnealingLR",
       [](Optimizer& o, Given& g) { return schedule<CosineAnnealingLR>(o, g.integer("T_max"), g.number("eta_min")); }},
      {"CosineAnnealingWarmRestarts",
       [](Optimizer& o, Given& g) {
         return schedule<CosineAnnealingWarmRestarts>(o, g.integer("T_0"), g.integer("T_mult"), g.number("eta_min"));
       }},
      {"CyclicLR", [](Optimizer& o, Given& g) { return schedule<CyclicLR>(o, cyclic(g)); }},
      {"OneCycleLR", [](Optimizer& o, Given& g) { return schedule<OneCycleLR>(o, one_cycle(g)); }},
      {"SWALR",
       [](Optimizer& o, Given& g) {
         return schedule<SWALR>(o, g.get<PerGroup>("swa_lr"), g.integer("anneal_epochs"),
                                g.get<std::string>("anneal_strategy"));
       }},
  };
  return all;
}

std::shared_ptr<optim::LRScheduler> make_by_step(Optimizer& optimizer, const Json& of) {
  const std::string name = of["class"].text();
  if (name == "ChainedScheduler" || name == "SequentialLR") {
    std::vector<std::shared_ptr<optim::LRScheduler>> parts;
    const Json all = of["schedulers"];
    for (std::size_t i = 0; i < all.size(); ++i) parts.push_back(make_by_step(optimizer, all[i]));
    if (name == "ChainedScheduler") return std::make_shared<optim::ChainedScheduler>(parts);
    Given more(of, no_tensors(), "");
    return std::make_shared<optim::SequentialLR>(optimizer, parts, more.get<std::vector<std::int64_t>>("milestones"));
  }
  Given given(of["options"], no_tensors(), "");
  const auto made = schedules().at(name)(optimizer, given);
  for (const std::string& option : given.unknown()) KEYWAY_CHECK(false, "C++ has no option {} of {}", option, name);
  return made;
}

Schedule make_schedule(Optimizer& optimizer, const Json& test_case) {
  if (!test_case.has("schedule")) return {};
  const Json of = test_case["schedule"];
  if (of["class"].text() != "ReduceLROnPlateau") return {make_by_step(optimizer, of), nullptr};
  Given given(of["options"], no_tensors(), "");
  optim::ReduceLROnPlateauOptions options;
  READ(mode), READ(factor), READ(patience), READ(threshold), READ(threshold_mode), READ(cooldown), READ(min_lr);
  READ(eps);
  return {nullptr, std::make_shared<optim::ReduceLROnPlateau>(optimizer, options)};
}

// An optimizer, and its schedule, of the parameters "parameter.0" and "parameter.1"; the second is a group of its own
// if the case has a learning rate for it.
struct Training {
  std::unique_ptr<Optimizer> optimizer;
  Schedule schedule;
};

Training make_training(const Json& test_case, const Tensors& parameters) {
  Given given(test_case["options"], no_tensors(), "");
  const bool has_two = test_case.has("second_lr");
  Groups groups;
  groups.emplace_back(has_two ? Tensors{parameters[0]} : parameters);
  Training training{optimizers().at(test_case["class"].text())(std::move(groups), given), {}};
  for (const std::string& name : given.unknown()) KEYWAY_CHECK(false, "C++ has no option {}", name);
  if (has_two) {
    auto options = training.optimizer->defaults().clone();
    options->set_lr(test_case["second_lr"].number());
    training.optimizer->add_param_group({Tensors{parameters[1]}, std::move(options)});
  }
  training.schedule = make_schedule(*training.optimizer, test_case);
  return training;
}

// ((x w + b).tanh() - y)^2, or of a complex parameter (x w - y)^2 of its parts.
Tensor loss_of(const Tensors& parameters, const Tensor& x, const Tensor& y) {
  if (parameters[0].is_complex()) return view_as_real(parameters[0]).mul(x).sub(y).square().mean();
  const Tensor product = x.matmul(parameters[0]);
  return (parameters.size() > 1 ? product.add(parameters[1]) : product).tanh().sub(y).square().mean();
}

// Goes on with a new optimizer and a new schedule from the states of these.
void resume(Training& training, const Json& test_case, const Tensors& parameters) {
  const nn::StateDict state = training.optimizer->state_dict();
  Training next = make_training(test_case, parameters);
  next.optimizer->load_state_dict(state);
  if (training.schedule.by_step) next.schedule.by_step->load_state_dict(training.schedule.by_step->state_dict());
  if (training.schedule.by_measure) {
    next.schedule.by_measure->load_state_dict(training.schedule.by_measure->state_dict());
  }
  training = std::move(next);
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : optimizers()) names.push_back(name);
  return names;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names = {"ChainedScheduler", "ReduceLROnPlateau", "SequentialLR"};
  for (const auto& [name, maker] : schedules()) names.push_back(name);
  return names;
}

void run_optimizer(const Json& test_case, const nn::StateDict& tensors, nn::StateDict& results) {
  Tensors parameters;
  while (const Tensor* parameter = tensors.find("parameter." + std::to_string(parameters.size()))) {
    parameters.push_back(parameter->requires_grad_());
  }
  Training training = make_training(test_case, parameters);
  std::vector<double> rates, momenta, losses;
  for (int step = 0; step < 10; ++step) {
    if (step == 5) resume(training, test_case, parameters);
    Optimizer& optimizer = *training.optimizer;
    for (const auto& group : optimizer.param_groups()) {
      rates.push_back(group.options().get_lr());
      momenta.push_back(group.options().get_momentum().value_or(0));
    }
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor made = loss_of(parameters, tensors["x"], tensors["y"]);
      made.backward();
      return made;
    });
    losses.push_back(loss.item<double>());
    if (training.schedule.by_step) training.schedule.by_step->step();
    if (training.schedule.by_measure)
      training.schedule.by_measure->step(test_case["measures"][static_cast<std::size_t>(step)].number());
  }
  const auto listed = [](const std::vector<double>& values) {
    const Tensor tensor = empty({static_cast<std::int64_t>(values.size())}, kDouble);
    std::ranges::copy(values, tensor.data_ptr<double>());
    return tensor;
  };
  results.insert("rates", listed(rates));
  results.insert("momenta", listed(momenta));
  results.insert("losses", listed(losses));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    results.insert("parameter." + std::to_string(i), parameters[i].detach().contiguous());
  }
  for (const auto& [name, tensor] : training.optimizer->state_dict()) results.insert(name, tensor.contiguous());
}

}  // namespace keyway::inline v1::testing
