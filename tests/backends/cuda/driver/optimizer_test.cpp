// Steps of optimizers on CUDA: many tensors with one launch, with the numbers of the CPU.
#include <keyway/autograd/variable.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// More tensors than one table takes, of several sizes and layouts.
std::vector<Tensor> tensors(ScalarType dtype, std::uint64_t seed) {
  manual_seed(seed);
  std::vector<Tensor> list;
  for (std::int64_t i = 0; i < 70; ++i) list.push_back(normal_numbers({i % 7}, dtype));
  list.push_back(normal_numbers({3, 3000}, dtype));
  list.push_back(normal_numbers({30, 4}, dtype).transpose(0, 1));
  return list;
}

std::vector<Tensor> put(const std::vector<Tensor>& list, bool there) {
  std::vector<Tensor> placed;
  for (const Tensor& tensor : list) placed.push_back(there ? on_cuda(tensor) : tensor.clone());
  return placed;
}

template <typename Optimizer, typename Options>
void check_steps(const Options& options) {
  for (const ScalarType dtype : kFloatDtypes) {
    std::vector<Tensor> parameters[2] = {put(tensors(dtype, 1), false), put(tensors(dtype, 1), true)};
    for (int there = 0; there < 2; ++there) {
      for (Tensor& parameter : parameters[there]) parameter.requires_grad_();
      Optimizer optimizer(parameters[there], options);
      for (std::uint64_t step = 2; step < 4; ++step) {
        const std::vector<Tensor> grads = put(tensors(dtype, step), there == 1);
        for (std::size_t i = 0; i < grads.size(); ++i) autograd::set_grad(parameters[there][i], grads[i]);
        optimizer.step();
      }
    }
    for (std::size_t i = 0; i < parameters[0].size(); ++i) {
      CHECK(is_close(parameters[1][i].detach(), parameters[0][i].detach(), tolerance_of(dtype)));
    }
  }
}

}  // namespace

TEST_CASE("steps of optimizers on CUDA are the CPU's, fused and not") {
  if (lacks_device()) return;
  for (const bool fused : {true, false}) {
    check_steps<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.1).fused(fused));
    check_steps<optim::Adam>(optim::AdamOptions(0.05).weight_decay(0.1).fused(fused));
    check_steps<optim::AdamW>(optim::AdamWOptions(0.05).amsgrad(true).fused(fused));
  }
}

TEST_CASE("loss scaling is read on the device") {
  if (lacks_device()) return;
  const auto number = [](double x) { return full({}, x, TensorOptions().dtype(kFloat).device(kCUDA)); };
  const std::vector<Tensor> parameter{number(1)}, grad{number(16)};
  _fused_sgd_(parameter, grad, std::vector<Tensor>{}, 0, 0, 0.5, 0, false, false, true, number(8), number(1));
  CHECK(parameter[0].item<double>() == 1);
  _fused_sgd_(parameter, grad, std::vector<Tensor>{}, 0, 0, 0.5, 0, false, false, true, number(8), number(0));
  CHECK(parameter[0].item<double>() == 0);
  CHECK(grad[0].item<double>() == 2);
}

TEST_CASE(
    "one tensor twice in a list is changed twice on CUDA, and what another index changes is read as the CPU does") {
  if (lacks_device()) return;
  const TensorOptions options = TensorOptions().dtype(kFloat);
  const auto changed = [&](Device device) {
    const Tensor x = zeros({100'000}, options).to(device, kFloat), y = ones({100'000}, options).to(device, kFloat);
    _foreach_add_({x, y, x}, 1);
    return stack({x, y});
  };
  CHECK(same_bits(changed(kCUDA), changed(kCPU)));
  CHECK(changed(kCUDA).sum().item<double>() == 400'000);
}
