// Hooks of what nodes save.
#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;
using autograd::SavedTensorHooksGuard;

namespace {

// Keeps the negative of a tensor; counts.
struct Negatives final : autograd::SavedTensorHooks {
  struct Negative final : autograd::PackedTensor {
    Negative(Tensor tensor, int& unpacked) : tensor_(std::move(tensor)), unpacked_(unpacked) {}
    Tensor unpack() const override {
      ++unpacked_;
      CHECK(autograd::saved_tensor_hooks == nullptr);
      return tensor_.neg();
    }
    Tensor tensor_;
    int& unpacked_;
  };
  std::unique_ptr<autograd::PackedTensor> pack(const Tensor& tensor) override {
    ++packed;
    CHECK_FALSE(tensor.requires_grad());
    CHECK(autograd::saved_tensor_hooks == nullptr);
    return std::make_unique<Negative>(tensor.neg(), unpacked);
  }
  int packed = 0;
  int unpacked = 0;
};

}  // namespace

TEST_CASE("what is saved is packed, and unpacked for backward, with its history") {
  Negatives hooks;
  const Tensor x = leaf({3});
  Tensor y;
  {
    const SavedTensorHooksGuard during(&hooks);
    y = (x * x).exp();
  }
  CHECK(hooks.packed == 3);
  CHECK(hooks.unpacked == 0);
  const Tensor first = autograd::grad({y.log() * 1}, {x}, {}, true, true)[0];
  CHECK(hooks.unpacked == 3);
  CHECK(values_of(first)[0] == Approx(6));
  CHECK(values_of(autograd::grad({first}, {x})[0])[0] == Approx(2));
}

TEST_CASE("a backward frees what was packed, and a second one says so") {
  Negatives hooks;
  const Tensor x = leaf({3});
  Tensor y;
  {
    const SavedTensorHooksGuard during(&hooks);
    y = x * x;
  }
  y.backward();
  CHECK(error_of([&] { y.backward(); }).find("a second time") != std::string::npos);
  CHECK(hooks.unpacked == 2);
}
