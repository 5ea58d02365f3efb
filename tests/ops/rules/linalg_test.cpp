#include <keyway/ops/rules/linalg.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <cstdint>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("products have the outer sizes of their operands") {
  CHECK(sizes_of(rules::mm(tensor({2, 3}), tensor({3, 5}))) == Ints{2, 5});
  CHECK(sizes_of(rules::addmm(tensor({5}), tensor({2, 3}), tensor({3, 5}), 1, 1)) == Ints{2, 5});
  CHECK(sizes_of(rules::bmm(tensor({4, 2, 0}), tensor({4, 0, 5}))) == Ints{4, 2, 5});
}
