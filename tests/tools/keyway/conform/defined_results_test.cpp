// What right answers have in common where the definition leaves a choice: oracles are linear algebra and order.
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/defined_results.h>
#include <keyway/tools/keyway/conform/tolerance.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

ConformOperator operator_named(const std::string& name) {
  return ConformOperator(Dispatcher::singleton().op("keyway::" + name));
}

Tensor longs(const std::vector<std::int64_t>& list) {
  const Tensor tensor = empty({static_cast<std::int64_t>(list.size())}, kLong);
  std::copy(list.begin(), list.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}

// The parts of these results of a call are those of the others.
bool agree(const ConformOperator& op, Stack arguments, const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  const auto parts = [&](const std::vector<Tensor>& results) {
    ConformCall call;
    call.arguments = arguments;
    for (const Tensor& result : results) call.results.emplace_back(result);
    return defined_parts(op, call);
  };
  const std::vector<TensorBase> left = parts(a), right = parts(b);
  bool all = !left.empty() && left.size() == right.size();
  for (std::size_t i = 0; all && i < left.size(); ++i) all = value_difference(left[i], {right[i], {}}).empty();
  return all;
}

}  // namespace

TEST_CASE("singular vectors may have any phase that their product has not, and no other length") {
  const ConformOperator op = operator_named("linalg_svd");
  const Tensor a = (arange(0, 12, kDouble).view({3, 4}) * 7).remainder(5);
  const auto [U, S, Vh] = linalg_svd(a, /*full_matrices=*/true);
  const Stack arguments{IValue(a)};
  CHECK(has_choice(op, seed_call(op.handle())));
  CHECK(agree(op, arguments, {U, S, Vh}, {U, S, Vh}));
  CHECK(agree(op, arguments, {U.neg(), S, Vh.neg()}, {U, S, Vh}));
  Tensor other_basis = Vh.clone();  // of what no row of A has a part of
  other_basis.select(0, 3).neg_();
  CHECK(agree(op, arguments, {U, S, other_basis}, {U, S, Vh}));
  CHECK(!agree(op, arguments, {U.neg(), S, Vh}, {U, S, Vh}));
  const Tensor none = empty({0}, kDouble);
  CHECK(agree(op, arguments, {none, S, none}, {none, S, none}));
  CHECK(!agree(op, arguments, {U, S.flip({0}), Vh}, {U, S, Vh}));
  CHECK(!agree(op, arguments, {U * 2, S, Vh / 2}, {U, S, Vh}));
  CHECK(!agree(op, arguments, {U.flip({1}), S, Vh}, {U, S, Vh}));
}

TEST_CASE("the greatest elements come in any order if none is asked for, each from where it is") {
  const ConformOperator op = operator_named("topk");
  const Stack arguments{IValue(longs({3, 9, 9, 1})), IValue(std::int64_t{2}), IValue(std::int64_t{0})};
  const auto values = [&](bool sorted) {
    std::vector<Value> call = seed_call(op.handle());
    call.back().plain = IValue(sorted);
    return call;
  };
  CHECK(has_choice(op, values(false)));
  CHECK(!has_choice(op, values(true)));
  CHECK(agree(op, arguments, {longs({9, 9}), longs({2, 1})}, {longs({9, 9}), longs({1, 2})}));
  CHECK(!agree(op, arguments, {longs({9, 9}), longs({1, 3})}, {longs({9, 9}), longs({1, 2})}));
  CHECK(!agree(op, arguments, {longs({9, 3}), longs({1, 0})}, {longs({9, 9}), longs({1, 2})}));
  const Stack other{IValue(longs({3, 9, 8, 1})), IValue(std::int64_t{2}), IValue(std::int64_t{0})};
  CHECK(agree(op, other, {longs({8, 9}), longs({2, 1})}, {longs({9, 8}), longs({1, 2})}));
}

TEST_CASE("a mean of infinities is infinite or no number, and any other is what it is") {
  const ConformOperator op = operator_named("var_mean.correction");
  std::vector<Value> call = seed_call(op.handle());
  CHECK(!has_choice(op, call));
  call[0].tensors[0].elements = {Scalar(1.0), Scalar(-INFINITY)};
  CHECK(has_choice(op, call));
  const auto both = [](double variance, double mean) {
    return std::vector<Tensor>{full({1}, variance, kDouble), full({1}, mean, kDouble)};
  };
  CHECK(agree(op, {}, both(NAN, NAN), both(NAN, INFINITY)));
  CHECK(!agree(op, {}, both(NAN, 1), both(NAN, INFINITY)));
  CHECK(!agree(op, {}, both(1, NAN), both(NAN, NAN)));
  CHECK(!agree(op, {}, both(1, 2), both(1, 1)));
}

TEST_CASE("all else is held against the CPU's results, and ranks by a tolerance that is one") {
  CHECK(!has_choice(operator_named("add.Tensor"), seed_call(operator_named("add.Tensor").handle())));
  const ConformOperator rank = operator_named("linalg_matrix_rank.atol_rtol_float");
  std::vector<Value> call = seed_call(rank.handle());
  CHECK(!has_choice(rank, call));
  call[2].plain = IValue(-1.0);
  CHECK(has_choice(rank, call));
  CHECK(!has_default_of_device(rank, call));
  const ConformOperator least_squares = operator_named("linalg_lstsq");
  call = seed_call(least_squares.handle());
  call.back().plain = IValue();
  CHECK(has_default_of_device(least_squares, call));
  call.back().plain = IValue(std::string("gels"));
  CHECK(!has_default_of_device(least_squares, call));
}
