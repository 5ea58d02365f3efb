#include <keyway/core/tensor/sizes_and_strides.h>
#include <keyway/tests/catch.h>

#include <numeric>

using namespace keyway;

namespace {
std::vector<std::int64_t> from(std::int64_t first, std::size_t n) {
  std::vector<std::int64_t> list(n);
  std::iota(list.begin(), list.end(), first);
  return list;
}
}  // namespace

TEST_CASE("a geometry keeps what it was given, at every rank and after every other rank") {
  SizesAndStrides g;
  CHECK(g.rank() == 0);
  CHECK(g.sizes().empty());
  const std::size_t ranks[] = {0, 1, 5, 6, 64};
  for (const std::size_t first : ranks) {
    for (const std::size_t then : ranks) {
      g.set(from(1, first), from(100, first));
      g.set(from(7, then), from(200, then));
      CHECK(g.rank() == then);
      CHECK(g.sizes().vec() == from(7, then));
      CHECK(g.strides().vec() == from(200, then));
    }
    g.set({}, {});  // a list without an address
    CHECK(g.rank() == 0);
  }
}

TEST_CASE("a geometry may be set from its own lists") {
  for (const std::size_t rank : {std::size_t{3}, std::size_t{5}, std::size_t{6}, std::size_t{64}}) {
    SizesAndStrides g;
    g.set(from(1, rank), from(100, rank));
    g.set(g.strides(), g.sizes());
    CHECK(g.sizes().vec() == from(100, rank));
    CHECK(g.strides().vec() == from(1, rank));
    g.set(g.sizes().slice(1), g.strides().slice(1));
    CHECK(g.sizes().vec() == from(101, rank - 1));
    CHECK(g.strides().vec() == from(2, rank - 1));
  }
}
