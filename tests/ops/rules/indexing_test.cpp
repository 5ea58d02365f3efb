#include <keyway/ops/rules/indexing.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/rules/meta.h>

#include <cstdint>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("index_select replaces a size by the number of indices") {
  CHECK(sizes_of(rules::index_select(tensor({2, 3}), 1, tensor({7}))) == Ints{2, 7});
  CHECK(sizes_of(rules::index_select(tensor({2, 3}), -2, tensor({}))) == Ints{1, 3});
  CHECK(sizes_of(rules::index_select(tensor({2, 3}), 0, tensor({0}))) == Ints{0, 3});
  CHECK(sizes_of(rules::index_select(tensor({}), 0, tensor({1}))) == Ints{});
  CHECK(error_of([] { rules::index_select(tensor({}), 0, tensor({2})); }) ==
        "a tensor without dimensions has one element, but there are 2 indices");
}

TEST_CASE("embedding puts the length of a row behind the sizes of the indices") {
  CHECK(sizes_of(rules::embedding(tensor({10, 4}), tensor({2, 3}), -1, false, false)) == Ints{2, 3, 4});
  CHECK(sizes_of(rules::embedding(tensor({10, 4}), tensor({}), -1, false, false)) == Ints{4});
}
