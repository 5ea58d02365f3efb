// Parts of a graph that are found, and replaced by others.
#include <keyway/graph/passes/replace.h>
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

const std::string kHead = "graph executed(%0: float32[2, 3], %1: float32[2, 3]) {\n";

Graph graph_of(const std::string& lines) { return parse(kHead + lines + "}\n"); }

// a * b + b, of any sizes.
Graph product_and_sum() {
  return graph_of(
      "  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n"
      "  %3: float32[2, 3] = keyway::add.Tensor(%2, %1)\n"
      "  return (%3)\n");
}
// (a + 1) * b
Graph sum_and_product() {
  return graph_of(
      "  %2: float32[2, 3] = keyway::add.Scalar(%0, 1)\n"
      "  %3: float32[2, 3] = keyway::mul.Tensor(%2, %1)\n"
      "  return (%3)\n");
}

// The lines in which `count` matches were replaced.
std::string replaced(const std::string& lines, std::size_t count) {
  const Replaced result = replace(graph_of(lines), product_and_sum(), sum_and_product());
  check(result.graph);
  CHECK(result.count == count);
  const std::string text = to_string(result.graph);
  return text.substr(kHead.size(), text.size() - kHead.size() - 2);
}

}  // namespace

TEST_CASE("matches are replaced, for the sizes that are found") {
  const std::string lines =
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %3: float32[3] = keyway::exp(%2)\n"
      "  %4: float32[3] = keyway::mul.Tensor(%2, %3)\n"
      "  %5: float32[3] = keyway::add.Tensor(%4, %3)\n"
      "  %6: float32[2, 3] = keyway::mul.Tensor(%1, %5)\n"
      "  %7: float32[2, 3] = keyway::add.Tensor(%6, %5)\n"
      "  return (%7)\n";
  CHECK(replaced(lines, 2) ==
        "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
        "  %3: float32[3] = keyway::exp(%2)\n"
        "  %4: float32[3] = keyway::add.Scalar(%2, 1)\n"
        "  %5: float32[3] = keyway::mul.Tensor(%4, %3)\n"
        "  %6: float32[2, 3] = keyway::add.Scalar(%1, 1)\n"
        "  %7: float32[2, 3] = keyway::mul.Tensor(%6, %5)\n"
        "  return (%7)\n");
  const Tensor x = tensor({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}), y = x.mul(2);
  const Graph graph = replace(graph_of(lines), product_and_sum(), sum_and_product()).graph;
  CHECK(allclose(run(graph, {x, y})[0], (y + 1) * ((x[0] + 1) * x[0].exp())));
}

TEST_CASE("what is used elsewhere, written to or otherwise called is no match") {
  for (const std::string lines : {"  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n"
                                  "  %3: float32[2, 3] = keyway::add.Tensor(%2, %1)\n"
                                  "  return (%3, %2)\n",
                                  "  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n"
                                  "  %0 = keyway::zero_(%0)\n"
                                  "  %3: float32[2, 3] = keyway::add.Tensor(%2, %1)\n"
                                  "  return (%3)\n",
                                  "  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n"
                                  "  %3: float32[2, 3] = keyway::add.Tensor(%2, %1, alpha=2)\n"
                                  "  return (%3)\n",
                                  "  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n"
                                  "  %3: float32[2, 3] = keyway::add.Tensor(%2, %0)\n"
                                  "  return (%3)\n"})
    CHECK(replaced(lines, 0) == lines);
}

TEST_CASE("a result that becomes an argument is a tensor of its own still") {
  const Graph twice_negated = graph_of(
      "  %2: float32[2, 3] = keyway::neg(%0)\n"
      "  %3: float32[2, 3] = keyway::neg(%2)\n"
      "  return (%3)\n");
  const Graph same = graph_of("  return (%0)\n");
  const Replaced result = replace(twice_negated, twice_negated, same);
  CHECK(to_string(result.graph) == kHead + "  %2: float32[2, 3] = keyway::clone(%0)\n  return (%2)\n}\n");
}

TEST_CASE("what is a view of an argument stays one") {
  const Graph selected = graph_of(
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  return (%2)\n");
  const Graph copied = graph_of(
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %3: float32[3] = keyway::clone(%2)\n"
      "  return (%3)\n");
  CHECK(error_of([&] { replace(selected, selected, copied); }) ==
        "replace: the replacement gives a tensor in other memory in the place of a view, which writes would show");
  const Graph sliced = graph_of(
      "  %2: float32[1, 3] in %0 = keyway::slice.Tensor(%0, 0, 0, 1)\n"
      "  %3: float32[3] in %0 = keyway::select.int(%2, 0, 0)\n"
      "  return (%3)\n");
  CHECK(replace(selected, selected, sliced).count == 1);
}

TEST_CASE("a pattern with several results matches wherever its calls are") {
  const Graph both = graph_of(
      "  %2: float32[2, 3] = keyway::sin(%0)\n"
      "  %3: float32[2, 3] = keyway::cos(%0)\n"
      "  return (%2, %3)\n");
  const Graph other = graph_of(
      "  %2: float32[2, 3] = keyway::neg(%0)\n"
      "  return (%2, %2)\n");
  const Replaced result = replace(graph_of("  %2: float32[2, 3] = keyway::cos(%1)\n"
                                           "  %3: float32[2, 3] = keyway::sin(%1)\n"
                                           "  return (%2, %3)\n"),
                                  both, other);
  CHECK(to_string(result.graph) == kHead +
                                       "  %2: float32[2, 3] = keyway::neg(%1)\n"
                                       "  %3: float32[2, 3] = keyway::clone(%2)\n"
                                       "  return (%3, %2)\n}\n");
}

TEST_CASE("what is no pattern, or does not fit, is an error that says why") {
  const Graph graph = product_and_sum();
  const auto error = [&](const std::string& pattern, const std::string& replacement) {
    return error_of([&] { replace(graph, graph_of(pattern), graph_of(replacement)); });
  };
  const std::string product = "  %2: float32[2, 3] = keyway::mul.Tensor(%0, %1)\n  return (%2)\n";
  CHECK(error("  return (%0)\n", product) == "replace: a result of the pattern is none of a call");
  CHECK(error("  %0 = keyway::zero_(%0)\n  %2: float32[2, 3] = keyway::neg(%0)\n  return (%2)\n", product) ==
        "replace: the pattern calls zero_, which writes or draws random numbers");
  CHECK(error(product, "  %2: float32[] = keyway::sum(%0)\n  return (%2)\n") ==
        "replace: the replacement gives float32[] in the place of float32[2, 3]");
  CHECK(error(product, "  return ()\n") ==
        "replace: the replacement has 2 arguments and 0 results, but the pattern has 2 and 1");
}
