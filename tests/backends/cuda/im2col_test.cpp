// The windows of convolutions, walked through on the host by the code that devices run. The oracle goes over the
// definition: position o of the output meets position o * stride - padding + k * dilation of the input at tap k.
#include <keyway/backends/cuda/conv_problem.h>
#include <keyway/backends/cuda/im2col.h>
#include <keyway/core/base/error.h>
#include <keyway/tests/catch.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

using At = std::array<std::int64_t, 3>;

struct Case {
  std::int64_t batch, groups, in_channels, out_channels;
  std::vector<std::int64_t> in, out, kernel, stride, padding, dilation;

  TensorBase tensor(std::int64_t first, std::int64_t second, const std::vector<std::int64_t>& spatial) const {
    DimVector sizes = {first, second};
    for (const std::int64_t size : spatial) sizes.push_back(size);
    return make_tensor(sizes, kFloat, Device(DeviceType::Meta));
  }
  Im2col windows() const {
    return {tensor(batch, groups * in_channels, in),
            tensor(groups * out_channels, in_channels, kernel),
            tensor(batch, groups * out_channels, out),
            stride,
            padding,
            dilation,
            groups};
  }
};

Case random_case(std::mt19937& random) {
  const auto number = [&](int least, int most) {
    return static_cast<std::int64_t>(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
  };
  Case one{number(1, 3), number(1, 3), number(1, 3), number(1, 2), {}, {}, {}, {}, {}, {}};
  const std::int64_t rank = number(1, 3);
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t in = number(1, 6), kernel = number(1, 3), stride = number(1, 3), dilation = number(1, 3);
    std::int64_t padding = number(0, 3);
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    while (in + 2 * padding < reach) ++padding;
    one.in.push_back(in);
    one.kernel.push_back(kernel);
    one.stride.push_back(stride);
    one.padding.push_back(padding);
    one.dilation.push_back(dilation);
    one.out.push_back((in + 2 * padding - reach) / stride + 1);
  }
  return one;
}

// Number `number` in row-major order of the last three of some sizes.
At split(std::int64_t number, const std::vector<std::int64_t>& sizes) {
  At at{0, 0, 0};
  for (std::size_t d = sizes.size(); d-- > 0;) {
    at[3 - sizes.size() + d] = number % sizes[d];
    number /= sizes[d];
  }
  return at;
}

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

// The position of the input that a window has at a tap; whether it lies inside.
bool input_of(const Case& one, const At& window, const At& tap, At& at) {
  const std::size_t rank = one.in.size(), lead = 3 - rank;
  at = {0, 0, 0};
  bool inside = true;
  for (std::size_t d = 0; d < rank; ++d) {
    at[lead + d] = window[lead + d] * one.stride[d] - one.padding[d] + tap[lead + d] * one.dilation[d];
    inside = inside && at[lead + d] >= 0 && at[lead + d] < one.in[d];
  }
  return inside;
}

At array_of(const std::int64_t (&at)[3]) { return {at[0], at[1], at[2]}; }

}  // namespace

TEST_CASE("each element of the matrix of windows is the input's, or padding, in chunks of any size") {
  std::mt19937 random(1);
  int inside = 0, outside = 0;
  for (int round = 0; round < 300; ++round) {
    const Case one = random_case(random);
    const Im2col windows = one.windows();
    const std::int64_t positions = product(one.out), taps = product(one.kernel);
    REQUIRE(windows.columns() == one.batch * positions);
    REQUIRE(windows.rows() == one.groups * one.in_channels * taps);
    const auto most = static_cast<std::int64_t>(1 + random() % 40);
    std::int64_t column = 0;
    while (column < windows.columns()) {
      const Im2colColumns chunk = windows.chunk(column, most);
      REQUIRE(chunk.count.value == std::min(most, windows.columns() - column));
      for (std::uint32_t j = 0; j < chunk.count.value; ++j, ++column) {
        const Im2col::Window window = windows.window(chunk, j);
        REQUIRE(window.image == column / positions);
        REQUIRE(array_of(window.at) == split(column % positions, one.out));
        for (std::uint32_t r = 0; r < windows.rows(); ++r) {
          const Im2col::Row row = windows.row(r);
          REQUIRE(row.channel == r / taps);
          REQUIRE(array_of(row.tap) == split(r % taps, one.kernel));
          std::int64_t got[3];
          At expected;
          const bool exists = input_of(one, array_of(window.at), array_of(row.tap), expected);
          REQUIRE(windows.input(window, row, got) == exists);
          REQUIRE(array_of(got) == expected);
          ++(exists ? inside : outside);
        }
      }
    }
  }
  CHECK(inside > 1000);
  CHECK(outside > 1000);
}

TEST_CASE("each position of the input knows the windows that have it, in order of their taps") {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const Case one = random_case(random);
    const Im2col windows = one.windows();
    const std::int64_t positions = product(one.out), taps = product(one.kernel);
    std::map<At, std::vector<std::pair<std::int64_t, std::int64_t>>> readers;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t position = 0; position < positions; ++position) {
        At at;
        if (input_of(one, split(position, one.out), split(tap, one.kernel), at))
          readers[at].emplace_back(tap, position);
      }
    }
    for (std::int64_t i = 0; i < product(one.in); ++i) {
      std::int64_t at[3];
      Im2col::split(static_cast<std::uint32_t>(i), windows.in, at);
      REQUIRE(array_of(at) == split(i, one.in));
      std::vector<std::pair<std::int64_t, std::int64_t>> found;
      windows.each_window(at, [&](std::uint32_t tap, std::int64_t position) { found.emplace_back(tap, position); });
      REQUIRE(found == readers[array_of(at)]);
    }
  }
}

TEST_CASE("images are found by their own strides, in one to three dimensions") {
  const TensorBase two = make_tensor_strided({2, 3, 4, 5}, {70, 1, 17, 3}, kFloat, kCPU);
  const ConvImages images(two);
  const std::int64_t at[3] = {0, 2, 4};
  CHECK(images.data == two.data_ptr());
  CHECK(images.offset(1, 2, at) == 70 + 2 + 34 + 12);
  const TensorBase one = make_tensor_strided({2, 3, 4}, {12, 4, 1}, kFloat, kCPU);
  const std::int64_t last[3] = {0, 0, 3};
  CHECK(ConvImages(one).offset(1, 1, last) == 12 + 4 + 3);
}

TEST_CASE("numbers that the device's arithmetic has no room for are refused") {
  Case one{1, 1, 1, 1, {4}, {2}, {3}, {1}, {0}, {1}};
  CHECK(one.windows().columns() == 2);
  one.stride = {std::int64_t{1} << 30};
  CHECK_THROWS_AS(one.windows(), Error);
  one.stride = {(std::int64_t{1} << 30) - 1};
  CHECK_NOTHROW(one.windows());
  one.in = one.out = {std::int64_t{1} << 20, std::int64_t{1} << 20};
  one.kernel = {1, 1};
  CHECK_THROWS_AS(one.windows(), Error);
}

TEST_CASE("a convolution as libraries describe it") {
  const auto tensor = [](IntArrayRef sizes) { return make_tensor(sizes, kHalf, Device(DeviceType::Meta)); };
  const TensorBase x = tensor({2, 6, 9}), w = tensor({4, 3, 3}), y = tensor({2, 4, 4});
  const auto one = conv_problem(ConvResult::Images, x, w, y, {2}, {1}, {2}, 2);
  REQUIRE(one);
  CHECK(one->rank == 2);
  CHECK(one->dtype == kHalf);
  CHECK(one->groups == 2);
  CHECK(one->x == std::array<int, 5>{2, 6, 1, 9});
  CHECK(one->w == std::array<int, 5>{4, 3, 1, 3});
  CHECK(one->y == std::array<int, 5>{2, 4, 1, 4});
  CHECK(one->padding == std::array<int, 3>{0, 1});
  CHECK(one->stride == std::array<int, 3>{1, 2});
  CHECK(one->dilation == std::array<int, 3>{1, 2});

  const auto cube = conv_problem(ConvResult::Outputs, tensor({1, 1, 4, 5, 6}), tensor({1, 1, 2, 2, 2}),
                                 tensor({1, 1, 3, 4, 5}), {1}, {0}, {1}, 1);
  REQUIRE(cube);
  CHECK(cube->rank == 3);
  CHECK(cube->y == std::array<int, 5>{1, 1, 3, 4, 5});
  CHECK(cube->stride == std::array<int, 3>{1, 1, 1});

  CHECK_FALSE(conv_problem(ConvResult::Images, x, w, tensor({2, 4, 3}), {2}, {1}, {2}, 2));
  CHECK_FALSE(conv_problem(ConvResult::Images, tensor({0, 6, 9}), w, tensor({0, 4, 4}), {2}, {1}, {2}, 2));
  const std::int64_t far = std::int64_t{1} << 31;
  CHECK_FALSE(
      conv_problem(ConvResult::Outputs, tensor({1, 1, far}), tensor({1, 1, 1}), tensor({1, 1, far}), {1}, {0}, {1}, 1));
  CHECK_FALSE(
      conv_problem(ConvResult::Outputs, tensor({1, 1, 2}), tensor({1, 1, 2}), tensor({1, 1, 1}), {far}, {0}, {1}, 1));
  // Paddings whose window alone is more than libraries' numbers hold.
  CHECK_FALSE(conv_problem(ConvResult::Outputs, tensor({1, 1, 2}), tensor({1, 1, 3}), tensor({1, 1, 1}), {1}, {0},
                           {far - 1}, 1));
}

TEST_CASE("convolutions are one to a library only if an algorithm for one serves the other") {
  const ConvProblem one{ConvResult::Outputs, kFloat,          2,         1,         {2, 3, 4, 5, 0},
                        {6, 3, 1, 1, 0},     {2, 6, 4, 5, 0}, {0, 0, 0}, {1, 1, 0}, {1, 1, 0}};
  std::vector<ConvProblem> others(8, one);
  others[0].result = ConvResult::Weights;
  others[1].dtype = kHalf;
  others[2].groups = 3;
  others[3].x[0] = 3;
  others[4].w[3] = 2;
  others[5].padding[1] = 1;
  others[6].stride[0] = 2;
  others[7].dilation[0] = 2;
  std::set<std::size_t> hashes{one.hash()};
  for (const ConvProblem& other : others) {
    CHECK_FALSE(other == one);
    CHECK(hashes.insert(other.hash()).second);
  }
  CHECK(ConvProblem(one).hash() == one.hash());
}
