#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/fuzz/gradients.h>
#include <keyway/tools/keyway/fuzz/results.h>

namespace keyway::inline v1::tools {

namespace {

// Results of more elements are views of fewer: summing their gradients finds nothing more.
constexpr std::int64_t kMaxElements = 1 << 16;

std::string wrong_gradient(const TensorBase& leaf) {
  const Tensor gradient = autograd::grad_of(leaf);
  if (!gradient.defined()) return {};
  if (gradient.sizes() == leaf.sizes() && gradient.dtype() == leaf.dtype()) return {};
  return "the gradient of " + describe(leaf) + " is " + describe(gradient);
}

}  // namespace

std::string gradient_problem(const Stack& arguments, const Stack& results) {
  for (const TensorBase& result : tensors_of(results)) {
    if (!result.requires_grad() || result.is_leaf() || result.numel() > kMaxElements || !result.is_cpu()) continue;
    try {
      const Tensor ones = keyway::ones(result.sizes(), TensorOptions().dtype(result.dtype()));
      autograd::backward({Tensor(result)}, {ones}, true);
    } catch (const Error& error) {
      // A derivative that is not there, and a graph that forbids it, are answers; so is memory that is not there.
      if (error.kind() == ErrorKind::NotImplemented || error.kind() == ErrorKind::Autograd ||
          error.kind() == ErrorKind::OutOfMemory) {
        continue;
      }
      return std::string("backward throws ") + error.what();
    } catch (const std::exception& error) {
      return std::string("backward throws, and no keyway::Error: ") + error.what();
    }
  }
  for (const TensorBase& argument : tensors_of(arguments)) {
    if (!argument.is_leaf() || !argument.requires_grad()) continue;
    const std::string text = wrong_gradient(argument);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace keyway::inline v1::tools
