#include <keyway/ops/rules/list_ops.h>
#include <keyway/ops/rules/predicates.h>
#include <keyway/tests/catch.h>

#include <optional>
#include <vector>

using namespace keyway;

TEST_CASE("a list of one, or a single value, stands for a whole list") {
  const DimVector list{1, 2, 3};
  CHECK(lists::mul(2, list, "") == DimVector{2, 4, 6});
  CHECK(lists::add(list, DimVector{10}, "") == DimVector{11, 12, 13});
  CHECK(lists::add(DimVector{10}, list, "") == DimVector{11, 12, 13});
  CHECK(contract::all(lists::greater(list, 0)));
  CHECK_FALSE(contract::all(lists::less(list, IntArrayRef({2, 2, 9}))));
  CHECK(contract::any(lists::equal(list, 3)));
  CHECK(lists::add(DimVector{}, 1, "").empty());
  CHECK(contract::all(lists::greater(DimVector{}, 0)));
}

TEST_CASE("lists of other lengths do not go together") {
  CHECK_THROWS_WITH(lists::add(DimVector{1, 2}, DimVector{1, 2, 3}, ""), "lists of 2 and 3 items do not go together");
  CHECK_THROWS_WITH(lists::add(DimVector{}, DimVector{1, 2}, ""), "lists of 0 and 2 items do not go together");
}

TEST_CASE("items and slices are Python's") {
  const DimVector list{10, 11, 12, 13};
  CHECK(lists::at(list, 0) == 10);
  CHECK(lists::at(list, -1) == 13);
  CHECK_THROWS_WITH(lists::at(list, 4), "item 4 of a list of 4 does not exist");
  CHECK_THROWS_AS(lists::at(list, INT64_MIN), Error);
  CHECK(lists::slice(list, 1) == IntArrayRef({11, 12, 13}));
  CHECK(lists::slice(list, -2) == IntArrayRef({12, 13}));
  CHECK(lists::slice(list, 0, -1) == IntArrayRef({10, 11, 12}));
  CHECK(lists::slice(list, 3, 1).empty());
  CHECK(lists::slice(list, -9, 9) == IntArrayRef(list));
  CHECK(lists::slice(list, INT64_MIN, INT64_MIN).empty());
  CHECK(lists::slice(list, INT64_MAX).empty());
  CHECK(lists::slice(DimVector{}, 0, 1).empty());
}

TEST_CASE("what is absent stays absent, and does not count") {
  const std::vector<TensorBase> tensors{make_tensor({2}, kLong, DeviceType::Meta), TensorBase()};
  const auto dtypes = lists::each_defined(tensors, [](const TensorBase& x) { return x.dtype(); });
  CHECK(to_string(dtypes) == "[int64, None]");
  const auto fit = lists::map([](ScalarType x) { return contract::in(x, {kLong, kInt}); }, dtypes);
  CHECK(fit[0] == true);
  CHECK_FALSE(fit[1].has_value());
  CHECK(contract::all(fit));
}

TEST_CASE("integers of lists are checked, floats are not") {
  CHECK_THROWS_AS(lists::mul(DimVector{1, INT64_MAX}, 2, "x"), Error);
  const SmallVector<double, 6> floats{1e308};
  CHECK(lists::mul(floats, floats, "x")[0] > 1e308);
}
