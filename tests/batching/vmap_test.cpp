// vmap in C++: levels, what leaves them, and what is refused.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/batching/level_dims.h>
#include <keyway/batching/vmap.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <optional>
#include <string>
#include <thread>

using namespace keyway;
using keyway::testing::error_of;

namespace {

Tensor numbers(std::int64_t rows, std::int64_t columns) {
  return arange(rows * columns, TensorOptions(kFloat)).reshape({rows, columns});
}

bool same(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && a.equal(b); }

template <typename F>
bool says(const F& call, const std::string& text) {
  return error_of(call).find(text) != std::string::npos;
}

struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext&, const Tensor& x) { return x.mul(2); }
  static autograd::variable_list backward(autograd::AutogradContext&, autograd::variable_list&& grads) {
    return {grads[0].mul(2)};
  }
};

}  // namespace

TEST_CASE("a tensor of an example has its shape and dtype, and stands for all") {
  const Tensor inputs = numbers(3, 4);
  const Vmap batch(3);
  const Tensor x = batch.add_batch_dim(inputs);
  CHECK(x.sizes() == IntArrayRef({4}));
  CHECK(x.dtype() == kFloat);
  CHECK(batch.is_batched(x));
  CHECK_FALSE(batch.is_batched(inputs));
  CHECK(same(batch.remove_batch_dim(x.mul(2)), inputs.mul(2)));
  CHECK(same(batch.remove_batch_dim(x.sum(), 0), inputs.sum({1})));
  CHECK(same(batch.remove_batch_dim(x, 1), inputs.t()));
  CHECK(same(batch.remove_batch_dim(ones({2})), ones({3, 2})));
  CHECK(x.is_alias_of(inputs));
  CHECK_FALSE(batch.remove_batch_dim(Tensor()).defined());
}

TEST_CASE("vmaps stand within each other") {
  const Tensor a = numbers(1, 2)[0];
  const Tensor b = numbers(1, 3)[0];
  const Vmap outer(2);
  const Tensor x = outer.add_batch_dim(a);
  Tensor rows;
  {
    const Vmap inner(3);
    const Tensor y = inner.add_batch_dim(b);
    const Tensor product = x * y + x;
    CHECK(product.dim() == 0);
    rows = inner.remove_batch_dim(product);
    CHECK_FALSE(inner.is_batched(x));
  }
  CHECK(same(outer.remove_batch_dim(rows), a.unsqueeze(1) * b + a.unsqueeze(1)));
}

TEST_CASE("levels as dimensions, and back") {
  const Tensor inputs = numbers(2, 3);
  const Vmap outer(2);
  const batching::VmapLevel* level = batching::innermost_level();
  const Tensor x = outer.add_batch_dim(inputs);
  CHECK(same(batching::with_level_dims(x, level), inputs));
  CHECK(same(batching::with_level_dims(ones({3}), level), ones({2, 3})));
  CHECK(same(outer.remove_batch_dim(batching::without_level_dims(inputs, level)), inputs));
  const Vmap inner(3);
  const Tensor y = inner.add_batch_dim(x);
  const Tensor whole = batching::with_level_dims(y, batching::innermost_level());
  CHECK(same(whole, inputs));
  // The inner level stays.
  const Tensor partly = batching::with_level_dims(y, level);
  CHECK(partly.sizes() == IntArrayRef({2}));
  CHECK(inner.is_batched(partly));
  CHECK(same(batching::with_level_dims(batching::without_level_dims(partly, level), batching::innermost_level()),
             inputs));
}

TEST_CASE("what is wrong with a batch is said") {
  CHECK(says([&] { static_cast<void>(Vmap(0)); }, "a batch of 0 examples"));
  CHECK(says([&] { static_cast<void>(Vmap(-1)); }, "a batch of -1 examples"));
  const Vmap batch(3);
  CHECK(says([&] { static_cast<void>(batch.add_batch_dim(ones({2}))); }, "is not that of 3 examples"));
  CHECK(says([&] { static_cast<void>(batch.add_batch_dim(ones({3}), 1)); }, ""));
  CHECK(says([&] { static_cast<void>(batch.add_batch_dim(Tensor())); }, ""));
  CHECK(says([&] { static_cast<void>(batch.remove_batch_dim(ones({3}), 2)); }, "there is no dimension 2"));
}

TEST_CASE("a tensor that has left its vmap is refused") {
  std::optional<Vmap> batch(std::in_place, 2);
  const Tensor x = batch->add_batch_dim(ones({2}));
  std::string elsewhere;
  std::thread([&] { elsewhere = error_of([&] { static_cast<void>(x.add(1)); }); }).join();
  CHECK(elsewhere.find("in another thread") != std::string::npos);
  batch.reset();
  CHECK(says([&] { static_cast<void>(x.add(1)); }, "outside of the vmap that it belongs to"));
  const Vmap other(2);
  CHECK(says([&] { static_cast<void>(x.add(1)); }, "outside of the vmap that it belongs to"));
}

TEST_CASE("random operators draw as the batch says") {
  {
    const Vmap batch(2);
    CHECK(says([&] { static_cast<void>(rand({2})); }, "randomness"));
  }
  {
    const Vmap batch(2, Randomness::Same);
    const Tensor drawn = batch.remove_batch_dim(rand({100}));
    CHECK(drawn[0].equal(drawn[1]));
  }
  const Vmap batch(2, Randomness::Different);
  const Tensor drawn = batch.remove_batch_dim(rand({100}));
  CHECK_FALSE(drawn[0].equal(drawn[1]));
}

TEST_CASE("leaves and functions of C++ are not for examples") {
  Tensor leaf = ones({2}).requires_grad_();
  const Vmap batch(2);
  Tensor x = batch.add_batch_dim(leaf);
  CHECK(says([&] { static_cast<void>(x.requires_grad_()); }, "within vmap"));
  CHECK(says([&] { static_cast<void>(Twice::apply(x)); }, "says nothing of batches"));
  // Gradients that differ from example to example cannot go into one leaf.
  const Tensor loss = leaf.sum();
  CHECK(says([&] { static_cast<void>(autograd::backward({loss}, {batch.add_batch_dim(ones({2}))})); }, "use grad()"));
  CHECK_FALSE(leaf.grad().defined());
}

TEST_CASE("explain() tells of the kernel at Batched") {
  const Vmap batch(1);
  const SlotContent slot = explain_slot(Dispatcher::singleton().op("add.Tensor"), DispatchKey::Batched);
  CHECK(slot.rule == ResolutionRule::Fallback);
}
