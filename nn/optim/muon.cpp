#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/muon.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::optim {

namespace {

double ratio(const std::string& adjustment, const Tensor& parameter) {
  const auto rows = static_cast<double>(parameter.size(0)), columns = static_cast<double>(parameter.size(1));
  if (adjustment == "match_rms_adamw") return 0.2 * std::sqrt(std::max(rows, columns));
  return std::sqrt(adjustment == "spectral_unclamped" ? rows / columns : std::max(1.0, rows / columns));
}

// A matrix of the same singular vectors, and of singular values near 1.
Tensor orthogonal(const Tensor& matrix, const MuonOptions& options) {
  const auto [a, b, c] = options.ns_coefficients();
  const bool is_tall = matrix.size(0) > matrix.size(1);
  Tensor x = matrix.to(kBFloat16);
  if (is_tall) x = x.t();
  x = x.div(linalg_vector_norm(x).clamp(Scalar(options.eps())));
  for (std::int64_t i = 0; i < options.ns_steps(); ++i) {
    const Tensor gram = x.matmul(x.t());
    const Tensor polynomial = addmm(gram, gram, gram, /*beta=*/b, /*alpha=*/c);
    x = addmm(x, polynomial, x, /*beta=*/a);
  }
  return is_tall ? x.t() : x;
}

}  // namespace

void MuonOptions::check() const {
  check_not_negative("Muon", {{"lr", lr()}, {"momentum", momentum()}, {"weight_decay", weight_decay()}});
  const std::string& adjustment = adjust_lr_fn();
  KEYWAY_CHECK(adjustment == "original" || adjustment == "match_rms_adamw" || adjustment == "spectral_unclamped",
               "Muon: adjust_lr_fn is '{}', but must be 'original', 'match_rms_adamw' or 'spectral_unclamped'",
               adjustment);
  KEYWAY_CHECK(ns_steps() < 100, "Muon: ns_steps is {}, but must be less than 100", ns_steps());
}

void MuonOptions::check_parameter(const Tensor& parameter) const {
  KEYWAY_CHECK(!parameter.is_complex(), "Muon: a parameter of shape {} is complex, but must be real",
               parameter.sizes());
  KEYWAY_CHECK(parameter.dim() == 2, "Muon: a parameter has shape {}, but must have 2 dimensions", parameter.sizes());
}

void Muon::update(const Tensor& parameter, const Tensor& grad, const MuonOptions& options, MuonParamState& state) {
  make_state_of("Muon", grad, state.momentum_buffer);
  state.momentum_buffer.lerp_(grad, 1 - options.momentum());
  const Tensor chosen =
      options.nesterov() ? grad.lerp(state.momentum_buffer, options.momentum()) : state.momentum_buffer;
  const Tensor change = orthogonal(chosen, options);
  parameter.mul_(1 - options.lr() * options.weight_decay());
  parameter.add_(change, -options.lr() * ratio(options.adjust_lr_fn(), parameter));
}

}  // namespace keyway::inline v1::optim
