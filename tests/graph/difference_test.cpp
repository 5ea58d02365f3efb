// How graphs differ.
#include <keyway/graph/difference.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::graph;

namespace {

Graph with(const std::string& calls, const std::string& results) {
  return parse("graph executed(%0 x: float32[2, 3]) {\n" + calls + "  return (" + results + ")\n}\n");
}

const std::string kSum = "  %1: float32[2, 3] = keyway::add.Scalar(%0, 1)\n  %2: float32[] = keyway::sum(%1)\n";

}  // namespace

TEST_CASE("graphs are alike if only places differ") {
  const Difference same = difference(
      with(kSum, "%2"),
      with("  %1: float32[2, 3] = keyway::add.Scalar(%0, 1)  # a.py:3\n  %2: float32[] = keyway::sum(%1)\n", "%2"));
  CHECK(same.empty());
  CHECK(same.alike == 2);
}

TEST_CASE("a call that was put in between is added, and those behind it are alike though their numbers are others") {
  const Difference found = difference(with(kSum + "  %3: float32[] = keyway::exp(%2)\n", "%3"),
                                      with("  %1: float32[2, 3] = keyway::add.Scalar(%0, 1)\n"
                                           "  %2: float32[2, 3] = keyway::relu(%1)\n"
                                           "  %3: float32[] = keyway::sum(%2)\n"
                                           "  %4: float32[] = keyway::exp(%3)\n",
                                           "%4"));
  CHECK(found.text ==
        "+ %2: float32[2, 3] = keyway::relu(%1)\n"
        "~ %3: float32[] = keyway::sum(%2)\n"
        "    self: %1 -> %2\n");
  CHECK((found.added == 1 && found.removed == 0 && found.changed == 1 && found.alike == 2));
}

TEST_CASE("a call that was taken out is removed, and what used it says so") {
  const Difference found = difference(with(kSum, "%2"), with("  %1: float32[] = keyway::sum(%0)\n", "%1"));
  CHECK(found.text ==
        "- %1: float32[2, 3] = keyway::add.Scalar(%0, 1)\n"
        "~ %1: float32[] = keyway::sum(%0)\n"
        "    self: %1 of before -> %0\n");
}

TEST_CASE("arguments and results of a changed call are named") {
  const Difference found =
      difference(with("  %1: float32[2] = keyway::sum.dim_IntList(%0, [1])\n", "%1"),
                 with("  %1: float64[2, 1] = keyway::sum.dim_IntList(%0, [1], True, dtype=float64)\n", "%1, %0"));
  CHECK(found.text ==
        "~ %1: float64[2, 1] = keyway::sum.dim_IntList(%0, [1], True, dtype=float64)\n"
        "    keepdim: False -> True\n"
        "    dtype: None -> float64\n"
        "    result: float32[2] -> float64[2, 1]\n"
        "~ return: (%1) -> (%1, %0)\n");
}

TEST_CASE("inputs are compared by their places") {
  const Graph one = parse("graph executed(%0 x: float32[2]) {\n  return ()\n}\n");
  const Graph two = parse("graph program(%0 y: float32[2], %1: int64[] state) {\n  return ()\n}\n");
  CHECK(difference(one, two).text ==
        "~ level: executed -> program\n"
        "~ input 0: 'x': float32[2] -> 'y': float32[2]\n"
        "+ input 1: int64[] state\n");
  CHECK(difference(two, one).text.find("- input 1: int64[] state\n") != std::string::npos);
}

TEST_CASE("graphs of thousands of calls that differ in each are compared") {
  std::string before, after;
  for (int i = 1; i <= 3000; ++i) {
    const std::string made = "  %" + std::to_string(i) + ": float32[2, 3] = keyway::";
    const std::string from = "(%" + std::to_string(i - 1);
    before += made + "add.Scalar" + from + ", " + std::to_string(i) + ")\n";
    after += made + "add.Scalar" + from + ", " + std::to_string(i + 1) + ")\n";
  }
  const Difference found = difference(with(before, ""), with(after, ""));
  CHECK((found.added == 1 && found.removed == 1));
  CHECK(found.changed + found.alike == 2999);
}
