#include <keyway/autocast/kernels.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <thread>

using namespace keyway;
using keyway::testing::error_of;

namespace {

Tensor half_of(const Tensor& x) { return x.to(kBFloat16); }

Tensor same(const Tensor& self) { return self.clone(); }

}  // namespace

TEST_CASE("a region ends with its object, and regions nest") {
  const Tensor a = ones({2, 2});
  CHECK(mm(a, a).scalar_type() == kFloat);
  {
    const AutocastMode outer(DeviceType::CPU);
    CHECK(mm(a, a).scalar_type() == kBFloat16);
    {
      const AutocastMode inner(DeviceType::CPU, kHalf);
      CHECK(mm(a, a).scalar_type() == kHalf);
      const AutocastMode off(DeviceType::CPU, std::nullopt, false);
      CHECK(mm(a, a).scalar_type() == kFloat);
      CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
    }
    CHECK(mm(a, a).scalar_type() == kBFloat16);
    CHECK(autocast_dtype(DeviceType::CPU) == kBFloat16);
  }
  CHECK(mm(a, a).scalar_type() == kFloat);
  CHECK_FALSE(included_keys().has(Functionality::Autocast));
}

TEST_CASE("one device type's region does not change calls on another") {
  const AutocastMode cuda(DeviceType::CUDA);
  const Tensor a = ones({2, 2});
  CHECK(mm(a, a).scalar_type() == kFloat);
  const AutocastMode meta(DeviceType::Meta, kHalf);
  const Tensor m = empty({2, 2}, DeviceType::Meta);
  CHECK(mm(m, m).scalar_type() == kHalf);
  CHECK(mm(a, a).scalar_type() == kFloat);
}

TEST_CASE("regions are one thread's") {
  const AutocastMode autocast(DeviceType::CPU);
  ScalarType elsewhere = kHalf;
  std::thread([&] { elsewhere = mm(ones({2, 2}), ones({2, 2})).scalar_type(); }).join();
  CHECK(elsewhere == kFloat);
}

TEST_CASE("in-place and out= calls are not autocast, nor are calls within an operator") {
  const AutocastMode autocast(DeviceType::CPU);
  const Tensor a = ones({2, 2});
  Tensor out = zeros({2, 2});
  mm_out(out, a, a);
  CHECK(out.scalar_type() == kFloat);
  // A decomposition in bfloat16 would be an error, and its products would be rounded.
  const Tensor x = linalg_inv(full({1, 1}, 3.0));
  CHECK(x.scalar_type() == kFloat);
  CHECK(x.item<float>() == 1.0f / 3.0f);
}

TEST_CASE("only float16, bfloat16 and float32 can be autocast to") {
  CHECK(error_of([] { const AutocastMode m(DeviceType::CPU, kDouble); }) ==
        "autocast: dtype is float64, but calls are autocast to float16 or bfloat16");
  CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
  CHECK(autocast_dtype(DeviceType::CPU) == kBFloat16);
  CHECK(error_of([] { autocast_decrement_nesting(); }).find("was not entered") != std::string::npos);
}

TEST_CASE("a weight's gradient has the weight's dtype, and its conversion is made once in a region") {
  const Tensor weight = randn({3, 3}).requires_grad_();
  const Tensor x = randn({2, 3});
  Tensor first, second, after_change;
  {
    const AutocastMode autocast(DeviceType::CPU);
    first = mm(x, weight), second = mm(x, weight);
    {
      const NoGradGuard no_grad;
      weight.mul_(2);
      CHECK_FALSE(mm(x, weight).requires_grad());
    }
    after_change = mm(x, weight);
  }
  const auto conversion = [](const Tensor& product) { return autograd::grad_fn(product)->next_edges()[1].node.get(); };
  CHECK(conversion(first) == conversion(second));
  CHECK(conversion(first) != conversion(after_change));
  CHECK(equal(after_change, mm(half_of(x), half_of(weight.detach()))));
  after_change.sum().backward();
  CHECK(weight.grad().scalar_type() == kFloat);
  CHECK(equal(weight.grad(), mm(half_of(x).t(), ones({2, 3}, kBFloat16)).to(kFloat)));
}

TEST_CASE("without a cache, and outside of regions, each call converts") {
  const Tensor weight = randn({3, 3}).requires_grad_();
  const auto conversion = [&] { return autograd::grad_fn(mm(randn({2, 3}), weight))->next_edges()[1].node; };
  {
    const AutocastMode autocast(DeviceType::CPU, std::nullopt, true, false);
    CHECK(conversion() != conversion());
  }
  CHECK(is_autocast_cache_enabled());
  set_autocast_enabled(DeviceType::CPU, true);
  const auto a = conversion(), b = conversion();
  set_autocast_enabled(DeviceType::CPU, false);
  CHECK(a != b);
}

TEST_CASE("backward is not autocast, whoever calls it") {
  const Tensor a = randn({2, 2}).requires_grad_();
  const AutocastMode autocast(DeviceType::CPU);
  Tensor product;
  {
    const AutocastMode off(DeviceType::CPU, std::nullopt, false);
    product = mm(a, a);
  }
  product.sum().backward();
  CHECK(a.grad().scalar_type() == kFloat);
  CHECK(is_autocast_enabled(DeviceType::CPU));
}

TEST_CASE("an operator from elsewhere is autocast by the same kernels") {
  Library def(Library::Kind::Def, "autocast_test");
  def.def("same(Tensor self) -> Tensor").impl("same", same);
  const RegistrationHandle definition = def.commit();
  Library impl(Library::Kind::Impl, "autocast_test", DispatchKey::Autocast);
  impl.impl_boxed("same", autocast::lower);
  const RegistrationHandle registration = impl.commit();
  const auto op = Dispatcher::singleton().op("autocast_test::same").typed<Tensor(const Tensor&)>();
  CHECK(op.call(ones({2})).scalar_type() == kFloat);
  const AutocastMode region(DeviceType::CPU);
  CHECK(op.call(ones({2})).scalar_type() == kBFloat16);
  CHECK(op.call(ones({2}, kDouble)).scalar_type() == kDouble);
  CHECK(op.call(ones({2}, kLong)).scalar_type() == kLong);
}

TEST_CASE("a weight whose data became other memory, or lies otherwise there, is converted again") {
  Tensor weight = arange(4).reshape({2, 2}).to(kFloat).requires_grad_();
  const Tensor one = eye(2);
  const AutocastMode autocast(DeviceType::CPU);
  CHECK(mm(one, weight)[0][1].item<float>() == 1);
  weight.set_data(weight.data().t());
  CHECK(mm(one, weight)[0][1].item<float>() == 2);
  for (const double value : {5.0, 6.0, 7.0}) {
    weight.set_data(full({2, 2}, value));
    CHECK(mm(one, weight)[0][1].item<float>() == value);
  }
}

TEST_CASE("leaving more regions than were entered is an error, and ends no program") {
  {
    const AutocastMode autocast(DeviceType::CPU);
    CHECK(autocast_decrement_nesting() == 0);
    CHECK(error_of([] { autocast_decrement_nesting(); }).find("was not entered") != std::string::npos);
  }
  CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
}

TEST_CASE("a call without tensors fails in a region for the reason that it has outside") {
  const std::string outside = error_of([] { cat(std::vector<Tensor>{}); });
  const std::string reason = outside.substr(0, outside.find(" Keys of the call"));
  const AutocastMode autocast(DeviceType::CPU);
  CHECK(error_of([] { cat(std::vector<Tensor>{}); }).starts_with(reason));
}
