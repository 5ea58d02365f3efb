#include <keyway/ops/rules/reduction.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a reduction takes the dimensions away or leaves 1 in their place") {
  std::mt19937 rng(1);
  for (int run = 0; run < 500; ++run) {
    const std::size_t rank = rng() % 5;
    Ints sizes(rank), dims;
    for (auto& size : sizes) size = static_cast<std::int64_t>(rng() % 4);
    std::vector<bool> reduced(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      reduced[d] = rng() % 2 == 0;
      const auto dim = static_cast<std::int64_t>(d);
      if (reduced[d]) dims.push_back(rng() % 2 == 0 ? dim : dim - static_cast<std::int64_t>(rank));
    }
    const bool all = dims.empty();  // none given means all
    Ints kept, shrunk;
    for (std::size_t d = 0; d < rank; ++d) {
      kept.push_back(all || reduced[d] ? 1 : sizes[d]);
      if (!all && !reduced[d]) shrunk.push_back(sizes[d]);
    }
    CHECK(sizes_of(reduced_meta(tensor(sizes), IntArrayRef(dims), true)) == kept);
    CHECK(sizes_of(reduced_meta(tensor(sizes), IntArrayRef(dims), false)) == shrunk);
  }
  CHECK(sizes_of(reduced_meta(tensor({2, 3}))) == Ints{});
  CHECK(sizes_of(reduced_meta(tensor({2, 3}), std::nullopt, true)) == Ints{1, 1});
  CHECK(sizes_of(reduced_meta(tensor({2, 3}), std::int64_t{-1})) == Ints{2});
  CHECK(sizes_of(reduced_meta(tensor({}), std::int64_t{0}, true)) == Ints{});
}
