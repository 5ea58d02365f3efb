// What products are told of their matrices, computed on the host as a library would. The oracle goes by the tensors'
// own strides.
#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/product.h>
#include <keyway/backends/cuda/product_tiles.h>
#include <keyway/tests/catch.h>

#include <array>
#include <atomic>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

// A tensor [batch, rows, columns] of small numbers, with its dimensions in some order, perhaps further apart than they
// need be, and perhaps broadcast. A result is not, and its elements lie apart.
TensorBase random_tensor(std::mt19937& random, IntArrayRef sizes, bool broadcasts) {
  std::array<std::size_t, 3> order{0, 1, 2};
  if (random() % 2 == 0) std::swap(order[1], order[2]);
  if (random() % 6 == 0) std::swap(order[0], order[2]);
  DimVector strides(3, 0);
  std::int64_t next = random() % 8 == 0 ? 2 : 1;
  for (std::size_t i = 3; i-- > 0;) {
    strides[order[i]] = next;
    next *= sizes[order[i]] + (random() % 3 == 0 ? 1 : 0);
  }
  std::vector<std::int64_t> seen = sizes.vec();
  for (std::size_t d = 0; broadcasts && d < 3; ++d) {
    if (random() % 6 == 0) strides[d] = 0;
  }
  const TensorBase memory = make_tensor({next}, kDouble, kCPU);
  for (std::int64_t i = 0; i < next; ++i) memory.data_ptr<double>()[i] = static_cast<double>(random() % 9) - 4;
  return make_view(memory, seen, strides, 0);
}

double& at(const TensorBase& tensor, std::int64_t x, std::int64_t i, std::int64_t j) {
  const IntArrayRef strides = tensor.strides();
  return tensor.data_ptr<double>()[x * strides[0] + i * strides[1] + j * strides[2]];
}

const double& column_major(const void* data, const ProductOperand& one, std::int64_t x, std::int64_t i,
                           std::int64_t j) {
  return static_cast<const double*>(
      data)[x * one.batch_stride + (one.transposed ? i * one.leading + j : i + j * one.leading)];
}

// As a library computes it, in 2 a b + 3 c.
void compute(const ColumnMajorProduct& product) {
  const ProductProblem& p = product.problem;
  for (std::int64_t x = 0; x < p.batch; ++x) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          sum += column_major(product.a, p.a, x, i, l) * column_major(product.b, p.b, x, l, j);
        }
        sum = 2 * sum + 3 * column_major(product.c, p.c, x, i, j);
        const_cast<double&>(column_major(product.d, p.d, x, i, j)) = sum;
      }
    }
  }
}

struct Key {
  int number;
  std::size_t hash() const { return static_cast<std::size_t>(number % 3); }
  friend bool operator==(const Key&, const Key&) = default;
};

}  // namespace

TEST_CASE("a product in column-major terms is the product") {
  std::mt19937 random(1);
  int described = 0, turned = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 5); };
    const std::int64_t batch = size(), m = size(), n = size(), k = size();
    const TensorBase a = random_tensor(random, {batch, m, k}, true), b = random_tensor(random, {batch, k, n}, true);
    const TensorBase out = random_tensor(random, {batch, m, n}, false);
    const TensorBase add = random() % 2 == 0 ? out : random_tensor(random, {batch, m, n}, true);
    std::vector<double> expected;
    for (std::int64_t x = 0; x < batch; ++x) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l) sum += at(a, x, i, l) * at(b, x, l, j);
          expected.push_back(2 * sum + 3 * at(add, x, i, j));
        }
      }
    }
    const auto product =
        column_major_product(kDouble, kDouble, matrices_of(a), matrices_of(b), matrices_of(add), matrices_of(out));
    if (!product) {
      ++refused;
      const bool all_fit = is_transposed(matrices_of(a)) && is_transposed(matrices_of(b)) &&
                           is_transposed(matrices_of(out)) &&
                           leading(matrices_of(add), *is_transposed(matrices_of(out)));
      REQUIRE_FALSE(all_fit);
      continue;
    }
    ++described;
    turned += product->a == b.data_ptr() ? 1 : 0;
    const ProductProblem& p = product->problem;
    for (const ProductOperand* one : {&p.a, &p.b, &p.c, &p.d}) REQUIRE(one->leading >= 1);
    REQUIRE(p.c.leading >= p.m);
    REQUIRE(p.d.leading >= p.m);
    REQUIRE(p.a.leading >= (p.a.transposed ? p.k : p.m));
    REQUIRE(p.b.leading >= (p.b.transposed ? p.n : p.k));
    REQUIRE(reinterpret_cast<std::uintptr_t>(product->d) % static_cast<std::uintptr_t>(p.d.alignment) == 0);
    compute(*product);
    std::size_t next = 0;
    for (std::int64_t x = 0; x < batch; ++x) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) REQUIRE(at(out, x, i, j) == expected[next++]);
      }
    }
  }
  CHECK(described > 500);
  CHECK(turned > 200);
  CHECK(refused > 200);
}

TEST_CASE("a vector is a bias if the library can add it to each column of a column-major result") {
  const TensorBase a = make_tensor({3, 2}, kDouble, kCPU), b = make_tensor({2, 4}, kDouble, kCPU);
  const TensorBase out = make_tensor({3, 4}, kDouble, kCPU), numbers = make_tensor({5}, kDouble, kCPU);
  const auto biased = [&](const TensorBase& result, IntArrayRef strides, std::int64_t offset = 0) {
    const TensorBase bias = make_view(numbers, result.sizes(), strides, offset);
    return biased_product(kDouble, kDouble, matrices_of(a), matrices_of(b), matrices_of(bias), matrices_of(result));
  };
  const auto row = biased(out, {0, 1});
  REQUIRE(row);
  CHECK(row->bias == numbers.data_ptr());
  CHECK(row->problem.bias >= 16);
  CHECK(row->problem.m == 4);
  CHECK(row->c == row->d);
  CHECK(row->problem.c == row->problem.d);
  const auto later = biased(out, {0, 1}, 1);
  REQUIRE(later);
  CHECK(later->problem.bias == 8);
  CHECK_FALSE(later->problem == row->problem);
  CHECK_FALSE(biased(out, {0, 0}));
  CHECK_FALSE(biased(out, {1, 0}));
  const TensorBase columns = make_view(out, {3, 4}, {1, 3}, 0);
  CHECK(biased(columns, {1, 0}));
  CHECK_FALSE(biased(columns, {0, 1}));
  CHECK_FALSE(biased(make_view(out, {3, 2}, {4, 2}, 0), {0, 1}));
}

TEST_CASE("rows, columns and broadcast matrices as libraries take them") {
  const auto matrices = [](std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
    return Matrices{nullptr, 1, rows, columns, 0, row, column};
  };
  CHECK(is_transposed(matrices(3, 4, 4, 1)) == true);
  CHECK(leading(matrices(3, 4, 4, 1), true) == 4);
  CHECK(is_transposed(matrices(3, 4, 1, 3)) == false);
  CHECK(leading(matrices(3, 4, 1, 7), false) == 7);
  CHECK(leading(matrices(3, 4, 9, 1), true) == 9);
  CHECK_FALSE(is_transposed(matrices(3, 4, 8, 2)));
  CHECK_FALSE(is_transposed(matrices(3, 4, 2, 1)));  // windows that overlap
  CHECK_FALSE(is_transposed(matrices(3, 4, 0, 1)));
  CHECK_FALSE(is_transposed(matrices(1, 4, 0, 0)));
  CHECK(is_transposed(matrices(1, 4, 100, 1)) == true);   // a row
  CHECK(is_transposed(matrices(1, 4, 100, 5)) == false);  // columns of one element, five apart
  CHECK(is_transposed(matrices(4, 1, 1, 100)) == false);
  CHECK(leading(matrices(4, 1, 1, 0), false) == 4);
  CHECK(is_transposed(matrices(1, 1, 0, 0)) == false);
  CHECK(leading(matrices(1, 1, 0, 0), false) == 1);

  const std::int64_t far = std::int64_t{1} << 31;
  const Matrices far_apart = matrices(2, 2, far, 1), dense = matrices(2, 2, 2, 1);
  CHECK(is_transposed(far_apart) == true);
  CHECK_FALSE(column_major_product(kFloat, kFloat, far_apart, dense, dense, dense));
  CHECK(column_major_product(kFloat, kFloat, dense, dense, dense, dense));
  CHECK_FALSE(column_major_product(kFloat, kFloat, matrices(2, far, far, 1), matrices(far, 2, 2, 1), dense, dense));
}

TEST_CASE("problems are equal only if a kernel for one serves the other") {
  const ProductProblem one{kFloat, kFloat, 2, 3, 4, 5, {false, 3, 15, 256}, {}, {}, {}};
  std::vector<ProductProblem> others(8, one);
  others[0].dtype = kHalf;
  others[1].m = 4;
  others[2].batch = 3;
  others[3].a.transposed = true;
  others[4].a.alignment = 16;
  others[5].d.batch_stride = 1;
  others[6].a.leading = 4;
  others[7].bias = 16;
  std::set<std::size_t> hashes{one.hash()};
  for (const ProductProblem& other : others) {
    CHECK_FALSE(other == one);
    CHECK(hashes.insert(other.hash()).second);
  }
  CHECK(ProductProblem(one).hash() == one.hash());
}

TEST_CASE("a cache keeps the plans that were asked for last") {
  PlanCache<Key, int> cache(3);
  int made = 0;
  const auto get = [&](int number) {
    return cache.get(Key{number}, [&] {
      ++made;
      return number * 10;
    });
  };
  for (const int number : {1, 2, 3, 1, 2, 3}) CHECK(get(number) == number * 10);
  CHECK(made == 3);
  CHECK(get(1) == 10);
  CHECK(get(4) == 40);  // 2 is the oldest
  CHECK(cache.size() == 3);
  CHECK(get(1) == 10);
  CHECK(get(3) == 30);
  CHECK(made == 4);
  CHECK(get(2) == 20);
  CHECK(made == 5);
  const auto fail = []() -> int { throw std::runtime_error("none"); };
  CHECK_THROWS_AS(cache.get(Key{5}, fail), std::runtime_error);
  CHECK(cache.size() == 3);
  CHECK(cache.get(Key{5}, [] { return 50; }) == 50);
}

TEST_CASE("threads that ask a cache for few plans of many get those of their problems") {
  PlanCache<Key, int> cache(4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int number = (i * (t + 1)) % 7;
        if (cache.get(Key{number}, [&] { return number * 10; }) != number * 10) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(cache.size() == 4);
}

TEST_CASE("tiles cover each result once") {
  for (const auto& [batch, rows, columns] :
       {std::tuple(1, 1, 1), std::tuple(3, 64, 65), std::tuple(2, 129, 10), std::tuple(1, 128, 192)}) {
    const ProductTiles tiles(batch, rows, columns);
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
    for (std::int64_t t = 0; t < tiles.count(); ++t) {
      const ProductTiles::Tile tile = tiles.tile(t);
      CHECK(tile.matrix < batch);
      CHECK(tile.row < rows);
      CHECK(tile.column < columns);
      CHECK(tile.row % kTileSide == 0);
      CHECK(tile.column % kTileSide == 0);
      CHECK(seen.emplace(tile.matrix, tile.row, tile.column).second);
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == batch * ((rows + 63) / 64) * ((columns + 63) / 64));
    CHECK(tiles.blocks() == seen.size());
  }
  CHECK(ProductTiles(1 << 20, 1 << 20, 1 << 20).blocks() == 1U << 30);
}

TEST_CASE("a part of a batch is the product of its matrices, as aligned as they lie") {
  alignas(256) static Half memory[4096] = {};
  const Matrices a{memory, 9, 2, 4, 8, 4, 1}, b{memory + 512, 9, 4, 8, 32, 8, 1}, d{memory + 1024, 9, 2, 8, 16, 8, 1};
  const auto all = column_major_product(kHalf, kHalf, a, b, d, d);
  REQUIRE(all.has_value());
  const cuda::ColumnMajorProduct part = part_of_batch(*all, 3, 2);
  CHECK(part.problem.batch == 2);
  CHECK(part.d == memory + 1024 + 3 * 16);
  CHECK(part.c == part.d);
  // Row-major matrices are the transposes of column-major ones: the operands change places.
  CHECK(part.a == memory + 512 + 3 * 32);
  CHECK(part.b == memory + 3 * 8);
  CHECK(part.problem.a.alignment == 64);
  CHECK(part.problem.b.alignment == 16);
  CHECK(part.problem.d.alignment == 32);
  cuda::ProductProblem same = part.problem;
  same.batch = all->problem.batch;
  same.a.alignment = all->problem.a.alignment;
  same.b.alignment = all->problem.b.alignment;
  same.c.alignment = same.d.alignment = all->problem.d.alignment;
  CHECK(same == all->problem);
}
