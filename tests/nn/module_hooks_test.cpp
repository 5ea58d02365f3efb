#include <keyway/nn/module.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>

#include <string>
#include <tuple>

using namespace keyway;
using keyway::testing::error_of;
using Tensors = std::vector<Tensor>;

namespace {

// Takes a number and an absent tensor besides, and gives two results.
class PairImpl : public nn::Module {
 public:
  std::tuple<Tensor, std::vector<Tensor>> forward(const Tensor& x, double by, const Tensor& absent) {
    CHECK_FALSE(absent.defined());
    return {x * by, {x + 1, x + 2}};
  }
};
using Pair = nn::ModuleHolder<PairImpl>;

class DoubleImpl : public nn::Module {
 public:
  Tensor forward(const Tensor& x) { return x * 2; }
};
using Double = nn::ModuleHolder<DoubleImpl>;

}  // namespace

TEST_CASE("hooks run around forward, in order, until they are removed") {
  const Double twice;
  std::string order;
  const unsigned pre = twice->register_forward_pre_hook([&](nn::Module& module, Tensors& inputs) {
    order += module.is_training() ? "t<" : "<";
    inputs[0] = inputs[0] + 1;
  });
  twice->register_forward_hook([&](nn::Module&, const Tensors& inputs, Tensors& outputs) {
    CHECK(inputs[0].item<float>() == 4.0F);
    outputs[0] = outputs[0] * 10;
    order += ">";
  });
  const unsigned last = twice->register_forward_hook([&](nn::Module&, const Tensors&, Tensors&) { order += "!"; });
  CHECK(twice(tensor({3.0F})).item<float>() == 80.0F);
  CHECK(order == "t<>!");
  CHECK(twice->forward(tensor({3.0F})).item<float>() == 6.0F);
  CHECK((twice->remove_hook(pre) && twice->remove_hook(last) && !twice->remove_hook(pre) && !twice->remove_hook(99)));
  CHECK(twice(tensor({4.0F})).item<float>() == 80.0F);
  CHECK(order == "t<>!>");
}

TEST_CASE("hooks see the tensors of tuples and vectors, and of no other arguments") {
  const Pair pair;
  pair->register_forward_hook([](nn::Module&, const Tensors& inputs, Tensors& outputs) {
    CHECK((inputs.size() == 1 && outputs.size() == 3));
    outputs[2] = outputs[0];
  });
  const auto [product, sums] = pair(ones({1}), 3.0, Tensor());
  CHECK((product.item<float>() == 3.0F && sums[0].item<float>() == 2.0F && sums[1].item<float>() == 3.0F));
}

TEST_CASE("backward hooks see the gradients of inputs and results, and may change those of inputs") {
  const nn::Linear linear(nn::LinearOptions(2, 1).bias(false));
  int calls = 0;
  const unsigned id = linear->register_full_backward_hook([&](nn::Module&, Tensors& grad_inputs, const Tensors& grads) {
    ++calls;
    CHECK((grads.size() == 1 && grads[0].item<float>() == 5.0F && grad_inputs.size() == 1));
    if (grad_inputs[0].defined()) grad_inputs[0] = grad_inputs[0] * 3;
  });
  const Tensor x = ones({1, 2}, requires_grad()), data = ones({1, 2});
  (linear(x) * 5).sum().backward();
  CHECK((calls == 1 && equal(x.grad(), linear->weight.detach() * 15)));
  (linear(data) * 5).sum().backward();  // no input requires grad
  CHECK((calls == 2 && equal(linear->weight.grad(), ones({1, 2}) * 10)));
  linear->remove_hook(id);
  (linear(x) * 5).sum().backward();
  CHECK(calls == 2);
}

TEST_CASE("a hook that adds or drops tensors is refused, and so is none") {
  const Double twice;
  const unsigned id = twice->register_forward_pre_hook([](nn::Module&, Tensors& inputs) { inputs.clear(); });
  CHECK(error_of([&] { twice(ones({1})); }).find("DoubleImpl made 0 tensors of 1") != std::string::npos);
  twice->remove_hook(id);
  const unsigned empties = twice->register_forward_pre_hook([](nn::Module&, Tensors& inputs) { inputs[0] = Tensor(); });
  const unsigned sees = twice->register_full_backward_hook([](nn::Module&, Tensors&, const Tensors&) {});
  CHECK(error_of([&] { twice(ones({1}, requires_grad())); }).find("left an undefined tensor") != std::string::npos);
  CHECK((twice->remove_hook(empties) && twice->remove_hook(sees)));
  twice->register_forward_hook([](nn::Module&, const Tensors&, Tensors& outputs) { outputs.push_back(outputs[0]); });
  CHECK_FALSE(error_of([&] { twice(ones({1})); }).empty());
  CHECK_FALSE(error_of([&] { twice->register_forward_hook(nullptr); }).empty());
}
