#include <keyway/backends/cpu/kernels_advanced_indexing.h>
#include <keyway/backends/cpu/kernels_indexing.h>
#include <keyway/backends/cpu/kernels_scatter.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <map>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr ScalarType kTypes[] = {kFloat, kLong, kHalf, kShort};

TensorBase random_values(Rng& rng, const Sizes& sizes, ScalarType dtype) {
  return is_floating_point(dtype) ? random_reals(rng, sizes, dtype, -8, 8) : random_integers(rng, sizes, dtype, -9, 9);
}

std::size_t at(std::int64_t dim) { return static_cast<std::size_t>(dim); }

// Rank 1 to 3, no size 0.
Sizes some_sizes(Rng& rng) {
  Sizes sizes;
  const std::int64_t rank = random_int(rng, 1, 3);
  for (std::int64_t d = 0; d < rank; ++d) sizes.push_back(random_int(rng, 1, 17));
  return sizes;
}

// Values by index.
using Model = std::map<Sizes, double>;
Model model_of(const TensorBase& tensor) {
  Model model;
  each_index(sizes_of(tensor), [&](const Sizes& index) { model[index] = value_at(tensor, index); });
  return model;
}
bool equal(const TensorBase& tensor, const Model& model, double tolerance = 0) {
  bool same = true;
  each_index(sizes_of(tensor),
             [&](const Sizes& index) { same = same && close(value_at(tensor, index), model.at(index), tolerance); });
  return same && static_cast<std::size_t>(tensor.numel()) == model.size();
}

// Runs a kernel that writes to a copy of `self` or, every other time, to self itself; gives the result.
template <typename Kernel>
TensorBase written(Rng& rng, int round, const TensorBase& self, const Kernel& kernel) {
  TensorBase out = round % 2 == 0 ? self : random_out(rng, sizes_of(self), self.dtype());
  kernel(out);
  return out;
}

}  // namespace

TEST_CASE("index_select, index_copy and index_add agree with loops over all indices") {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const Sizes sizes = some_sizes(rng);
    const ScalarType dtype = kTypes[round % 4];
    const std::int64_t dim = random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1);
    Sizes picked = sizes;
    picked[at(dim)] = random_int(rng, 0, 20);
    const TensorBase index =
        random_integers(rng, {picked[at(dim)]}, round % 3 == 0 ? kInt : kLong, 0, sizes[at(dim)] - 1);
    const TensorBase self = random_values(rng, sizes, dtype), source = random_values(rng, picked, dtype);
    const auto moved = [&](Sizes position) {
      position[at(dim)] = static_cast<std::int64_t>(value_at(index, {position[at(dim)]}));
      return position;
    };

    const Model before = model_of(self);
    TensorBase selected = random_out(rng, picked, dtype);
    cpu::index_select(self, dim, index, selected);
    Model expected;
    each_index(picked, [&](const Sizes& position) { expected[position] = before.at(moved(position)); });
    REQUIRE(equal(selected, expected));

    Model copied = before;
    const TensorBase copy =
        written(rng, 1, self, [&](TensorBase& out) { cpu::index_copy(self, dim, index, source, out); });
    each_index(picked, [&](const Sizes& position) { copied[moved(position)] = value_at(source, position); });
    REQUIRE(equal(copy, copied));

    Model added = before;
    each_index(picked, [&](const Sizes& position) { added[moved(position)] += 2 * value_at(source, position); });
    const TensorBase sum =
        written(rng, round, self, [&](TensorBase& out) { cpu::index_add(self, dim, index, source, 2, out); });
    REQUIRE(equal(sum, added, 20 * (is_floating_point(dtype) ? tolerance_of(dtype) : 0)));
  }
}

TEST_CASE("index_add of complex infinities makes no NaN, and of bools is an or") {
  using C = complex<float>;
  const float inf = std::numeric_limits<float>::infinity();
  const TensorBase x = make_tensor(Sizes{1}, kComplexFloat, DeviceType::CPU);
  const TensorBase source = make_tensor(Sizes{1}, kComplexFloat, DeviceType::CPU);
  const TensorBase index = make_tensor(Sizes{1}, kLong, DeviceType::CPU);
  TensorBase out = make_tensor(Sizes{1}, kComplexFloat, DeviceType::CPU);
  *index.data_ptr<std::int64_t>() = 0;
  *x.data_ptr<C>() = C(1, 2);
  *source.data_ptr<C>() = C(inf, 3);
  cpu::index_add(x, 0, index, source, 1, out);
  CHECK(*out.data_ptr<C>() == C(inf, 5));

  const TensorBase flag = make_tensor(Sizes{1}, kBool, DeviceType::CPU);
  TensorBase flags = make_tensor(Sizes{1}, kBool, DeviceType::CPU);
  *flag.data_ptr<bool>() = true;
  cpu::index_add(flag, 0, index, flag, 1, flags);
  CHECK(*flags.data_ptr<bool>());
  cpu::scatter_add(flag, 0, index, flag, flags);
  CHECK(*flags.data_ptr<bool>());
}

TEST_CASE("gather, scatter and scatter_add agree with loops over all indices") {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const Sizes sizes = some_sizes(rng);
    const ScalarType dtype = kTypes[round % 4];
    const std::int64_t dim = random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1);
    Sizes picked = sizes, larger = sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      picked[d] = random_int(rng, 0, d == at(dim) ? 20 : sizes[d]);
      larger[d] = picked[d] + random_int(rng, 0, 2);
    }
    const TensorBase index = random_integers(rng, picked, kLong, 0, sizes[at(dim)] - 1);
    const TensorBase self = random_values(rng, sizes, dtype), source = random_values(rng, larger, dtype);
    const auto moved = [&](Sizes position) {
      const double i = value_at(index, position);
      position[at(dim)] = static_cast<std::int64_t>(i);
      return position;
    };

    const Model before = model_of(self);
    TensorBase gathered = random_out(rng, picked, dtype);
    cpu::gather(self, dim, index, false, gathered);
    Model expected;
    each_index(picked, [&](const Sizes& position) { expected[position] = before.at(moved(position)); });
    REQUIRE(equal(gathered, expected));

    Model scattered = before, filled = before, added = before;
    each_index(picked, [&](const Sizes& position) {
      scattered[moved(position)] = value_at(source, position);
      filled[moved(position)] = 3;
      added[moved(position)] += value_at(source, position);
    });
    const auto run = [&](int where, const auto& kernel) { return written(rng, where, self, kernel); };
    REQUIRE(equal(run(1, [&](TensorBase& out) { cpu::scatter_src(self, dim, index, source, out); }), scattered));
    REQUIRE(equal(run(1, [&](TensorBase& out) { cpu::scatter_value(self, dim, index, 3, out); }), filled));
    REQUIRE(equal(run(round, [&](TensorBase& out) { cpu::scatter_add(self, dim, index, source, out); }), added,
                  20 * (is_floating_point(dtype) ? tolerance_of(dtype) : 0)));
  }
}

TEST_CASE("a scatter of a tensor into itself reads what was there before") {
  TensorBase x = tensor_of<float>({3}, {1, 2, 3});
  const TensorBase index = tensor_of<std::int64_t>({3}, {1, 2, 0});
  cpu::scatter_src(x, 0, index, x, x);
  CHECK(all_close(x, {3, 1, 2}, 0));
  cpu::index_add(x, 0, index, x, 1, x);
  CHECK(all_close(x, {5, 4, 3}, 0));
}

TEST_CASE("embedding and its gradient agree with loops over the indices") {
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t count = random_int(rng, 1, 12), width = random_int(rng, 0, 33);
    const Sizes shape = random_sizes(rng, random_int(rng, 0, 2), 40);
    const TensorBase weight = random_reals(rng, {count, width}, kFloat);
    const TensorBase indices = random_integers(rng, shape, round % 2 == 0 ? kInt : kLong, 0, count - 1);
    Sizes sizes = shape;
    sizes.push_back(width);
    TensorBase out = random_out(rng, sizes, kFloat);
    cpu::embedding(weight, indices, -1, false, false, out);
    const TensorBase g = random_reals(rng, sizes, kFloat);
    const std::int64_t padding = random_int(rng, -1, count - 1);
    std::vector<double> grad(static_cast<std::size_t>(count * width), 0), uses(static_cast<std::size_t>(count), 0);
    each_index(shape,
               [&](const Sizes& position) { ++uses[at(static_cast<std::int64_t>(value_at(indices, position)))]; });
    bool right = true;
    each_index(sizes, [&](const Sizes& position) {
      const auto row = static_cast<std::int64_t>(value_at(indices, Sizes(position.begin(), position.end() - 1)));
      right = right && value_at(out, position) == value_at(weight, {row, position.back()});
      if (row == padding) return;
      const double share = round % 3 == 0 ? 1 / uses[at(row)] : 1;
      grad[at(row * width + position.back())] += value_at(g, position) * share;
    });
    REQUIRE(right);
    TensorBase sums = random_out(rng, {count, width}, kFloat);
    cpu::embedding_dense_backward(g, indices, count, padding, round % 3 == 0, sums);
    REQUIRE(all_close(sums, grad, 1e-5));
  }
}

TEST_CASE("_index and _index_put agree with loops, wherever the indexed dimensions stand") {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    const Sizes sizes{random_int(rng, 1, 7), random_int(rng, 1, 6), random_int(rng, 1, 5)};
    const Sizes common = random_sizes(rng, random_int(rng, 0, 2), 9);
    std::vector<TensorBase> indices(3);
    std::size_t first = 3, last = 0, count = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      if (random_int(rng, 0, 1) == 0) continue;
      Sizes own = common;
      if (random_int(rng, 0, 2) == 0 && count > 0) std::fill(own.begin(), own.end(), 1);
      if (random_int(rng, 0, 3) == 0 && count > 0) own.clear();
      indices[d] = random_integers(rng, own, kLong, -sizes[d], sizes[d] - 1);
      first = std::min(first, d);
      last = d;
      ++count;
    }
    const std::size_t row_dims = count > 0 ? common.size() : 0;
    const std::size_t rows_at = count > 0 && last - first + 1 == count ? first : 0;
    Sizes shape;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!indices[d].defined()) shape.push_back(sizes[d]);
    }
    if (count > 0) shape.insert(shape.begin() + static_cast<std::int64_t>(rows_at), common.begin(), common.end());
    const auto source_of = [&](const Sizes& position) {
      const auto begin = position.begin() + static_cast<std::int64_t>(rows_at);
      const Sizes row(begin, begin + static_cast<std::int64_t>(row_dims));
      Sizes rest(position.begin(), begin);
      rest.insert(rest.end(), begin + static_cast<std::int64_t>(row_dims), position.end());
      Sizes source;
      std::size_t next = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        if (!indices[d].defined()) {
          source.push_back(rest[next++]);
        } else {
          const auto i = static_cast<std::int64_t>(value_at(indices[d], row));
          source.push_back(i < 0 ? i + sizes[d] : i);
        }
      }
      return source;
    };

    const TensorBase self = random_values(rng, sizes, kFloat), values = random_values(rng, shape, kFloat);
    const Model before = model_of(self);
    TensorBase out = random_out(rng, shape, kFloat);
    cpu::_index(self, indices, out);
    Model expected, put = before, added = before;
    each_index(shape, [&](const Sizes& position) {
      const Sizes source = source_of(position);
      expected[position] = before.at(source);
      put[source] = value_at(values, position);
      added[source] += value_at(values, position);
    });
    REQUIRE(equal(out, expected));
    REQUIRE(
        equal(written(rng, 1, self, [&](TensorBase& to) { cpu::_index_put(self, indices, values, false, to); }), put));
    REQUIRE(equal(written(rng, round, self, [&](TensorBase& to) { cpu::_index_put(self, indices, values, true, to); }),
                  added, 1e-5));
  }
}

TEST_CASE("an index out of range is refused before anything is written") {
  const TensorBase x = tensor_of<float>({3}, {1, 2, 3});
  const TensorBase source = tensor_of<float>({2}, {8, 9});
  TensorBase out = tensor_of<float>({2}, {7, 7}), whole = tensor_of<float>({3}, {7, 7, 7});
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    const TensorBase index = tensor_of<std::int64_t>({2}, {0, bad});
    const std::string text = "argument 'index' has " + std::to_string(bad) + " at position 1, but must be in [0, 3)";
    CHECK(error_of([&] { cpu::index_select(x, 0, index, out); }) == text);
    CHECK(error_of([&] { cpu::gather(x, 0, index, false, out); }) == text);
    CHECK(error_of([&] { cpu::index_add(x, 0, index, source, 1, whole); }) == text);
    CHECK(error_of([&] { cpu::index_copy(x, 0, index, source, whole); }) == text);
    CHECK(error_of([&] { cpu::scatter_src(x, 0, index, source, whole); }) == text);
    CHECK(error_of([&] { cpu::scatter_value(x, 0, index, 1, whole); }) == text);
    CHECK(error_of([&] { cpu::scatter_add(x, 0, index, source, whole); }) == text);
    if (bad != -1) {
      const std::vector<TensorBase> indices{index};
      CHECK(error_of([&] { cpu::_index(x, indices, out); }).find("must be in [-3, 3)") != std::string::npos);
      CHECK(error_of([&] { cpu::_index_put(x, indices, source, true, whole); }).find("at position 1") !=
            std::string::npos);
    }
  }
  CHECK(all_close(out, {7, 7}, 0));
  CHECK(all_close(whole, {7, 7, 7}, 0));
  const TensorBase weight = tensor_of<float>({1, 1}, {1}), one = tensor_of<int>({1}, {1});
  TensorBase row = make_tensor({1, 1}, kFloat, DeviceType::CPU);
  CHECK(error_of([&] { cpu::embedding(weight, one, -1, false, false, row); }) ==
        "argument 'indices' has 1 at position 0, but must be in [0, 1)");
  CHECK(error_of([&] { cpu::embedding_dense_backward(row, one, 1, -1, false, row); }) ==
        "argument 'indices' has 1 at position 0, but must be in [0, 1)");
}

TEST_CASE("tensors without dimensions can be indexed at 0") {
  const TensorBase x = tensor_of<float>({}, {5}), zero = tensor_of<std::int64_t>({}, {0});
  TensorBase out = make_tensor({}, kFloat, DeviceType::CPU);
  cpu::index_select(x, 0, zero, out);
  CHECK(value_at(out, {}) == 5);
  cpu::gather(x, 0, zero, false, out);
  CHECK(value_at(out, {}) == 5);
  cpu::scatter_add(x, 0, zero, x, out);
  CHECK(value_at(out, {}) == 10);
}

TEST_CASE("nonzero lists the indices of true elements in order") {
  Rng rng(5);
  for (int round = 0; round < 40; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 3), 300);
    const TensorBase x = random_integers(rng, sizes, kShort, -1, 1);
    std::vector<double> expected;
    each_index(sizes, [&](const Sizes& index) {
      if (value_at(x, index) == 0) return;
      for (const std::int64_t i : index) expected.push_back(static_cast<double>(i));
    });
    const TensorBase found = cpu::nonzero(x);
    REQUIRE(found.dim() == 2);
    REQUIRE(found.sizes()[1] == static_cast<std::int64_t>(sizes.size()));
    REQUIRE(all_close(found, expected, 0));
  }
}
