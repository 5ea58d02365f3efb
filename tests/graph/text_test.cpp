// The text of graphs.
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

constexpr const char* kText =
    "graph executed(%0 x: float32[2, 3], %1 'the weight': float32[3, 4] stride [1, 3] offset 2 requires_grad) {\n"
    "  %2: float32[2, 4] = keyway::mm(%0, %1)  # model.py:3\n"
    "  %3: float32[4] offset 4 in %2 = keyway::select.int(%2, 0, 1)\n"
    "  %2 = keyway::mul_.Tensor(%2, %3)\n"
    "  [%4: float32[1, 4] in %2, %5: float32[1, 4] offset 4 in %2] = keyway::split.Tensor(%2, 1)\n"
    "  %6: float32[2, 4], %7: int64[2, 4] = keyway::sort(%2, descending=True)\n"
    "  %8: float64[2] = keyway::full([2], inf, dtype=float64, device='cpu')\n"
    "  return (%2, None, %8)\n"
    "}\n";

std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}
std::string error_with(const std::string& part, const std::string& other) {
  return error_of([&] { parse(with(kText, part, other)); });
}

}  // namespace

TEST_CASE("the text of a graph parses back") {
  const Graph graph = parse(kText);
  CHECK(to_string(graph) == kText);
  CHECK(graph.inputs[1].name == "the weight");
  CHECK(graph.values[1].info.strides == std::vector<std::int64_t>{1, 3});
  CHECK(graph.nodes[0].site == "model.py:3");
}

TEST_CASE("a graph that was read from text runs") {
  const Graph graph = parse(
      "graph executed(%0: float32[2]) {\n"
      "  %1: float32[2] = keyway::add.Scalar(%0, 1, 2.5)\n"
      "  return (%1)\n"
      "}\n");
  CHECK(bit_difference(run(graph, {ones({2})}), {full({2}, 3.5)}) == "");
}

TEST_CASE("text that is no graph is an error that names the line") {
  CHECK(error_with("executed", "exceeded") == "graph, line 1: 'executed' is missing before 'exceeded'");
  CHECK(error_with("float32[2, 3]", "floot32[2, 3]").find("graph, line 1: ") == 0);
  CHECK(error_with("stride [1, 3]", "stride [1]") == "graph, line 1: there are as many strides as sizes");
  CHECK(error_with("%2: float32[2, 4] =", "%9: float32[2, 4] =") == "graph, line 2: the next value is %2, not %9");
  CHECK(error_with("(%0, %1)", "(%0, %9)") == "graph, line 2: %9 is used before it is made");
  CHECK(error_with("keyway::mm", "keyway::mn").find("graph, line 2: ") == 0);
  CHECK(error_with("(%0, %1)", "(%0)") == "graph, line 2: argument 'mat2' is missing");
  CHECK(error_with("(%0, %1)", "(%0, %1, %1)").find("graph, line 2: ") == 0);
  CHECK(error_with("(%0, %1)", "(%0, 3)") == "graph, line 2: '%' is missing before '3'");
  CHECK(error_with("descending=True", "descending=1") == "graph, line 6: '1' is neither True nor False");
  CHECK(error_with("descending=True", "ascending=True") == "graph, line 6: there is no argument 'ascending'");
  CHECK(error_with("dtype=float64", "dtype=f64") == "graph, line 7: 'f64' is no name of a value of this type");
  CHECK(error_with("  return (%2, None, %8)\n", "") == "graph, line 8: the return is missing");
  CHECK(error_with("(%2, None, %8)", "(%2, None, %8") == "graph, line 8: ',' is missing before the end of the line");
  CHECK(error_with("}\n", "}\n}\n") == "graph, line 10: there is something behind the graph");
  CHECK(error_of([] { parse(""); }).find("graph, line ") == 0);
}

TEST_CASE("a value that is used before it is made is refused") {
  CHECK(error_with("%2 = keyway::mul_.Tensor(%2, %3)", "%2 = keyway::mul_.Tensor(%2, %8)") ==
        "graph, line 4: %8 is used before it is made");
}

TEST_CASE("texts in quotes keep all their characters") {
  Graph graph = parse("graph executed(%0: float32[]) {\n  return (%0)\n}\n");
  for (const char* name : {"it's", "back\\slash", "tab\there", "line\nbreak", "quote\"", "\xc3\xa4"}) {
    graph.inputs[0].name = name;
    CHECK(parse(to_string(graph)).inputs[0].name == name);
  }
}
