// Gradients of the families, and the gradients of those, against differences.
#include <keyway/autograd/gradcheck.h>
#include <keyway/autograd/variable.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;

namespace {

// A leaf of float64.
Tensor leaf(IntArrayRef sizes, double low = -1, double high = 1) {
  Tensor x = keyway::rand(sizes, TensorOptions().dtype(kDouble)) * (high - low) + low;
  autograd::set_requires_grad(x, true);
  return x;
}

Tensor integers(std::initializer_list<std::int64_t> values, IntArrayRef sizes) {
  Tensor x = keyway::empty({static_cast<std::int64_t>(values.size())}, TensorOptions().dtype(kLong));
  std::copy(values.begin(), values.end(), static_cast<std::int64_t*>(x.data_ptr()));
  return x.reshape(sizes);
}

variable_list one(Tensor x) { return {std::move(x)}; }

// Both checks.
void check(const autograd::CheckedFunction& f, const variable_list& inputs) {
  CHECK(gradcheck(f, inputs));
  CHECK(gradgradcheck(f, inputs));
}

}  // namespace

TEST_CASE("softmax and its logarithm have right gradients") {
  manual_seed(1);
  for (const std::int64_t dim : {0, -1}) {
    check([dim](const variable_list& x) { return one(x[0].softmax(dim)); }, {leaf({2, 3})});
    check([dim](const variable_list& x) { return one(x[0].log_softmax(dim)); }, {leaf({2, 3})});
  }
}

TEST_CASE("layer_norm has right gradients, with weight and bias and without") {
  manual_seed(2);
  check([](const variable_list& x) { return one(keyway::layer_norm(x[0], {3}, x[1], x[2], 1e-2)); },
        {leaf({2, 3}), leaf({3}), leaf({3})});
  check([](const variable_list& x) { return one(keyway::layer_norm(x[0], {2, 3}, {}, {}, 1e-2)); }, {leaf({2, 2, 3})});
}

TEST_CASE("losses have right gradients") {
  manual_seed(3);
  const Tensor target = integers({1, 0, 2}, {3}), ignored = integers({1, -100, 2}, {3});
  const Tensor weight = keyway::rand({3}, TensorOptions().dtype(kDouble));
  for (const std::int64_t reduction : {0, 1, 2}) {
    check([&](const variable_list& x) { return one(keyway::nll_loss(x[0], ignored, weight, reduction)); },
          {leaf({3, 3})});
    check([&](const variable_list& x) { return one(keyway::cross_entropy_loss(x[0], target, {}, reduction)); },
          {leaf({3, 3})});
    check(
        [&](const variable_list& x) {
          return one(keyway::cross_entropy_loss(x[0], ignored, weight, reduction, -100, 0.2));
        },
        {leaf({3, 3})});
    check([&](const variable_list& x) { return one(keyway::mse_loss(x[0], x[1], reduction)); },
          {leaf({2, 3}), leaf({2, 3})});
    check([&](const variable_list& x) { return one(keyway::smooth_l1_loss(x[0], x[1], reduction, 0.5)); },
          {leaf({4}), leaf({4}, 2, 3)});
    check([&](const variable_list& x) { return one(keyway::huber_loss(x[0], x[1], reduction, 0.5)); },
          {leaf({4}), leaf({4}, 2, 3)});
    check(
        [&](const variable_list& x) {
          return one(keyway::binary_cross_entropy_with_logits(x[0], x[1], {}, weight, reduction));
        },
        {leaf({2, 3}, 0.1, 2), leaf({2, 3}, 0.1, 0.9)});
    check([&](const variable_list& x) { return one(keyway::kl_div(x[0], x[1], reduction)); },
          {leaf({3}), leaf({3}, 0.1, 0.9)});
  }
}

TEST_CASE("indexing has right gradients") {
  manual_seed(4);
  const Tensor index = integers({2, 0, 2}, {3});
  check([&](const variable_list& x) { return one(x[0].index_select(1, index)); }, {leaf({2, 3})});
  check([&](const variable_list& x) { return one(x[0].index_add(0, index, x[1], 2.5)); }, {leaf({3, 2}), leaf({3, 2})});
  const Tensor distinct = integers({2, 0}, {2});
  check([&](const variable_list& x) { return one(x[0].index_copy(0, distinct, x[1])); }, {leaf({3, 2}), leaf({2, 2})});
  check([&](const variable_list& x) { return one(keyway::embedding(x[0], index, 1)); }, {leaf({3, 2})});
  // Scaled by how often an index is used, the gradient is no derivative any more; its own derivative is one.
  CHECK(gradgradcheck([&](const variable_list& x) { return one(keyway::embedding(x[0], index, 0, true)); },
                      {leaf({3, 2})}));
  const Tensor indices = integers({0, 1, 1, 0}, {2, 2});
  check([&](const variable_list& x) { return one(x[0].gather(0, indices)); }, {leaf({2, 3})});
  check([&](const variable_list& x) { return one(x[0].scatter_add(0, indices, x[1])); }, {leaf({2, 3}), leaf({3, 2})});
  check(
      [&](const variable_list& x) {
        return one(x[0].scatter(1, integers({0, 1, 1, 0}, {2, 2}), x[1]));
      },
      {leaf({2, 3}), leaf({2, 2})});
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      const auto f = [&](const variable_list& x) {
        return one(x[0].scatter_reduce(0, integers({0, 0, 1}, {3}), x[1], reduce, include_self));
      };
      check(f, {leaf({2}), leaf({3})});
    }
  }
  check(
      [&](const variable_list& x) {
        return one(x[0].index({index, indexing::Slice(), integers({1, -1, 0}, {3})}));
      },
      {leaf({3, 2, 2})});
  for (const bool accumulate : {false, true}) {
    check([&](const variable_list& x) { return one(x[0].index_put({distinct}, x[1], accumulate)); },
          {leaf({3, 2}), leaf({2})});
  }
}

TEST_CASE("a product's gradient by a factor that is 0 is the product of the others, and has no derivative") {
  const auto f = [](const variable_list& x) {
    return one(x[0].scatter_reduce(0, integers({0, 0, 1, 1, 2}, {5}), x[1], "prod"));
  };
  Tensor self = keyway::ones({3}, TensorOptions().dtype(kDouble)) * 2;
  Tensor src = integers({0, 3, 0, 0, 5}, {5}).to(kDouble);
  const variable_list inputs{self.requires_grad_(), src.requires_grad_()};
  CHECK(gradcheck(f, inputs));
  const std::string error = testing::error_of([&] { gradgradcheck(f, inputs); });
  CHECK(error.find("scatter_reduce with prod is not there where factors are 0") != std::string::npos);
}

TEST_CASE("conditions and masks have right gradients") {
  manual_seed(5);
  const Tensor mask = integers({1, 0, 1, 0}, {2, 2}) == 1;
  check([&](const variable_list& x) { return one(keyway::where(mask, x[0], x[1])); }, {leaf({2, 2}), leaf({2})});
  check([&](const variable_list& x) { return one(x[0].masked_fill(mask, 3)); }, {leaf({2, 2})});
  check([&](const variable_list& x) { return one(x[0].masked_fill(mask, x[1])); }, {leaf({2, 2}), leaf({})});
  check([&](const variable_list& x) { return one(x[0].masked_select(mask)); }, {leaf({2, 2})});
  check([&](const variable_list& x) { return one(x[0].masked_scatter(mask, x[1])); }, {leaf({2, 2}), leaf({3})});
  check([&](const variable_list& x) { return one(x[0].select_scatter(x[1], 1, 0)); }, {leaf({2, 2}), leaf({2})});
  check([&](const variable_list& x) { return one(x[0].slice_scatter(x[1], 0, 0, 3, 2)); }, {leaf({3}), leaf({2})});
  const auto strided = [](const Tensor& self, const Tensor& src) {
    return one(self.as_strided_scatter(src, {2, 2}, {1, 3}, 1));
  };
  check([&](const variable_list& x) { return strided(x[0], x[1]); }, {leaf({2, 3}), leaf({2, 2})});
  check([&](const variable_list& x) { return strided(x[0].t(), x[1]); }, {leaf({2, 3}), leaf({2, 2})});
}

TEST_CASE("joining, splitting and turning have right gradients") {
  manual_seed(6);
  check([](const variable_list& x) { return one(keyway::cat({x[0], x[1]}, 1)); }, {leaf({2, 1}), leaf({2, 2})});
  check([](const variable_list& x) { return one(keyway::stack({x[0], x[1]}, -1)); }, {leaf({2}), leaf({2})});
  check([](const variable_list& x) { return x[0].split_with_sizes({1, 2}, 1); }, {leaf({2, 3})});
  check([](const variable_list& x) { return x[0].split(2, 1); }, {leaf({2, 3})});
  check([](const variable_list& x) { return x[0].chunk(2); }, {leaf({3, 2})});
  check([](const variable_list& x) { return x[0].unbind(1); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].narrow(0, 1, 2)); }, {leaf({3, 2})});
  check([](const variable_list& x) { return one(x[0].flip({0, 1})); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].repeat({2, 1, 2})); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].roll({1, -1}, {0, 1})); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].tril(-1)); }, {leaf({3, 3})});
  check([](const variable_list& x) { return one(x[0].triu(1)); }, {leaf({3, 3})});
}

TEST_CASE("sorting and cumulative operators have right gradients") {
  manual_seed(7);
  const auto first = [](const auto& results) { return one(std::get<0>(results)); };
  check([&](const variable_list& x) { return first(x[0].sort(0, true)); }, {leaf({3, 2})});
  check([&](const variable_list& x) { return first(x[0].topk(2)); }, {leaf({2, 3})});
  check([&](const variable_list& x) { return first(x[0].max(1)); }, {leaf({2, 3})});
  check([&](const variable_list& x) { return first(x[0].min(0, true)); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].cumsum(1)); }, {leaf({2, 3})});
  check([](const variable_list& x) { return one(x[0].cumprod(0)); }, {leaf({3, 2})});
  check([&](const variable_list& x) { return first(x[0].cummax(0)); }, {leaf({3, 2})});
  check([&](const variable_list& x) { return first(x[0].cummin(0)); }, {leaf({3, 2})});
  const auto with_zero = [](const variable_list& x) { return one((x[0] * integers({1, 0, 1, 0}, {4})).cumprod(0)); };
  check(with_zero, {leaf({4})});
}

TEST_CASE("dropout passes the gradient where it kept the element") {
  const auto f = [](const variable_list& x) {
    manual_seed(9);
    return one(keyway::dropout(x[0], 0.4, true));
  };
  check(f, {leaf({4, 3})});
}
