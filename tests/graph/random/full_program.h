// Random programs of all kinds of calls: views, changes in place, out=, dtypes, broadcasting, several results, random
// draws, conditions and loops, state and gradients.
#pragma once

#include <keyway/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

class FullProgram {
 public:
  // How gradients come into it.
  enum class Gradient : std::uint8_t {
    None,   // nothing requires grad
    Grad,   // the program returns gradients of its leaves
    Leave,  // it leaves them in its leaves
  };
  // The program of that number: the same wherever it is made.
  explicit FullProgram(std::uint32_t seed);

  std::uint32_t seed() const { return seed_; }
  Gradient gradient() const { return gradient_; }
  // Its inputs, with other elements for each number: those of its arguments, behind them those of its state. Some share
  // memory.
  std::vector<Tensor> inputs(std::uint32_t number) const;
  std::size_t argument_count() const { return kArguments; }
  bool shares_state() const { return seed_ % 2 == 0; }

  // Finds out which steps are calls, for these inputs, and leaves out the others. False if there is nothing left, or
  // gradients cannot be computed.
  bool settle();
  // Numbers of the steps that are made.
  const std::vector<std::uint32_t>& steps() const { return steps_; }
  void set_steps(std::vector<std::uint32_t> steps) { steps_ = std::move(steps); }

  // Its results, with a history where there is one.
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) const;
  // Gradients of what forward() gave; and its results, without a history.
  std::vector<Tensor> with_gradients(const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) const;
  // The two together: the program.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    return with_gradients(forward(inputs), inputs);
  }

 private:
  static constexpr std::size_t kArguments = 4;

  std::uint32_t seed_;
  Gradient gradient_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace keyway::inline v1::testing
