// Sizes of pooling and convolution are checked against windows that are counted one by one.
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/predicates.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

TensorBase meta(IntArrayRef sizes) { return make_tensor(sizes, kFloat, DeviceType::Meta); }

std::string why_not(auto&& predicate) {
  Refusal why;
  CHECK_FALSE(predicate(&why));
  return why.text;
}

// Positions of a window of `kernel` elements, `dilation` apart, that lie in the padded input; each begins `stride`
// after the one before. With ceil_mode also windows that reach out to the right, as long as they begin in input or left
// padding.
std::int64_t count_windows(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                           std::int64_t dilation, bool ceil_mode) {
  const std::int64_t reach = dilation * (kernel - 1);
  std::int64_t count = 0;
  for (std::int64_t begin = -padding; begin < in + padding; begin += stride) {
    const bool inside = begin + reach < in + padding;
    const bool hangs_over = ceil_mode && begin < in && begin + reach - stride < in + padding - 1;
    if (!inside && !hangs_over) break;
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a dimension may count from either end, and a tensor without dimensions has two names for none") {
  CHECK(contract::is_dim(0, 2));
  CHECK(contract::is_dim(-2, 2));
  CHECK_FALSE(contract::is_dim(2, 2));
  CHECK_FALSE(contract::is_dim(-3, 2));
  CHECK(contract::is_dim(0, 0));
  CHECK(contract::is_dim(-1, 0));
  CHECK_FALSE(contract::is_dim(1, 0));
  CHECK_FALSE(contract::is_dim(kMin, 2));
  CHECK(why_not([](Refusal* why) { return contract::is_dim(5, 2, why); }) == "dimension 5 is not from -2 to 1");
}

TEST_CASE("dimensions are no dimensions if one stands twice, under whatever name") {
  CHECK(contract::are_dims({0, -1}, 3));
  CHECK(contract::are_dims({}, 0));
  CHECK(why_not([](Refusal* why) {
          return contract::are_dims({2, 0, -1}, 3, why);
        }) == "dimension -1 stands twice in [2, 0, -1]");
  CHECK(why_not([](Refusal* why) { return contract::are_dims({0, 7}, 3, why); }) == "dimension 7 is not from -3 to 2");
}

TEST_CASE("a permutation names every dimension") {
  CHECK(contract::is_permutation({2, 0, -2}, 3));
  CHECK(contract::is_permutation({}, 0));
  CHECK(why_not([](Refusal* why) { return contract::is_permutation({0}, 2, why); }) == "[0] has 1 dimensions, not 2");
}

TEST_CASE("shapes broadcast if sizes are equal or 1, from the end") {
  CHECK(contract::broadcastable({2, 1}, {3}));
  CHECK(contract::broadcastable({}, {3, 0}));
  CHECK(why_not([](Refusal* why) {
          return contract::broadcastable({2, 3}, {4}, why);
        }) == "shapes [2, 3] and [4] do not broadcast: dimension 1 is 3 and 4");
  CHECK(why_not([](Refusal* why) {
          return contract::broadcasts_to({2, 3}, {3}, why);
        }) == "shape [2, 3] does not broadcast to [3]");
  const std::vector<TensorBase> tensors{meta({2, 1}), TensorBase(), meta({3}), meta({5, 1, 1})};
  CHECK(contract::broadcastable(tensors));
  const std::vector<TensorBase> clash{meta({2, 1}), meta({3}), meta({4})};
  CHECK_FALSE(contract::broadcastable(clash));
}

TEST_CASE("tensors that differ in one dimension can be joined along it") {
  const std::vector<TensorBase> tensors{meta({2, 3}), meta({0}), meta({2, 5})};
  CHECK(contract::concatenable(tensors, 1));
  CHECK(contract::concatenable(tensors, -1));
  CHECK(why_not([&](Refusal* why) { return contract::concatenable(tensors, 0, why); }) ==
        "tensor 2 has shape [2, 5], and the first one [2, 3]: they may differ in dimension 0 only");
  CHECK(why_not([&](Refusal* why) { return contract::concatenable(tensors, 2, why); }) ==
        "dimension 2 is not from -2 to 1");
  const std::vector<TensorBase> scalar{meta({})};
  CHECK(why_not([&](Refusal* why) { return contract::concatenable(scalar, 0, why); }) == "tensor 0 has no dimensions");
  const std::vector<TensorBase> undefined(1);
  CHECK(why_not([&](Refusal* why) { return contract::concatenable(undefined, 0, why); }) == "tensor 0 is undefined");
  const std::vector<TensorBase> huge{meta({kMax, 0}), meta({1, 0})};
  CHECK_FALSE(contract::concatenable(huge, 0));
}

TEST_CASE("lists have the same sizes if they are as long, and their tensors alike one by one") {
  const TensorBase two = meta({2}), three = meta({3}), pair = meta({2, 3});
  const std::vector<TensorBase> list{two, pair}, same{meta({2}), meta({2, 3})}, short_one{two}, other{two, three};
  CHECK(contract::same_sizes(list, same));
  CHECK(why_not([&](Refusal* why) { return contract::same_sizes(list, short_one, why); }) ==
        "one list has 2 tensors, and the other 1");
  CHECK(why_not([&](Refusal* why) { return contract::same_sizes(list, other, why); }) ==
        "tensor 1 has shape [2, 3] in one list, and [3] in the other");
  CHECK(why_not([&](Refusal* why) {
          return contract::same_sizes(list, std::vector<TensorBase>{two, TensorBase()}, why);
        }) == "tensor 1 is undefined");
}

TEST_CASE("pooling has as many windows as fit") {
  for (std::int64_t in : {1, 2, 5, 7}) {
    for (std::int64_t kernel : {1, 2, 3}) {
      for (std::int64_t stride : {1, 2, 3}) {
        for (std::int64_t padding = 0; 2 * padding <= kernel; ++padding) {
          for (std::int64_t dilation : {1, 2}) {
            for (bool ceil_mode : {false, true}) {
              INFO(in << " " << kernel << " " << stride << " " << padding << " " << dilation << " " << ceil_mode);
              const std::int64_t expected = count_windows(in, kernel, stride, padding, dilation, ceil_mode);
              const std::int64_t size =
                  contract::pool_sizes({in}, {kernel}, {stride}, {padding}, {dilation}, ceil_mode, "")[0];
              if (expected > 0) CHECK(size == expected);
              if (expected == 0) CHECK(size <= 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("an argument of one item counts for all dimensions") {
  CHECK(contract::pool_sizes({8, 6}, {2}, {2, 3}, {0}, {1}, false, "") == DimVector{4, 2});
  CHECK(contract::conv_sizes({8, 6}, {3, 3}, {1}, {1}, {1}, false, {0}, "") == DimVector{8, 6});
}

TEST_CASE("the transpose of a convolution has the size that the convolution came from") {
  for (std::int64_t in : {4, 5, 9}) {
    for (std::int64_t stride : {1, 2, 3}) {
      for (std::int64_t padding : {0, 1}) {
        for (std::int64_t dilation : {1, 2}) {
          const std::int64_t out = contract::conv_sizes({in}, {2}, {stride}, {padding}, {dilation}, false, {0}, "")[0];
          const std::int64_t rest = (in + 2 * padding - dilation - 1) % stride;
          CHECK(contract::conv_sizes({out}, {2}, {stride}, {padding}, {dilation}, true, {rest}, "")[0] == in);
        }
      }
    }
  }
}

TEST_CASE("what leaves 64 bits is an error that quotes the contract") {
  const auto text = [](auto&& f) {
    try {
      f();
    } catch (const Error& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  const std::string expected = "requires x > 0, but it cannot be computed: an integer overflows or is divided by zero";
  CHECK(text([] { contract::pool_sizes({kMax}, {kMax}, {1}, {kMax}, {kMax}, true, "x > 0"); }) == expected);
  CHECK(text([] { contract::pool_sizes({4}, {2}, {0}, {0}, {1}, false, "x > 0"); }) == expected);
  CHECK(text([] { contract::conv_sizes({kMin}, {kMin}, {1}, {1}, {1}, true, {0}, "x > 0"); }) == expected);
  CHECK(text([] { contract::floor_div(kMin, -1, "x > 0"); }) == expected);
  CHECK(text([] { contract::abs(kMin, "x > 0"); }) == expected);
  CHECK(text([] { contract::sum({kMax, 1}, "x > 0"); }) == expected);
  CHECK(text([] { contract::product({kMax, 2}, "x > 0"); }) == expected);
  CHECK(contract::product({kMax, 2, 0}, "") == 0);
}

TEST_CASE("floor_div rounds to minus infinity") {
  for (std::int64_t a = -7; a <= 7; ++a) {
    for (std::int64_t b : {-3, -2, -1, 1, 2, 3}) {
      CHECK(contract::floor_div(a, b, "") == static_cast<std::int64_t>(std::floor(double(a) / double(b))));
    }
  }
}

TEST_CASE("numbers are compared exactly, however they are held") {
  CHECK(contract::less(Scalar(std::int64_t{1} << 53), Scalar(0x1p53 + 2)));
  CHECK(contract::less(Scalar(0x1p53), Scalar((std::int64_t{1} << 53) + 1)));
  CHECK_FALSE(contract::less(Scalar((std::int64_t{1} << 53) + 1), Scalar(0x1p53)));
  CHECK(contract::less(Scalar(kMax), Scalar(0x1p63)));
  CHECK(contract::less(Scalar(kMax), Scalar(std::uint64_t{1} << 63)));
  CHECK(contract::less(Scalar(-0.5), Scalar(0)));
  CHECK(contract::less(Scalar(0), Scalar(0.5)));
  CHECK(contract::less_equal(Scalar(true), Scalar(1)));
  const Scalar nan(std::numeric_limits<double>::quiet_NaN());
  CHECK_FALSE(contract::less_equal(nan, Scalar(1)));
  CHECK_FALSE(contract::less_equal(Scalar(1), nan));
  CHECK_FALSE(contract::less_equal(nan, nan));
  CHECK_THROWS_AS(contract::less(Scalar(complex<double>(1, 2)), Scalar(1)), Error);
}

TEST_CASE("a number is finite unless a part of it is not") {
  CHECK(contract::is_finite(Scalar(kMax)));
  CHECK_FALSE(contract::is_finite(Scalar(std::numeric_limits<double>::infinity())));
  CHECK_FALSE(contract::is_finite(Scalar(complex<double>(0, std::numeric_limits<double>::quiet_NaN()))));
}

TEST_CASE("the error of a dimension that an argument lacks names both") {
  const TensorBase tensor = meta({2});
  CHECK(contract::size(tensor, "weight", -1) == 2);
  try {
    contract::size(tensor, "weight", 1);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message() == "argument 'weight' of shape [2] has no dimension 1");
  }
}
