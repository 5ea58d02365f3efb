// The calls of a campaign: which there are, and that they are the same again.
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/fuzz/boundary_values.h>
#include <keyway/tools/keyway/fuzz/call_plan.h>
#include <keyway/tools/keyway/fuzz/tensor_mutations.h>

#include <algorithm>
#include <limits>
#include <set>

using namespace keyway;
using namespace keyway::tools;

namespace {

OperatorHandle op(const char* name) { return Dispatcher::singleton().op(name); }

std::vector<std::string> texts(const CallPlan& plan, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(plan.text(i));
  return texts;
}

}  // namespace

TEST_CASE("a seed gives the same calls, another seed others") {
  for (const char* name : {"add.Tensor", "convolution_backward", "cat", "arange.start_step"}) {
    const CallPlan plan(op(name), 7);
    const std::vector<std::string> calls = texts(plan, plan.singles() + 200);
    CHECK(calls == texts(CallPlan(op(name), 7), calls.size()));
    CHECK(calls != texts(CallPlan(op(name), 8), calls.size()));
    // In any order: a failure is repeated alone.
    CHECK(CallPlan(op(name), 7).text(plan.singles() + 150) == calls[plan.singles() + 150]);
  }
}

TEST_CASE("each argument takes its boundary values while the others are the example's") {
  const CallPlan plan(op("add.Tensor"), 0);
  const std::vector<std::string> calls = texts(plan, plan.singles());
  const std::set<std::string> all(calls.begin(), calls.end());
  const std::string self = "self=int64[2] of [1, 2]", other = "other=int64[2] of [3, 4]", alpha = "alpha=10";
  for (const std::string& call :
       {self + ", other=undefined, " + alpha, self + ", other=int64[2] on meta of [3, 4], " + alpha,
        self + ", other=int64[2] strides [0] of [3, 4], " + alpha, self + ", other=float8_e5m2[2] of [3, 4], " + alpha,
        self + ", other=the first tensor, " + alpha, self + ", other=int64[0] of [3, 4], " + alpha,
        self + ", " + other + ", alpha=-9223372036854775808", self + ", " + other + ", alpha=nan",
        self + ", " + other + ", alpha='text'"}) {
    INFO(call);
    CHECK(all.count("add.Tensor(" + call + ")") == 1);
  }
}

TEST_CASE("an index tensor takes values just outside its range, and far outside") {
  const CallPlan plan(op("index_select"), 0);
  const std::vector<std::string> calls = texts(plan, plan.singles());
  for (const char* elements : {"[-1]", "[2]", "[-9223372036854775808]", "[9223372036854775807]"}) {
    CHECK(std::any_of(calls.begin(), calls.end(), [&](const std::string& call) {
      return call.find("index=int64[1] of " + std::string(elements)) != std::string::npos;
    }));
  }
}

TEST_CASE("other sizes keep what fits together") {
  std::vector<Value> values = seed_call(op("mm"));
  const std::int64_t inner = values[0].tensors[0].sizes[1];
  REQUIRE(values[1].tensors[0].sizes[0] == inner);
  Random random(3);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 50; ++i) {
    std::vector<Value> renamed = values;
    rename_sizes(renamed, random);
    CHECK(renamed[0].tensors[0].sizes[1] == renamed[1].tensors[0].sizes[0]);
    seen.insert(renamed[0].tensors[0].sizes[1]);
  }
  CHECK(seen.size() > 5);
}

TEST_CASE("every recipe makes a tensor that lies within its storage") {
  const TensorRecipe seed = {.sizes = {2, 3}, .elements = {1.0, -2.0}};
  std::size_t count = 0;
  for (const TensorRecipe& recipe : tensor_mutations(seed)) {
    const Stack stack = make_stack({{.kind = Value::Kind::Tensor, .tensors = {recipe}}});
    const TensorBase tensor = stack[0].to_tensor();
    REQUIRE(tensor.defined() == recipe.defined);
    if (!recipe.defined) continue;
    CHECK(tensor.sizes() == IntArrayRef(recipe.sizes));
    CHECK(tensor.dtype() == recipe.dtype);
    ++count;
    if (tensor.numel() == 0) continue;
    CHECK(checked_nbytes(tensor.sizes(), tensor.strides(), tensor.storage_offset(), tensor.itemsize()) <=
          tensor.storage().nbytes());
  }
  CHECK(count > 80);
}

TEST_CASE("elements that a dtype cannot hold become its ends") {
  const TensorRecipe recipe = {.sizes = {3}, .dtype = kChar, .elements = {1000, -1e300, 5}};
  const TensorBase tensor = make_stack({{.kind = Value::Kind::Tensor, .tensors = {recipe}}})[0].to_tensor();
  const auto* elements = tensor.const_data_ptr<std::int8_t>();
  CHECK(std::vector<int>(elements, elements + 3) == std::vector<int>{127, -128, 5});
}
