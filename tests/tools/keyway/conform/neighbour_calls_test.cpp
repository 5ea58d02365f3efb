// Oracles are IEEE 754: which numbers lie beside one, and what they are rounded to.
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

struct Judged {
  explicit Judged(const std::string& name)
      : op(Dispatcher::singleton().op("keyway::" + name)), reference(make_cpu_reference(op)) {}

  Tensor nearby(const std::vector<Value>& values, NeighbourCalls::Step step) const {
    return Tensor(tensors_of(NeighbourCalls(op, *reference).nearby(values, step).results).at(0));
  }

  ConformOperator op;
  std::unique_ptr<Reference> reference;
};

}  // namespace

TEST_CASE("a call nearby is made in float64, and of a step that is rounded in the dtype itself") {
  const Judged calls("clone");
  std::vector<Value> values = seed_call(calls.op.handle());
  values[0].tensors[0] = TensorRecipe{};
  TensorRecipe& recipe = values[0].tensors[0];
  recipe.sizes = {3};
  recipe.elements = {Scalar(1.0)};
  for (const auto& [dtype, bits] : {std::pair(kFloat, 23), std::pair(kDouble, 52), std::pair(kHalf, 10)}) {
    recipe.dtype = dtype;
    const double unit = std::ldexp(1.0, -bits), of_float32 = std::ldexp(1.0, -std::max(bits, 23));
    const Tensor wide = calls.nearby(values, {1}), narrow = calls.nearby(values, {1, true});
    CHECK(wide.dtype() == kDouble);
    CHECK(narrow.dtype() == dtype);
    const auto first = [](const Tensor& tensor) { return tensor.select(0, 0).item().to<double>(); };
    CHECK(std::abs(first(wide) - 1) == of_float32);
    CHECK((first(narrow) == 1 + unit || first(narrow) == 1 - unit || first(narrow) == 1 - unit / 2));
    CHECK(narrow.ne(1).all().item().to<bool>());
  }
}

TEST_CASE("a complex number of a call nearby is another too, though there is no float beside it") {
  const Judged calls("float_power.Scalar");
  std::vector<Value> values = seed_call(calls.op.handle());
  values[1].tensors[0].dtype = kLong;
  values[1].tensors[0].elements = {Scalar(std::int64_t{200})};
  values[0].plain = IValue(complex<double>(1, -2));
  // |1 - 2i|^200 is 5^100, whose relative change is 200 times that of the number.
  const double size = calls.nearby(values, {4}).abs().select(0, 0).item().to<double>();
  CHECK(std::abs(size / std::pow(5.0, 100) - 1) > 400 * std::ldexp(1.0, -52));
  CHECK(std::abs(size / std::pow(5.0, 100) - 1) < 1600 * std::ldexp(1.0, -52));
  values[0].plain = IValue(2.0);
  const NeighbourCalls neighbours(calls.op, *calls.reference);
  CHECK(neighbours.nearby(values, {1}).results.empty());
}
