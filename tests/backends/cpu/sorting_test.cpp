#include <keyway/backends/cpu/kernels_cumulative.h>
#include <keyway/backends/cpu/kernels_sorting.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <numeric>

using namespace keyway;
using namespace keyway::testing;

namespace {

// NaN is greatest.
bool before(double a, double b) {
  if (std::isnan(a)) return false;
  return std::isnan(b) || a < b;
}

// The indices of a line in order; of equal elements the first comes first.
std::vector<std::size_t> order_of(const std::vector<double>& line, bool descending) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return descending ? before(line[b], line[a]) : before(line[a], line[b]);
  });
  return order;
}

std::vector<double> line_at(const TensorBase& x, Sizes index, std::size_t dim) {
  std::vector<double> line;
  for (index[dim] = 0; index[dim] < x.sizes()[dim]; ++index[dim]) line.push_back(value_at(x, index));
  return line;
}

}  // namespace

TEST_CASE("sort is stable along any dimension, and NaN is greatest") {
  Rng rng(1);
  for (int round = 0; round < 80; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 1, 3), 700);
    const auto dim = static_cast<std::size_t>(random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1));
    const ScalarType dtype = round % 2 == 0 ? kFloat : kShort;
    const TensorBase x = random_geometry(rng, sizes, dtype);
    if (dtype == kShort) {
      fill_storage<std::int16_t>(x, [&] { return static_cast<std::int16_t>(random_int(rng, -3, 3)); });
    } else {
      fill_storage<float>(x, [&] {
        const auto i = random_int(rng, -3, 5);
        return i == 4 ? NAN : i == 5 ? INFINITY : static_cast<float>(i);
      });
    }
    const bool descending = round % 3 == 0;
    TensorBase values = random_out(rng, sizes, dtype), indices = random_out(rng, sizes, kLong);
    cpu::sort_stable(x, true, static_cast<std::int64_t>(dim), descending, values, indices);
    bool right = true;
    each_index(sizes, [&](const Sizes& index) {
      if (index[dim] != 0) return;
      const std::vector<double> line = line_at(x, index, dim), sorted = line_at(values, index, dim),
                                found = line_at(indices, index, dim);
      const std::vector<std::size_t> order = order_of(line, descending);
      for (std::size_t i = 0; i < order.size(); ++i) {
        right = right && found[i] == static_cast<double>(order[i]) && close(sorted[i], line[order[i]], 0);
      }
    });
    REQUIRE(right);
  }
}

TEST_CASE("topk gives the first of the sorted order") {
  Rng rng(2);
  for (int round = 0; round < 80; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 1, 3), 700);
    const auto dim = static_cast<std::size_t>(random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1));
    Sizes few = sizes;
    few[dim] = random_int(rng, 0, sizes[dim]);
    const TensorBase x = random_integers(rng, sizes, kInt, -4, 4);
    const bool largest = round % 2 == 0;
    TensorBase values = random_out(rng, few, kInt), indices = random_out(rng, few, kLong);
    cpu::topk(x, few[dim], static_cast<std::int64_t>(dim), largest, true, values, indices);
    bool right = true;
    each_index(few, [&](const Sizes& index) {
      const std::vector<double> line = line_at(x, index, dim);
      const std::size_t expected = order_of(line, largest)[static_cast<std::size_t>(index[dim])];
      right = right && value_at(indices, index) == static_cast<double>(expected) &&
              value_at(values, index) == line[expected];
    });
    REQUIRE(right);
  }
}

TEST_CASE("each line gives the element of its rank") {
  Rng rng(4);
  for (int round = 0; round < 80; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 1, 3), 700);
    const auto dim = static_cast<std::size_t>(random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1));
    if (sizes[dim] == 0) continue;
    Sizes one = sizes;
    one[dim] = 1;
    const TensorBase x = random_integers(rng, sizes, round % 2 == 0 ? kByte : kLong, 0, 9);
    const TensorBase wanted = random_integers(rng, one, kLong, 0, sizes[dim] - 1);
    TensorBase values = random_out(rng, one, x.dtype()), indices = random_out(rng, one, kLong);
    cpu::_order_statistic(x, wanted, static_cast<std::int64_t>(dim), values, indices);
    bool right = true;
    each_index(one, [&](const Sizes& index) {
      const std::vector<double> line = line_at(x, index, dim);
      const std::size_t expected = order_of(line, false)[static_cast<std::size_t>(value_at(wanted, index))];
      right = right && value_at(indices, index) == static_cast<double>(expected) &&
              value_at(values, index) == line[expected];
    });
    REQUIRE(right);
  }
}

TEST_CASE("cumulative operators agree with a loop, and convert before they add") {
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 1, 3), 500);
    const auto dim = static_cast<std::size_t>(random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1));
    const TensorBase x = random_integers(rng, sizes, round % 2 == 0 ? kChar : kLong, -2, 2);
    TensorBase sums = random_out(rng, sizes, kLong), products = random_out(rng, sizes, kLong);
    cpu::cumsum(x, static_cast<std::int64_t>(dim), sums);
    cpu::cumprod(x, static_cast<std::int64_t>(dim), products);
    TensorBase greatest = random_out(rng, sizes, x.dtype()), where = random_out(rng, sizes, kLong);
    cpu::cummax(x, static_cast<std::int64_t>(dim), greatest, where);
    bool right = true;
    each_index(sizes, [&](const Sizes& index) {
      const std::vector<double> line = line_at(x, index, dim);
      std::int64_t sum = 0;
      std::uint64_t product = 1;
      double top = -99;
      for (std::int64_t i = 0; i <= index[dim]; ++i) {
        const auto v = static_cast<std::int64_t>(line[static_cast<std::size_t>(i)]);
        sum += v;
        product *= static_cast<std::uint64_t>(v);
        top = std::max(top, static_cast<double>(v));
      }
      right = right && element<std::int64_t>(sums, index) == sum && value_at(greatest, index) == top &&
              element<std::int64_t>(products, index) == static_cast<std::int64_t>(product) &&
              line[static_cast<std::size_t>(element<std::int64_t>(where, index))] == top;
    });
    REQUIRE(right);
  }
}
