// Random programs of views and changes in place.
#pragma once

#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>
#include <keyway/tests/graph/replayed.h>

#include <cstdlib>
#include <random>

namespace keyway::inline v1::testing {

// A view of one of the tensors, or a change in place.
inline void step_of_views(std::mt19937& random, std::vector<Tensor>& tensors) {
  const auto pick = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(below));
  };
  const Tensor x = tensors[static_cast<std::size_t>(pick(static_cast<std::int64_t>(tensors.size())))];
  const std::int64_t rank = x.dim();
  const std::int64_t dim = rank == 0 ? 0 : pick(rank);
  const std::int64_t size = rank == 0 ? 0 : x.size(dim);
  switch (pick(25)) {
    case 0: return rank > 0 && size > 0 ? tensors.push_back(x.select(dim, pick(size))) : void();
    case 1: return rank > 0 && size > 1 ? tensors.push_back(x.slice(dim, pick(size), size, 1 + pick(2))) : void();
    case 2: return rank > 1 ? tensors.push_back(x.transpose(dim, pick(rank))) : void();
    case 3: return rank < 4 ? tensors.push_back(x.unsqueeze(pick(rank + 1))) : void();
    case 4: return tensors.push_back(x.squeeze());
    case 5: return tensors.push_back(x.reshape({-1}));
    case 6: return rank > 1 ? tensors.push_back(x.diagonal(0, 0, 1)) : void();
    case 7:
      return rank > 0 && size > 1 ? tensors.push_back(x.split(1, dim)[static_cast<std::size_t>(pick(size))]) : void();
    case 8: return rank > 0 && size > 1 ? tensors.push_back(x.narrow(dim, 0, size - 1)) : void();
    case 9: return tensors.push_back(x * 0.5 + 1);
    case 10: return tensors.push_back(x.clone());
    case 11: return static_cast<void>(x.add_(0.25));
    case 12: return static_cast<void>(x.mul_(x.mean()));
    case 13: return static_cast<void>(x.fill_(static_cast<double>(pick(5))));
    case 14: return static_cast<void>(x.copy_(x.sum()));
    case 15: return rank > 0 && size > 0 ? static_cast<void>(x.select(dim, 0).zero_()) : void();
    case 16: return tensors.push_back(x.contiguous());
    case 17: return rank > 1 ? tensors.push_back(x.movedim(dim, 0)) : void();
    case 18:
      return rank > 0 && size > 0 ? tensors.push_back(x.unbind(dim)[static_cast<std::size_t>(pick(size))]) : void();
    case 19: return rank > 0 && size > 2 ? tensors.push_back(x.unfold(dim, 2, 2)) : void();
    case 20: return tensors.push_back(x.as_strided({x.numel() > 1 ? 2 : 1}, {x.numel() > 1 ? x.numel() / 2 : 1}));
    case 21: return static_cast<void>(x.masked_fill_(x.gt(0.5), 0.125));
    case 22: return rank > 0 && size > 0 ? static_cast<void>(x.select(dim, 0).copy_(x.select(dim, size - 1))) : void();
    case 23: {
      Tensor out = keyway::empty_like(x);
      keyway::add_out(out, x, x);
      return tensors.push_back(rank > 1 ? out.transpose_(0, 1) : out);
    }
    default: return tensors.push_back(x.view_as(x));
  }
}

// Makes one random program, the same whenever it is called with the same seed.
class RandomProgram {
 public:
  RandomProgram(std::uint32_t seed, bool with_gradient) : seed_(seed), with_gradient_(with_gradient) {}

  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    std::mt19937 random(seed_);
    std::vector<Tensor> tensors;
    for (const Tensor& input : inputs) tensors.push_back(input.requires_grad() ? input * 1.5 : input);
    const int steps = 3 + static_cast<int>(random() % 12);
    for (int i = 0; i < steps; ++i) step_of_views(random, tensors);
    std::vector<Tensor> results;
    for (int i = 0; i < 3; ++i) results.push_back(tensors[random() % tensors.size()]);
    results.push_back(tensors.back());
    return with_gradient_ ? gradients(results, inputs) : results;
  }

 private:
  static std::vector<Tensor> gradients(const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) {
    Tensor loss = results[0].new_zeros({});
    for (const Tensor& result : results) loss = loss + (result * result).sum();
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs)
      if (input.requires_grad()) leaves.push_back(input);
    std::vector<Tensor> all = loss.requires_grad() ? autograd::grad({loss}, leaves, {}, /*retain_graph=*/false,
                                                                    /*create_graph=*/false, /*allow_unused=*/true)
                                                   : std::vector<Tensor>();
    for (const Tensor& result : results) all.push_back(result.detach());
    return all;
  }

  std::uint32_t seed_;
  bool with_gradient_;
};

inline std::vector<Tensor> random_inputs(std::uint32_t seed, bool with_gradient) {
  manual_seed(seed);
  const Tensor a = randn({2, 3, 4}), base = randn({6, 4});
  // The last two share memory.
  std::vector<Tensor> inputs = {a, base.slice(0, 0, 4), base.slice(0, 2, 6).t()};
  if (with_gradient) inputs[0].requires_grad_();
  return inputs;
}

// Whether it is a program: one with an error, as a change in place of what is expanded is, is none.
inline bool runs(const Program& program, const std::vector<Tensor>& inputs) {
  try {
    program(copies_of(inputs));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// More where asked for.
inline std::uint32_t program_count() {
  const char* const asked = std::getenv("KEYWAY_RANDOM_PROGRAMS");
  return asked == nullptr ? 1500 : static_cast<std::uint32_t>(std::atoi(asked));
}

}  // namespace keyway::inline v1::testing
