#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/moderate_numbers.h>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

std::vector<Value> call_with(std::vector<Scalar> elements, IValue plain) {
  Value tensor{.kind = Value::Kind::Tensor, .tensors = {{.sizes = {2}, .elements = std::move(elements)}}};
  return {tensor, {.plain = std::move(plain)}};
}

}  // namespace

TEST_CASE("numbers between a limit and its inverse are moderate, and so are zero and elements that are not finite") {
  CHECK(is_moderate(call_with({0.0, -16.0, 0.0625}, IValue(2.0)), 16));
  CHECK(is_moderate(call_with({NAN, INFINITY}, IValue()), 16));
  CHECK(!is_moderate(call_with({1.0, 16.5}, IValue(2.0)), 16));
  CHECK(!is_moderate(call_with({1.0, 0.06}, IValue(2.0)), 16));
  CHECK(!is_moderate(call_with({1.0}, IValue(-17.0)), 16));
  CHECK(!is_moderate(call_with({1.0}, IValue(std::int64_t{100})), 16));
  CHECK(!is_moderate(call_with({1.0}, IValue(-INFINITY)), 16));
}

TEST_CASE("great integers become small ones of the same sign, and small ones stay") {
  std::vector<Value> values = call_with({1.0}, IValue(std::int64_t{INT64_MAX}));
  values.push_back({.plain = IValue(std::vector<std::int64_t>{3, -1000, 63})});
  values.push_back({.plain = IValue(1e300)});
  make_integers_small(values);
  CHECK(values[1].plain.to_int() == INT64_MAX % 64);
  CHECK(values[2].plain.to_int_list() == std::vector<std::int64_t>{3, -(1000 % 64), 63});
  CHECK(values[3].plain.to_double() == 1e300);
}
