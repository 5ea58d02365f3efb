// What a graph holds goes with it.
#include <keyway/autograd/variable.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

using namespace keyway;

TEST_CASE("a leaf whose graph is gone is freed, and so is its gradient") {
  weak_intrusive_ptr<TensorImpl> leaf, gradient;
  {
    const Tensor x = rand({2, 3}, kDouble).requires_grad_();
    leaf = weak_intrusive_ptr<TensorImpl>(x.impl_ptr());
    const Tensor y = (x * x).sum();
    y.backward();
    gradient = weak_intrusive_ptr<TensorImpl>(x.grad().impl_ptr());
    CHECK_FALSE(leaf.expired());
  }
  CHECK(leaf.expired());
  CHECK(gradient.expired());
}

TEST_CASE("an in-place change of what a node has saved makes no cycle") {
  weak_intrusive_ptr<TensorImpl> leaf;
  {
    const Tensor x = rand({2, 2}, kDouble).requires_grad_();
    leaf = weak_intrusive_ptr<TensorImpl>(x.impl_ptr());
    Tensor y = x * 2;
    y.mul_(y);
    Tensor z = x * 3;
    z.mul_(z.select(0, 0));
    Tensor row = z.select(0, 0);
    row.mul_(z.select(0, 1));
    Tensor w = x * 4;
    w.add_(w * w);
    Tensor constant = ones({2, 2}, kDouble);
    constant.add_(constant * x);
    // What was kept is stale, and says so.
    CHECK(testing::error_of([&] { w.sum().backward(); }).find("was changed in place") != std::string::npos);
    CHECK(testing::error_of([&] { constant.sum().backward(); }).find("was changed in place") != std::string::npos);
    CHECK(testing::error_of([&] { y.sum().backward(); }).find("was changed in place") != std::string::npos);
  }
  CHECK(leaf.expired());
}

TEST_CASE("a leaf gets gradients from a second graph after the first is gone") {
  const Tensor x = ones({2}, kDouble).requires_grad_();
  (x * 2).sum().backward();
  (x * 3).sum().backward();
  CHECK(x.grad().sum().item().to<double>() == 10);
}

TEST_CASE("an undefined argument is refused by name where gradients are recorded too") {
  const Tensor x = rand({1, 1, 2, 2}).requires_grad_();
  CHECK(testing::error_alone([&] { keyway::_adaptive_avg_pool2d_backward(Tensor(), x); }) ==
        "_adaptive_avg_pool2d_backward: argument 'grad_output' is an undefined tensor, but must be defined");
  CHECK(testing::error_alone([&] {
          Tensor self;
          self.remainder_(x);
        }) == "remainder_.Tensor: argument 'self' is an undefined tensor, but must be defined");
}

TEST_CASE("an in-place call on a dtype that nothing computes in names itself") {
  const Tensor x = rand({2}).requires_grad_();
  Tensor narrow(make_tensor({2}, kFloat8_e5m2, DeviceType::CPU));
  CHECK(testing::error_of([&] { narrow.remainder_(x); }).find("remainder_.Tensor: ") == 0);
}
