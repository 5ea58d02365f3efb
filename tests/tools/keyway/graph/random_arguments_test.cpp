// Arguments that keyway graph runs graphs with.
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tools/keyway/graph/random_arguments.h>

using namespace keyway;
using namespace keyway::testing;
using keyway::tools::random_arguments;

namespace {

graph::Graph of_inputs(const std::string& inputs, const std::string& level = "executed") {
  return graph::parse("graph " + level + "(" + inputs + ") {\n  return ()\n}\n");
}

}  // namespace

TEST_CASE("a graph holds for its random arguments: strides, offsets, shared memory, one tensor twice, gradients") {
  for (const graph::Graph& graph :
       {of_inputs("%0: float32[2, 3] stride [1, 4] offset 5"),
        of_inputs("%0: bfloat16[], %1: bool[4], %2: complex64[2]"),
        of_inputs("%0: float32[2, 3], %1: float32[3] offset 3 in %0, %0"), of_inputs("%0: float32[4, 2] stride [0, 1]"),
        of_inputs("%0: float32[2, 0, 3]"), of_inputs("%0: float32[2, 3] requires_grad", "program")}) {
    const std::vector<Tensor> arguments = random_arguments(graph, 3);
    CHECK(graph::mismatch(graph, arguments).value_or("") == "");
  }
}

TEST_CASE("floats lie between 0 and 1, and integers are 0 and 1; the same seed gives the same ones") {
  const graph::Graph graph = of_inputs("%0: float32[100], %1: int64[100], %2: uint8[100], %3: bool[100]");
  const std::vector<Tensor> arguments = random_arguments(graph, 1), again = random_arguments(graph, 1),
                            others = random_arguments(graph, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor numbers = arguments[i].to(kDouble);
    CHECK(numbers.min().item<double>() >= 0);
    CHECK(numbers.max().item<double>() <= 1);
    CHECK(numbers.max().item<double>() > numbers.min().item<double>());
    CHECK(equal(arguments[i], again[i]));
    CHECK(!equal(arguments[i], others[i]));
  }
}

TEST_CASE("a graph that cannot have such arguments is refused") {
  CHECK(error_of([] { random_arguments(of_inputs("%0: float32[2] state"), 0); }) ==
        "the graph uses state, %0, which its text does not have: it cannot run by itself");
  CHECK(error_of([] { random_arguments(of_inputs("%0: float32[2], %1: int32[2] in %0"), 0); }) ==
        "arguments of the dtypes float32 and int32 share memory");
  CHECK(error_of([] { random_arguments(of_inputs("%0: float32[4000000000, 4000000000]"), 0); }) != "");
  CHECK(error_of([] { random_arguments(of_inputs("%0: float32[2] stride [-1]"), 0); }) != "");
}
