// Gradients of products, convolutions and pooling, and the gradients' gradients, against differences.
#include <keyway/autograd/gradcheck.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;

namespace {

Tensor input(IntArrayRef sizes) { return rand(sizes, kDouble).requires_grad_(); }

// Both checks.
template <typename F>
void check(const F& f, const variable_list& inputs) {
  const auto function = [&](const variable_list& x) { return variable_list{f(x)}; };
  CHECK(gradcheck(function, inputs));
  CHECK(gradgradcheck(function, inputs));
}

}  // namespace

TEST_CASE("products have gradients in every rank") {
  const auto matmul = [](const variable_list& x) { return x[0].matmul(x[1]); };
  check(matmul, {input({3}), input({3})});
  check(matmul, {input({2, 3}), input({3})});
  check(matmul, {input({3}), input({3, 2})});
  check(matmul, {input({2, 3}), input({3, 2})});
  check(matmul, {input({2, 2, 3}), input({3, 2})});
  check(matmul, {input({2, 3}), input({2, 3, 2})});
  check(matmul, {input({2, 1, 2, 3}), input({3, 3, 2})});
  check([](const variable_list& x) { return addmm(x[0], x[1], x[2], 2, 3); },
        {input({2}), input({2, 3}), input({3, 2})});
  check([](const variable_list& x) { return baddbmm(x[0], x[1], x[2], 2, 3); },
        {input({2, 1, 2}), input({2, 2, 3}), input({2, 3, 2})});
  check([](const variable_list& x) { return linear(x[0], x[1], x[2]); }, {input({2, 2, 3}), input({2, 3}), input({2})});
}

TEST_CASE("convolutions have gradients, transposed ones too") {
  check([](const variable_list& x) { return conv1d(x[0], x[1], x[2], 2, 1); },
        {input({2, 2, 5}), input({2, 2, 3}), input({2})});
  check(
      [](const variable_list& x) {
        return conv2d(x[0], x[1], x[2], {1, 2}, {1, 0}, {1, 2}, 2);
      },
      {input({1, 4, 3, 4}), input({2, 2, 2, 2}), input({2})});
  check([](const variable_list& x) { return conv3d(x[0], x[1], {}, 1, 1); },
        {input({1, 1, 2, 2, 2}), input({2, 1, 2, 2, 2})});
  check([](const variable_list& x) { return conv_transpose1d(x[0], x[1], x[2], 2, 1, 1); },
        {input({1, 2, 3}), input({2, 2, 3}), input({2})});
  check([](const variable_list& x) { return conv_transpose2d(x[0], x[1], x[2], 2, 0, 0, 2); },
        {input({1, 4, 2, 2}), input({4, 1, 2, 2}), input({2})});
}

TEST_CASE("pooling has gradients") {
  // Values far enough apart that differences do not change which is greatest.
  const Tensor spread =
      (arange(32, kDouble) * 7).remainder(full({}, 32, kDouble)).reshape({1, 2, 4, 4}).requires_grad_();
  check([](const variable_list& x) { return max_pool2d(x[0], {2, 2}, {1, 1}, {1, 1}); }, {spread});
  check([](const variable_list& x) { return max_pool1d(x[0].reshape({2, 16}), {3}, {2}); }, {spread});
  check([](const variable_list& x) { return max_pool3d(x[0], {1, 2, 2}); }, {spread});
  check([](const variable_list& x) { return avg_pool2d(x[0], {3, 2}, {2, 1}, {1, 1}, true, false); }, {spread});
  check([](const variable_list& x) { return avg_pool3d(x[0], {2, 2, 2}, {}, {0}, false, true, 3); }, {spread});
  check([](const variable_list& x) { return avg_pool1d(x[0].reshape({2, 16}), {3}, {2}, {1}); }, {spread});
  check([](const variable_list& x) { return adaptive_avg_pool2d(x[0], {3, 2}); }, {spread});
  check([](const variable_list& x) { return adaptive_avg_pool3d(x[0], {1, 3, 5}); }, {spread});
}
