// The oracle: a view of a tensor of numbers 0, 1, 2, ... is computed once by its geometry, and once by the definition
// of the operator, index by index.
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/views.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

std::int64_t product(const Ints& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

// A tensor whose dimensions lie in memory in a random order and with gaps.
TensorBase random_tensor(std::mt19937& rng, std::size_t rank) {
  Ints sizes(rank), order(rank), strides(rank);
  for (auto& size : sizes) size = std::uniform_int_distribution<std::int64_t>(rng() % 12 == 0 ? 0 : 1, 4)(rng);
  std::iota(order.begin(), order.end(), 0);
  if (rng() % 2 == 0) std::shuffle(order.begin(), order.end(), rng);
  std::int64_t stride = 1 + (rng() % 4 == 0 ? 1 : 0);
  for (const std::int64_t d : order) {
    strides[static_cast<std::size_t>(d)] = rng() % 8 == 0 ? 0 : stride;
    stride *= std::max<std::int64_t>(sizes[static_cast<std::size_t>(d)], 1) + (rng() % 6 == 0 ? 1 : 0);
  }
  const TensorBase base = tensor({100000});
  return make_view(base, sizes, strides, static_cast<std::int64_t>(rng() % 5));
}

// Where the elements lie, in the order of indices.
Ints offsets(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  Ints out = {offset};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    Ints next;
    for (const std::int64_t from : out)
      for (std::int64_t i = 0; i < sizes[d]; ++i) next.push_back(from + i * strides[d]);
    out = std::move(next);
  }
  return out;
}
Ints offsets(const TensorBase& t) { return offsets(t.sizes(), t.strides(), t.storage_offset()); }
Ints offsets(const ViewGeometry& g) { return offsets(g.sizes, g.strides, g.offset); }

Ints vec(const DimVector& list) { return {list.begin(), list.end()}; }

// Offset of the element of `t` at `index`.
std::int64_t offset_at(const TensorBase& t, const Ints& index) {
  std::int64_t offset = t.storage_offset();
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * t.strides()[d];
  return offset;
}

// All indices of a shape, in order.
std::vector<Ints> indices(const Ints& sizes) {
  std::vector<Ints> out = {{}};
  for (const std::int64_t size : sizes) {
    std::vector<Ints> next;
    for (const Ints& index : out)
      for (std::int64_t i = 0; i < size; ++i) {
        next.push_back(index);
        next.back().push_back(i);
      }
    out = std::move(next);
  }
  return out;
}

// The offsets that a view must have: of each index of `sizes`, the element of `t` at the index that `source` gives.
Ints expected(const TensorBase& t, const Ints& sizes, const std::function<Ints(Ints)>& source) {
  Ints out;
  for (const Ints& index : indices(sizes)) out.push_back(offset_at(t, source(index)));
  return out;
}

}  // namespace

TEST_CASE("permute, transpose, select and unsqueeze name the elements that their definitions name") {
  std::mt19937 rng(1);
  for (int run = 0; run < 500; ++run) {
    const std::size_t rank = 1 + rng() % 4;
    const TensorBase t = random_tensor(rng, rank);
    const Ints sizes = t.sizes().vec();
    const auto dim = static_cast<std::int64_t>(rng() % rank);
    const std::int64_t given = rng() % 2 == 0 ? dim : dim - static_cast<std::int64_t>(rank);
    const auto at = static_cast<std::size_t>(dim);

    Ints order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    Ints permuted;
    for (const std::int64_t d : order) permuted.push_back(sizes[static_cast<std::size_t>(d)]);
    const auto back = [&](const Ints& index) {
      Ints source(rank);
      for (std::size_t d = 0; d < rank; ++d) source[static_cast<std::size_t>(order[d])] = index[d];
      return source;
    };
    const ViewGeometry permute = rules::permute(t, order);
    CHECK(vec(permute.sizes) == permuted);
    CHECK(offsets(permute) == expected(t, permuted, back));

    Ints swapped = sizes;
    std::swap(swapped[at], swapped[0]);
    CHECK(offsets(rules::transpose(t, given, 0)) == expected(t, swapped, [&](Ints index) {
            std::swap(index[at], index[0]);
            return index;
          }));

    Ints longer = sizes;
    longer.insert(longer.begin() + dim, 1);
    CHECK(vec(rules::unsqueeze(t, dim).sizes) == longer);
    CHECK(offsets(rules::unsqueeze(t, dim)) == offsets(t));

    if (sizes[at] == 0) continue;
    const auto chosen = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(sizes[at]));
    Ints shorter = sizes;
    shorter.erase(shorter.begin() + dim);
    CHECK(offsets(rules::select(t, given, rng() % 2 == 0 ? chosen : chosen - sizes[at])) ==
          expected(t, shorter, [&](Ints index) {
            index.insert(index.begin() + dim, chosen);
            return index;
          }));
  }
}

TEST_CASE("slice names the elements between its bounds, whatever the bounds") {
  std::mt19937 rng(2);
  const std::int64_t bounds[] = {kMin, kMin + 1, -7, -4, -3, -1, 0, 1, 2, 3, 4, 5, kMax - 1, kMax};
  const std::int64_t steps[] = {1, 2, 3, 7, kMax};
  for (int run = 0; run < 3000; ++run) {
    const TensorBase t = random_tensor(rng, 2);
    const auto dim = static_cast<std::int64_t>(rng() % 2);
    const std::int64_t size = t.sizes()[static_cast<std::size_t>(dim)];
    const auto bound = [&] { return rng() % 5 == 0 ? std::nullopt : std::optional(bounds[rng() % std::size(bounds)]); };
    const auto start = bound(), end = bound();
    const std::int64_t step = steps[rng() % std::size(steps)];
    Ints chosen;  // what Python's range would give, in wide integers
    __extension__ using Wide = __int128;
    const auto clamped = [&](std::int64_t b) {
      return b < 0 ? std::max<Wide>(Wide{b} + size, 0) : std::min<Wide>(b, size);
    };
    for (Wide i = start ? clamped(*start) : 0; i < (end ? clamped(*end) : Wide{size}); i += step)
      chosen.push_back(static_cast<std::int64_t>(i));
    Ints sizes = t.sizes().vec();
    sizes[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(chosen.size());
    const ViewGeometry slice = rules::slice(t, dim, start, end, step);
    CAPTURE(size, step, start.value_or(99), end.value_or(99));
    CHECK(vec(slice.sizes) == sizes);
    CHECK(offsets(slice) == expected(t, sizes, [&](Ints index) {
            auto& i = index[static_cast<std::size_t>(dim)];
            i = chosen[static_cast<std::size_t>(i)];
            return index;
          }));
  }
}

TEST_CASE("a view in another shape has the same elements in the same order, or is refused") {
  std::mt19937 rng(3);
  int views = 0, refused = 0;
  for (int run = 0; run < 5000; ++run) {
    const TensorBase t = random_tensor(rng, rng() % 5);
    Ints shape;
    std::int64_t rest = t.numel();
    while (rest > 1) {
      std::int64_t factor = 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(rest));
      while (rest % factor != 0) --factor;
      shape.push_back(factor);
      rest /= factor;
    }
    if (rest == 0) shape.push_back(0);
    if (rng() % 3 == 0) shape.insert(shape.begin() + static_cast<std::int64_t>(rng() % (shape.size() + 1)), 1);
    const auto strides = view_strides(t.sizes(), t.strides(), shape);
    if (strides) {
      ++views;
      CHECK(offsets(shape, *strides, t.storage_offset()) == offsets(t));
    } else {
      ++refused;
      // It is right to refuse: in the innermost dimension that is not 1, or across it, the elements lie unevenly.
      CHECK_FALSE(t.is_contiguous());
      CHECK(error_of([&] { rules::view(t, shape); }).find("reshape()") != std::string::npos);
    }
  }
  CHECK(views > 1000);
  CHECK(refused > 500);
}

TEST_CASE("a view that some strides could express is never refused") {
  // Exhaustive: all strides up to a limit are tried against the offsets.
  std::mt19937 rng(4);
  for (int run = 0; run < 2000; ++run) {
    const TensorBase t = random_tensor(rng, 1 + rng() % 3);
    if (t.numel() < 2) continue;
    std::int64_t a = 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(t.numel()));
    while (t.numel() % a != 0) --a;
    const Ints shape = {a, t.numel() / a};
    const Ints wanted = offsets(t);
    bool possible = false;
    const auto row = static_cast<std::size_t>(shape[1]);
    const std::int64_t outer = a > 1 ? wanted[row] - wanted[0] : 0, inner = row > 1 ? wanted[1] - wanted[0] : 0;
    possible = offsets(shape, Ints{outer, inner}, t.storage_offset()) == wanted;
    CHECK(view_strides(t.sizes(), t.strides(), shape).has_value() == (possible && outer >= 0 && inner >= 0));
  }
}

TEST_CASE("what a tensor remembers of its layout changes no view, and a view in the same shape has the same strides") {
  std::mt19937 rng(5);
  for (int run = 0; run < 2000; ++run) {
    const TensorBase t = random_tensor(rng, rng() % 5);
    CHECK(vec(rules::view(t, t.sizes()).strides) == vec(t.strides()));
    Ints shape = vec(t.sizes());
    shape.insert(shape.begin() + static_cast<std::int64_t>(rng() % (shape.size() + 1)), 1);
    const Ints before = vec(rules::view(t, shape).strides);
    t.is_contiguous();
    CHECK(vec(rules::view(t, shape).strides) == before);
    CHECK(vec(rules::view(t, t.sizes()).strides) == vec(t.strides()));
  }
}

TEST_CASE("a size of -1 is worked out from the number of elements") {
  CHECK(vec(infer_shape(Ints{2, -1}, 6)) == Ints{2, 3});
  CHECK(vec(infer_shape(Ints{-1}, 0)) == Ints{0});
  CHECK(vec(infer_shape(Ints{-1, 5}, 0)) == Ints{0, 5});
  CHECK(vec(infer_shape(Ints{}, 1)) == Ints{});
  CHECK(vec(infer_shape(Ints{0, 3}, 0)) == Ints{0, 3});
}

TEST_CASE("a shape that does not fit is refused with both") {
  CHECK(error_of([] { infer_shape(Ints{2, -1}, 3); }) == "shape [2, -1] does not fit 3 elements");
  CHECK(error_of([] { infer_shape(Ints{2, 2}, 3); }) == "shape [2, 2] does not fit 3 elements");
  CHECK(error_of([] { infer_shape(Ints{-1, -1}, 4); }) == "shape [-1, -1] has more than one -1");
  CHECK(error_of([] { infer_shape(Ints{-1, 0}, 4); }) == "shape [-1, 0] does not fit 4 elements");
  CHECK(error_of([] { infer_shape(Ints{-1, 0}, 0); }).find("leaves its -1 open") != std::string::npos);
  CHECK_FALSE(error_of([] { infer_shape(Ints{-2, 2}, 4); }).empty());
  CHECK_FALSE(error_of([] { infer_shape(Ints{kMin}, 4); }).empty());
  CHECK_FALSE(error_of([] { infer_shape(Ints{kMax, kMax}, 4); }).empty());
  CHECK_FALSE(error_of([] { infer_shape(Ints{std::int64_t{1} << 32, std::int64_t{1} << 32, -1}, 4); }).empty());
}

TEST_CASE("expand repeats dimensions of size 1 and refuses the rest") {
  std::mt19937 rng(5);
  for (int run = 0; run < 500; ++run) {
    const TensorBase t = random_tensor(rng, rng() % 4);
    const std::size_t added = rng() % 3;
    Ints given(added, 2), sizes(added, 2);
    for (const std::int64_t size : t.sizes()) {
      const bool keep = rng() % 3 == 0;
      sizes.push_back(size == 1 && !keep ? static_cast<std::int64_t>(rng() % 4) : size);
      given.push_back(keep ? -1 : sizes.back());
    }
    const ViewGeometry to = rules::expand(t, given);
    CHECK(vec(to.sizes) == sizes);
    CHECK(offsets(to) == expected(t, sizes, [&](const Ints& index) {
            Ints source;
            for (std::size_t d = 0; d < t.sizes().size(); ++d)
              source.push_back(t.sizes()[d] == 1 ? 0 : index[added + d]);
            return source;
          }));
  }
  const TensorBase t = tensor({3, 1});
  for (const Ints& bad : {Ints{3}, Ints{2, 1}, Ints{3, -2}, Ints{-1, 3, 1}, Ints{3, kMin}, Ints{0, 1}, Ints{}}) {
    CAPTURE(bad);
    CHECK(error_of([&] { rules::expand(t, bad); }).find("shape [3, 1] does not expand to") == 0);
  }
  CHECK_FALSE(error_of([&] { rules::expand(t, Ints{kMax, 3, kMax}); }).empty());
}

TEST_CASE("squeeze takes away sizes of 1 only") {
  const TensorBase t = tensor({1, 2, 1, 3});
  CHECK(vec(rules::squeeze(t).sizes) == Ints{2, 3});
  CHECK(vec(rules::squeeze(t, 0).sizes) == Ints{2, 1, 3});
  CHECK(vec(rules::squeeze(t, 1).sizes) == Ints{1, 2, 1, 3});
  CHECK(vec(rules::squeeze(t, -2).sizes) == Ints{1, 2, 3});
  CHECK(vec(rules::squeeze(t, Ints{0, -1, 2}).sizes) == Ints{2, 3});
  CHECK(vec(rules::squeeze(tensor({}), 0).sizes) == Ints{});
  CHECK(vec(rules::squeeze(tensor({}), Ints{-1}).sizes) == Ints{});
}

TEST_CASE("as_strided stays within the storage") {
  const TensorBase t = tensor({10});
  CHECK(vec(rules::as_strided(t, Ints{2, 5}, Ints{5, 1}, std::nullopt).sizes) == Ints{2, 5});
  CHECK(rules::as_strided(t, Ints{3}, Ints{3}, 3).offset == 3);
  CHECK(rules::as_strided(t, Ints{0}, Ints{kMax}, 10).offset == 10);
  struct Bad {
    Ints size, stride;
    std::int64_t offset;
  };
  for (const Bad& bad : {Bad{{11}, {1}, 0}, Bad{{2}, {1}, 9}, Bad{{2}, {10}, 0}, Bad{{0}, {1}, 11}, Bad{{2}, {kMax}, 0},
                         Bad{{kMax}, {kMax}, 0}, Bad{{2}, {1}, kMax}, Bad{{1}, {1}, -1}, Bad{{1}, {1}, kMin},
                         Bad{{0}, {1}, kMax}, Bad{{kMax, kMax}, {0, 0}, 0}}) {
    CAPTURE(bad.size, bad.stride, bad.offset);
    CHECK_FALSE(error_of([&] { rules::as_strided(t, bad.size, bad.stride, bad.offset); }).empty());
  }
}

TEST_CASE("geometry of a tensor without elements does not overflow, whatever its strides") {
  const TensorBase t = make_view(tensor({4}), Ints{0, 3}, Ints{kMax, kMax}, 0);
  CHECK(product(vec(rules::select(t, 1, 2).sizes)) == 0);
  CHECK(vec(rules::slice(t, 1, 1, kMax, kMax).sizes) == Ints{0, 1});
  CHECK(vec(rules::unsqueeze(t, 1).sizes) == Ints{0, 1, 3});
  CHECK(vec(rules::view(t, Ints{3, -1}).sizes) == Ints{3, 0});
  CHECK(vec(rules::expand(t, Ints{1, 0, 3}).sizes) == Ints{1, 0, 3});
}

TEST_CASE("larger elements over memory of others begin at a multiple of their size, or are refused") {
  alignas(16) float memory[9] = {};
  const auto over = [&](std::size_t first, ScalarType dtype, std::int64_t numel) {
    Storage storage(make_intrusive<StorageImpl>(DataPtr(memory + first, kCPU), sizeof(float) * 8, /*resizable=*/false));
    return TensorBase(
        make_intrusive<TensorImpl>(std::move(storage), dtype, Ints{numel / 2, 2}, Ints{2, 1}, numel, true));
  };
  CHECK(rules::view_as_complex(over(0, kFloat, 8)).dtype == kComplexFloat);
  CHECK(rules::view_dtype(over(0, kFloat, 8), kLong).dtype == kLong);
  const auto complex = error_of([&] { rules::view_as_complex(over(1, kFloat, 8)); });
  CHECK(complex.find("begins at an address that is no multiple of the 8 bytes of complex64") != std::string::npos);
  const auto wider = error_of([&] { rules::view_dtype(over(1, kInt, 8), kLong); });
  CHECK(wider.find("begins at an address that is no multiple of the 8 bytes of int64") != std::string::npos);
  // The same size, smaller elements and none at all are no matter.
  CHECK(rules::view_dtype(over(1, kFloat, 8), kInt).dtype == kInt);
  CHECK(rules::view_dtype(over(1, kFloat, 8), kShort).dtype == kShort);
  CHECK(rules::view_as_complex(over(1, kFloat, 0)).dtype == kComplexFloat);
}
