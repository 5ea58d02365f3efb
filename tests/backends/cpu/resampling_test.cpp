#include <keyway/backends/cpu/kernels_resampling.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Of a table [images, channels, size, inner], rows [images, channels, count, inner], and indices and weights [images,
// 1, taps, count].
struct Problem {
  std::int64_t images, channels, size, inner, taps, count;
  Sizes table() const { return {images, channels, size, inner}; }
  Sizes rows() const { return {images, channels, count, inner}; }
  Sizes indices() const { return {images, 1, taps, count}; }
};

// Calls f(index in the table, in the rows, in the indices) for all that are tied.
template <typename F>
void each_tie(const Problem& of, const TensorBase& indices, const F& f) {
  each_index({of.images, of.channels, of.taps, of.count, of.inner}, [&](const Sizes& index) {
    const std::int64_t n = index[0], c = index[1], k = index[2], p = index[3], i = index[4];
    const std::int64_t s = element<std::int64_t>(indices, {n, 0, k, p});
    if (s >= 0) f(Sizes{n, c, s, i}, Sizes{n, c, p, i}, Sizes{n, 0, k, p});
  });
}

struct Sums {
  explicit Sums(const Sizes& sizes_of_result) : sizes(sizes_of_result) {
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) numel *= size;
    values.resize(static_cast<std::size_t>(numel));
  }
  double& at(const Sizes& index) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) offset = offset * sizes[d] + index[d];
    return values[static_cast<std::size_t>(offset)];
  }

  Sizes sizes;
  std::vector<double> values;
};

TensorBase operand(Rng& rng, const Sizes& sizes, ScalarType dtype) {
  return dtype == kInt ? random_integers(rng, sizes, dtype, -9, 9) : random_reals(rng, sizes, dtype);
}

void check(Rng& rng, const Problem& of, ScalarType dtype) {
  const TensorBase table = operand(rng, of.table(), dtype), rows = operand(rng, of.rows(), dtype);
  const TensorBase weights = operand(rng, of.indices(), dtype);
  const TensorBase indices =
      random_integers(rng, of.indices(), kLong, of.size == 0 ? -1 : random_int(rng, -1, 0), of.size - 1);
  INFO("table " << of.images << "x" << of.channels << "x" << of.size << "x" << of.inner << ", " << of.taps
                << " taps of " << of.count);
  Sums gathered(of.rows()), scattered(of.table()), products(of.indices());
  each_tie(of, indices, [&](const Sizes& in_table, const Sizes& in_rows, const Sizes& in_indices) {
    const double weight = value_at(weights, in_indices);
    gathered.at(in_rows) += weight * value_at(table, in_table);
    scattered.at(in_table) += weight * value_at(rows, in_rows);
    products.at(in_indices) += value_at(rows, in_rows) * value_at(table, in_table);
  });
  const double tolerance = 30 * tolerance_of(dtype == kInt ? kDouble : dtype);
  TensorBase out = random_out(rng, of.rows(), dtype);
  cpu::_gather_weighted(table, indices, weights, out);
  CHECK(all_close(out, gathered.values, tolerance));
  if (dtype == kInt) return;
  TensorBase to_table = random_out(rng, of.table(), dtype), to_indices = random_out(rng, of.indices(), dtype);
  cpu::_scatter_weighted(rows, indices, weights, of.size, to_table);
  CHECK(all_close(to_table, scattered.values, tolerance));
  cpu::_gather_products(rows, table, indices, to_indices);
  CHECK(all_close(to_indices, products.values, tolerance));
}

}  // namespace

TEST_CASE("elements at indices times weights, and their gradients, agree with loops") {
  Rng rng(51);
  at_each_loop_level([&] {
    for (const ScalarType dtype : {kFloat, kDouble, kInt}) {
      check(rng, {2, 17, 13, 1, 4, 29}, dtype);  // two blocks of channels, the second of one
      check(rng, {1, 40, 7, 1, 2, 14}, dtype);
      check(rng, {3, 1, 9, 1, 3, 5}, dtype);
      check(rng, {1, 3, 900, 1, 1, 2}, dtype);  // too few indices to transpose channels for
      check(rng, {1, 2, 5, 61, 2, 11}, dtype);
      check(rng, {2, 1, 6, 3, 5, 4}, dtype);
      check(rng, {2, 3, 0, 1, 2, 4}, dtype);
      check(rng, {2, 3, 4, 1, 0, 4}, dtype);
      check(rng, {2, 0, 4, 2, 2, 4}, dtype);
      check(rng, {2, 3, 4, 1, 2, 0}, dtype);
    }
  });
}

TEST_CASE("elements at indices do not depend on the number of threads") {
  Rng rng(52);
  const Problem of{4, 48, 300, 1, 4, 500};
  const TensorBase table = random_reals(rng, of.table(), kFloat), rows = random_reals(rng, of.rows(), kFloat);
  const TensorBase weights = random_reals(rng, of.indices(), kFloat);
  const TensorBase indices = random_integers(rng, of.indices(), kLong, -1, of.size - 1);
  const auto results = [&](int threads) {
    const WithThreads with(threads);
    TensorBase gathered = make_tensor(of.rows(), kFloat, DeviceType::CPU);
    TensorBase scattered = make_tensor(of.table(), kFloat, DeviceType::CPU);
    TensorBase products = make_tensor(of.indices(), kFloat, DeviceType::CPU);
    cpu::_gather_weighted(table, indices, weights, gathered);
    cpu::_scatter_weighted(rows, indices, weights, of.size, scattered);
    cpu::_gather_products(rows, table, indices, products);
    return std::vector{storage_bytes(gathered), storage_bytes(scattered), storage_bytes(products)};
  };
  CHECK(results(1) == results(3));
}
