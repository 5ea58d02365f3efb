// What calls need of each other, and what they move.
#include <keyway/graph/links.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::graph;

namespace {

using Ids = std::vector<ValueId>;

Graph with_calls(const std::string& calls) {
  return parse("graph executed(%0: float32[2, 3], %1: float32[3]) {\n" + calls + "  return ()\n}\n");
}

}  // namespace

TEST_CASE("a call moves each value that it is given, gives or writes to once, and a view nothing") {
  const Graph graph = with_calls(
      "  %2: float32[2, 3] = keyway::add.Tensor(%0, %1)\n"
      "  %3: float32[3, 2] stride [1, 3] in %2 = keyway::t(%2)\n"
      "  %2 = keyway::mul_.Tensor(%2, %2)\n"
      "  %4: float32[4, 3] stride [0, 1] in %1 = keyway::expand(%1, [4, 3])\n"
      "  %5: float32[4, 3] = keyway::clone(%4)\n");
  CHECK(bytes_moved(graph, graph.nodes[0]) == 24 + 12 + 24);
  CHECK(bytes_moved(graph, graph.nodes[1]) == 0);
  CHECK(bytes_moved(graph, graph.nodes[2]) == 24 + 24);
  CHECK(bytes_moved(graph, graph.nodes[3]) == 0);
  CHECK(bytes_moved(graph, graph.nodes[4]) == 12 + 48);
}

TEST_CASE("a call is a view, a write, pointwise or another one") {
  const Graph graph = with_calls(
      "  %2: float32[2, 3] = keyway::add.Tensor(%0, %1)\n"
      "  %3: float32[3, 2] stride [1, 3] in %2 = keyway::t(%2)\n"
      "  %2 = keyway::mul_.Tensor(%2, %2)\n"
      "  %4: float32[2, 2] = keyway::mm(%0, %3)\n"
      "  %5: float32[2] = keyway::zeros([2])\n");
  const CallKind expected[] = {CallKind::Pointwise, CallKind::View, CallKind::Write, CallKind::Other, CallKind::Other};
  for (std::size_t i = 0; i < 5; ++i) CHECK(kind_of(graph, graph.nodes[i]) == expected[i]);
}

TEST_CASE("the values of a call are what it is given, writes to and makes") {
  const Graph graph = with_calls(
      "  %2: float32[2, 3] = keyway::zeros([2, 3])\n"
      "  %2 = keyway::add.out(%0, %1, out=%2)\n"
      "  [%3: float32[1, 3] in %0, %4: float32[1, 3] offset 3 in %0] = keyway::split.Tensor(%0, 1)\n"
      "  keyway::_foreach_add_.Scalar([%3, %4], 2)\n");
  const CallValues out(graph.nodes[1]), split(graph.nodes[2]), lists(graph.nodes[3]);
  CHECK((out.given == Ids{0, 1, 2} && out.written == Ids{2} && out.made.empty()));
  CHECK((split.given == Ids{0} && split.written.empty() && split.made == Ids{3, 4}));
  CHECK((lists.given == Ids{3, 4} && lists.written == Ids{3, 4} && lists.made.empty()));
}

TEST_CASE("a link comes from the last call that wrote to a value or to its memory") {
  const Graph graph = with_calls(
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %2 = keyway::mul_.Scalar(%2, 2)\n"
      "  %3: float32[2, 3] = keyway::relu(%0)\n"
      "  %4: float32[3] = keyway::relu(%2)\n");
  std::vector<std::string> links;
  for (const Link& link : links_of(graph)) {
    links.push_back(std::to_string(link.from) + "-" + std::to_string(link.to) + " %" + std::to_string(link.value) +
                    (link.by_memory ? " by memory" : ""));
  }
  CHECK(links == std::vector<std::string>{"0-2 %0", "2-3 %2", "0-4 %0", "3-4 %0 by memory", "3-5 %2"});
}
