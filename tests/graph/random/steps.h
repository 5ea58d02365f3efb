// Steps of random programs: each makes a call or a few, on tensors that the program has so far.
#pragma once

#include <keyway/tensor.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace keyway::inline v1::testing {

// What one step chooses by, and the tensors that it adds to.
class Step {
 public:
  // The same number gives the same choices, as long as the tensors have the same dtypes and sizes.
  Step(std::uint32_t number, std::vector<Tensor>& tensors) : random_(number), tensors_(tensors) {}

  // An integer from 0 to `end`, which is left out and is positive.
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(end));
  }
  bool one_in(std::int64_t count) { return below(count) == 0; }
  const Tensor& any() { return tensors_[static_cast<std::size_t>(below(static_cast<std::int64_t>(tensors_.size())))]; }
  // The first of a few that has the property; whatever the last one is, if none has.
  template <typename Property>
  Tensor any_that(Property&& has) {
    Tensor tensor = any();
    for (int tries = 0; tries < 8 && !has(tensor); ++tries) tensor = any();
    return tensor;
  }
  Tensor any_floating() {
    return any_that([](const Tensor& tensor) { return is_floating_point(tensor.scalar_type()); });
  }
  // Of the dtype and the sizes of `other`.
  Tensor any_like(const Tensor& other) {
    return any_that(
        [&](const Tensor& tensor) { return tensor.dtype() == other.dtype() && tensor.sizes() == other.sizes(); });
  }
  // A dimension of the tensor; 0 where it has none.
  std::int64_t dimension(const Tensor& tensor) { return tensor.dim() == 0 ? 0 : below(tensor.dim()); }
  double number() { return static_cast<double>(below(17) - 8) / 4; }

  std::mt19937& random() { return random_; }
  std::vector<Tensor>& tensors() { return tensors_; }
  // Throws keyway::Error for a tensor that is too large to go on with.
  void give(const Tensor& tensor);
  template <typename Tuple>
  void give_all(const Tuple& results) {
    std::apply([&](const auto&... each) { (give(each), ...); }, results);
  }

 private:
  std::mt19937 random_;
  std::vector<Tensor>& tensors_;
};

// A kind of steps, and how often it comes beside the others.
struct StepKind {
  std::string_view name;
  int weight;
  void (*make)(Step&);
};

// Makes the step of that number. Throws keyway::Error where a call is none for these tensors.
void make_step(std::uint32_t number, std::vector<Tensor>& tensors);

}  // namespace keyway::inline v1::testing
