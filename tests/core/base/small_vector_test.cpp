#include <keyway/core/base/small_vector.h>
#include <keyway/tests/catch.h>

using namespace keyway;

TEST_CASE("a SmallVector grows past its inline capacity and keeps its elements") {
  SmallVector<int, 2> v;
  for (int i = 0; i < 20; ++i) v.push_back(i);
  REQUIRE(v.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(v[static_cast<std::size_t>(i)] == i);
  v.insert(1, 99);
  CHECK(v[0] == 0);
  CHECK(v[1] == 99);
  CHECK(v[2] == 1);
  v.erase(0);
  CHECK(v[0] == 99);
  CHECK(v.size() == 20);
}

TEST_CASE("copying and moving a SmallVector works inline and on the heap") {
  for (std::size_t n : {std::size_t{2}, std::size_t{9}}) {
    DimVector a(n, 7);
    DimVector b = a;
    CHECK(a == b);
    DimVector c = std::move(a);
    CHECK(c == b);
    CHECK(a.empty());
    a = c;
    CHECK(a == b);
    b.clear();
    b = std::move(c);
    CHECK(a == b);
  }
}
