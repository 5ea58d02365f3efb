// Functors of optimizers' steps: what becomes of the elements that stand at one index of several lists of tensors.
//
// A functor has Element, their type, and kLists, their number. prepare(step) computes what all elements of a tensor
// have in common, from the number of the step, of which `step` is null where there is none; operator() changes an
// element of each list. One that is not there is a zero, and what becomes of it is lost. skips(): nothing is changed.
#pragma once

#include <keyway/ops/functors/extrema.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/functors/with_scalar.h>

#include <cmath>

namespace keyway::inline v1 {

// What is known of gradients that were computed of a loss times `grad_scale`. On the tensors' device; null: absent.
struct LossScaling {
  const float* grad_scale = nullptr;
  const float* found_inf = nullptr;

  KEYWAY_HD bool skips() const { return found_inf != nullptr && *found_inf == 1; }
  // What the gradients are to be multiplied by.
  template <typename T>
  KEYWAY_HD T unscale() const {
    return grad_scale != nullptr ? T(1) / static_cast<T>(*grad_scale) : T(1);
  }
};

// Adds a number.
template <typename T>
struct ForeachAdd {
  using Element = T;
  static constexpr int kLists = 1;
  struct Prepared {};
  AddScalar<T> add;

  KEYWAY_HD bool skips() const { return false; }
  KEYWAY_HD Prepared prepare(const float*) const { return {}; }
  KEYWAY_HD void operator()(const Prepared&, T& x) const { x = add(x); }
};

struct SgdSettings {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
  bool is_first_step;  // there is no momentum yet
};

// Lists: parameters, gradients, momentum buffers.
template <typename T>
class FusedSgd {
 public:
  using Element = T;
  using Math = Opmath<T>;
  static constexpr int kLists = 3;
  struct Prepared {
    Math unscale;
  };

  FusedSgd(const SgdSettings& s, LossScaling scaling)
      : scaling_(scaling),
        minus_lr_(static_cast<Math>(-s.lr)),
        momentum_(static_cast<Math>(s.momentum)),
        fresh_(static_cast<Math>(1 - s.dampening)),
        weight_decay_(static_cast<Math>(s.weight_decay)),
        nesterov_(s.nesterov),
        maximize_(s.maximize),
        first_(s.is_first_step) {}

  KEYWAY_HD bool skips() const { return scaling_.skips(); }
  KEYWAY_HD Prepared prepare(const float*) const { return {scaling_.unscale<Math>()}; }

  KEYWAY_HD void operator()(const Prepared& of, T& parameter, T& gradient, T& buffer) const {
    const Math p = opmath(parameter), unscaled = opmath(gradient) * of.unscale;
    const Math ascent = maximize_ ? -unscaled : unscaled;
    const Math g = weight_decay_ != 0 ? ascent + weight_decay_ * p : ascent;
    const Math b = first_ ? g : opmath(buffer) * momentum_ + fresh_ * g;
    const Math direction = momentum_ == 0 ? g : nesterov_ ? g + momentum_ * b : b;
    gradient = static_cast<T>(unscaled);
    buffer = static_cast<T>(b);
    parameter = static_cast<T>(p + minus_lr_ * direction);
  }

 private:
  LossScaling scaling_;
  Math minus_lr_, momentum_, fresh_, weight_decay_;
  bool nesterov_, maximize_, first_;
};

struct AdamSettings {
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize;
  bool decoupled;  // weight decay is AdamW's
};

// Lists: parameters, gradients, their running means, those of their squares, the greatest of these so far.
template <typename T>
class FusedAdam {
 public:
  using Element = T;
  using Math = Opmath<T>;
  static constexpr int kLists = 5;
  struct Prepared {
    Math unscale;
    Math step_size;  // minus the learning rate, corrected for the means' beginning as zeros
    Math root;       // what the root of the mean square is too small by
  };

  FusedAdam(const AdamSettings& s, LossScaling scaling)
      : scaling_(scaling),
        lr_(s.lr),
        beta1_(s.beta1),
        beta2_(s.beta2),
        old1_(static_cast<Math>(s.beta1)),
        new1_(static_cast<Math>(1 - s.beta1)),
        old2_(static_cast<Math>(s.beta2)),
        new2_(static_cast<Math>(1 - s.beta2)),
        eps_(static_cast<Math>(s.eps)),
        weight_decay_(static_cast<Math>(s.decoupled ? 0 : s.weight_decay)),
        kept_(static_cast<Math>(s.decoupled ? 1 - s.lr * s.weight_decay : 1)),
        amsgrad_(s.amsgrad),
        maximize_(s.maximize) {}

  KEYWAY_HD bool skips() const { return scaling_.skips(); }
  KEYWAY_HD Prepared prepare(const float* step) const {
    const auto t = static_cast<double>(*step);
    return {scaling_.unscale<Math>(), static_cast<Math>(-lr_ / (1 - std::pow(beta1_, t))),
            static_cast<Math>(std::sqrt(1 - std::pow(beta2_, t)))};
  }

  KEYWAY_HD void operator()(const Prepared& of, T& parameter, T& gradient, T& mean, T& square, T& greatest) const {
    const Math p = opmath(parameter) * kept_, unscaled = opmath(gradient) * of.unscale;
    const Math ascent = maximize_ ? -unscaled : unscaled;
    const Math g = weight_decay_ != 0 ? ascent + weight_decay_ * p : ascent;
    const Math m = opmath(mean) * old1_ + new1_ * g;
    const Math v = opmath(square) * old2_ + new2_ * (g * g);
    const Math most = Maximum<Math>{}(opmath(greatest), v);
    const Math denominator = std::sqrt(amsgrad_ ? most : v) / of.root + eps_;
    gradient = static_cast<T>(unscaled);
    mean = static_cast<T>(m);
    square = static_cast<T>(v);
    greatest = static_cast<T>(most);
    parameter = static_cast<T>(p + of.step_size * (m / denominator));
  }

 private:
  LossScaling scaling_;
  double lr_, beta1_, beta2_;
  Math old1_, new1_, old2_, new2_, eps_, weight_decay_, kept_;
  bool amsgrad_, maximize_;
};

}  // namespace keyway::inline v1
