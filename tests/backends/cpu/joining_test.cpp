#include <keyway/backends/cpu/kernels_joining.h>
#include <keyway/backends/cpu/kernels_triangular.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("cat puts tensors of any strides one after the other") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    Sizes sizes = random_sizes(rng, random_int(rng, 1, 3), 300);
    const auto dim = static_cast<std::size_t>(random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1));
    std::vector<TensorBase> parts;
    std::int64_t total = 0;
    for (int k = 0; k < 4; ++k) {
      Sizes own = sizes;
      own[dim] = random_int(rng, 0, 5);
      total += own[dim];
      parts.push_back(random_reals(rng, own, kFloat));
      if (sizes.size() > 1 && k == 1) parts.push_back(make_tensor({0}, kFloat, DeviceType::CPU));
    }
    sizes[dim] = total;
    TensorBase out = random_out(rng, sizes, kFloat);
    cpu::cat(parts, static_cast<std::int64_t>(dim), out);
    bool right = true;
    each_index(sizes, [&](const Sizes& index) {
      Sizes inner = index;
      for (const TensorBase& part : parts) {
        if (part.dim() != out.dim()) continue;
        if (inner[dim] < part.sizes()[dim]) {
          right = right && value_at(out, index) == value_at(part, inner);
          return;
        }
        inner[dim] -= part.sizes()[dim];
      }
      right = false;
    });
    REQUIRE(right);
  }
}

TEST_CASE("flip reverses any set of dimensions") {
  Rng rng(2);
  for (int round = 0; round < 60; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 4), 600);
    Sizes dims;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (random_int(rng, 0, 1) == 1) dims.push_back(static_cast<std::int64_t>(d));
    }
    const TensorBase x = random_integers(rng, sizes, round % 2 == 0 ? kLong : kChar, -9, 9);
    TensorBase out = random_out(rng, sizes, x.dtype());
    cpu::flip(x, dims, out);
    bool right = true;
    each_index(sizes, [&](const Sizes& index) {
      Sizes from = index;
      for (const std::int64_t d : dims) {
        const auto i = static_cast<std::size_t>(d);
        from[i] = sizes[i] - 1 - from[i];
      }
      right = right && value_at(out, index) == value_at(x, from);
    });
    REQUIRE(right);
  }
}

TEST_CASE("tril and triu keep their side of the diagonal, in place too") {
  Rng rng(3);
  for (int round = 0; round < 80; ++round) {
    Sizes sizes = random_sizes(rng, random_int(rng, 2, 3), 300);
    const std::int64_t diagonals[] = {0, 1, -1, 5, -7, INT64_MIN, INT64_MAX};
    const std::int64_t diagonal = diagonals[round % 7];
    const TensorBase x = random_reals(rng, sizes, kFloat);
    for (const bool lower : {true, false}) {
      std::vector<double> expected;
      each_index(sizes, [&](const Sizes& index) {
        const double apart = static_cast<double>(index.back() - index[index.size() - 2]);
        const double edge = static_cast<double>(diagonal);
        expected.push_back((lower ? apart <= edge : apart >= edge) ? value_at(x, index) : 0);
      });
      TensorBase out = random_out(rng, sizes, kFloat);
      lower ? cpu::tril(x, diagonal, out) : cpu::triu(x, diagonal, out);
      REQUIRE(all_close(out, expected, 0));
      lower ? cpu::tril(out, diagonal, out) : cpu::triu(out, diagonal, out);
      REQUIRE(all_close(out, expected, 0));
    }
  }
}
