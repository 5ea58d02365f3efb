#include <keyway/core/tensor/geometry.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

using namespace keyway;
using testing::error_of;

namespace {
__extension__ typedef __int128 Wide;  // wide enough for every product of two

constexpr std::int64_t kInts[] = {-1,
                                  0,
                                  1,
                                  std::int64_t{1} << 31,
                                  (std::int64_t{1} << 31) - 1,
                                  std::int64_t{1} << 32,
                                  std::int64_t{1} << 62,
                                  INT64_MAX,
                                  8170450533120000000,
                                  INT64_MAX - 10000};
constexpr Wide kTooMuch = static_cast<Wide>(1) << 63;

// The number of elements in 128 bits; -1 for an error. Requires: at most two sizes, or small ones.
Wide wide_numel(const std::vector<std::int64_t>& sizes) {
  Wide numel = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) return -1;
    numel *= size;
  }
  return numel >= kTooMuch ? -1 : numel;
}

// The addresses that a tensor touches.
std::multiset<std::int64_t> addresses(const std::vector<std::int64_t>& sizes,
                                      const std::vector<std::int64_t>& strides) {
  std::multiset<std::int64_t> all = {0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::multiset<std::int64_t> next;
    for (const std::int64_t base : all) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) next.insert(base + i * strides[d]);
    }
    all = std::move(next);
  }
  return all;
}
}  // namespace

TEST_CASE("the number of elements is right or an error, for every boundary value") {
  for (const std::int64_t a : kInts) {
    for (const std::int64_t b : kInts) {
      const std::vector<std::int64_t> sizes = {a, b};
      const Wide expected = wide_numel(sizes);
      if (expected < 0) {
        CHECK_THROWS_AS(checked_numel(sizes), Error);
      } else {
        CHECK(checked_numel(sizes) == static_cast<std::int64_t>(expected));
      }
    }
  }
  CHECK(checked_numel({}) == 1);
  CHECK(checked_numel({INT64_MAX, INT64_MAX, 0}) == 0);
  CHECK(error_of([] {
          checked_numel({INT64_MAX, 2});
        }) == "sizes [9223372036854775807, 2] have a product above 2^63 - 1");
  CHECK_THROWS_AS(checked_numel(std::vector<std::int64_t>(65, 1)), Error);
  CHECK(checked_numel(std::vector<std::int64_t>(64, 1)) == 1);
}

TEST_CASE("the bytes that a geometry reaches are right or an error, for every boundary value") {
  for (const std::int64_t size : kInts) {
    for (const std::int64_t stride : kInts) {
      for (const std::int64_t offset : kInts) {
        const std::int64_t sizes[] = {3, size};
        const std::int64_t strides[] = {stride, 2};
        const bool negative = size < 0 || stride < 0 || offset < 0;
        const Wide last = static_cast<Wide>(2) * stride + static_cast<Wide>(2) * (size - 1) + offset;
        const Wide bytes = size == 0 ? 0 : (last + 1) * 4;
        if (negative || bytes >= kTooMuch) {
          CHECK_THROWS_AS(checked_nbytes(sizes, strides, offset, 4), Error);
        } else {
          CHECK(checked_nbytes(sizes, strides, offset, 4) == static_cast<std::size_t>(bytes));
        }
      }
    }
  }
  CHECK_THROWS_AS(checked_nbytes({2, 3}, {1}, 0, 4), Error);
}

TEST_CASE("strides follow the memory format") {
  CHECK(contiguous_strides({2, 3, 4}) == DimVector({12, 4, 1}));
  CHECK(contiguous_strides({2, 0, 4}) == DimVector({4, 4, 1}));
  CHECK(contiguous_strides({}).empty());
  CHECK(contiguous_strides({0, INT64_MAX, INT64_MAX}).size() == 3);  // no overflow
  CHECK(strides_for({2, 3, 4, 5}, MemoryFormat::ChannelsLast) == DimVector({60, 1, 15, 3}));
  CHECK(strides_for({2, 3, 4, 5, 6}, MemoryFormat::ChannelsLast3d) == DimVector({360, 1, 90, 18, 3}));
  CHECK_THROWS_AS(strides_for({2, 3}, MemoryFormat::ChannelsLast), Error);
  CHECK_THROWS_AS(strides_for({2, 3}, MemoryFormat::Preserve), Error);
}

TEST_CASE("layouts are told by the addresses that they touch") {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::int64_t> sizes, strides;
    for (std::int64_t d = below(5); d >= 0; --d) {
      sizes.push_back(below(4));
      strides.push_back(below(7));
    }
    if (below(2) == 0) {  // a permutation of a contiguous one
      std::vector<std::size_t> order(sizes.size());
      for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
      std::shuffle(order.begin(), order.end(), random);
      std::int64_t stride = 1;
      for (const std::size_t d : order) {
        strides[d] = stride;
        stride *= std::max<std::int64_t>(sizes[d], 1);
      }
    }
    const std::multiset<std::int64_t> all = addresses(sizes, strides);
    const bool dense = all.empty() || (std::set<std::int64_t>(all.begin(), all.end()).size() == all.size() &&
                                       *all.rbegin() == static_cast<std::int64_t>(all.size()) - 1);
    CHECK(is_non_overlapping_and_dense(sizes, strides) == dense);
    // Contiguous: dense, and each step of a dimension is longer than all those behind it.
    const DimVector expected = contiguous_strides(sizes);
    bool contiguous = true;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      contiguous = contiguous && (sizes[d] == 1 || strides[d] == expected[d]);
    CHECK(is_contiguous(sizes, strides) == (contiguous || all.empty()));
  }
  CHECK(is_contiguous({0, INT64_MAX, INT64_MAX}, contiguous_strides({0, INT64_MAX, INT64_MAX})));
  CHECK(is_channels_last({2, 3, 4, 5}, {60, 1, 15, 3}));
  CHECK(!is_channels_last({2, 3, 4, 5}, {60, 20, 5, 1}));
  CHECK(is_channels_last({2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}));
  CHECK(is_channels_last({0, INT64_MAX, INT64_MAX, 5}, {1, 1, 1, 1}));
  CHECK(!is_channels_last({3}, {1}));
}

TEST_CASE("a dimension counts from either end") {
  CHECK(wrap_dim(-1, 3) == 2);
  CHECK(wrap_dim(2, 3) == 2);
  CHECK(wrap_dim(-1, 0) == 0);
  CHECK(dim_index(-1, 3) == 2);
  CHECK_THROWS_AS(dim_index(0, 0), Error);
  CHECK_THROWS_AS(dim_index(-1, 0), Error);
  CHECK_THROWS_AS(dim_index(3, 3), Error);
  for (const std::int64_t dim : {std::int64_t{3}, std::int64_t{-4}, INT64_MIN, INT64_MAX}) {
    CHECK_THROWS_AS(wrap_dim(dim, 3), Error);
  }
}
