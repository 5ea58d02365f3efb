// Pictures of graphs. tests/python/test_graph_drawing.py reads the page as a browser does.
#include <keyway/graph/draw.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

#include <algorithm>
#include <sstream>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

bool has_line(const std::string& text, const std::string& line) {
  const std::vector<std::string> lines = lines_of(text);
  return std::ranges::find(lines, line) != lines.end();
}

Graph two_calls() {
  return parse(
      "graph executed(%0 x: float32[2, 3], %1 weight: float32[3, 4]) {\n"
      "  %2: float32[2, 4] = keyway::mm(%0, %1)  # model.py:4\n"
      "  %3: float32[2, 4] = keyway::add.Tensor(%2, %2)\n"
      "  return (%3, None)\n"
      "}\n");
}

}  // namespace

TEST_CASE("DOT has a box for each input, call and output, and an edge for each value that one needs") {
  const std::string dot = to_dot(two_calls());
  CHECK(count(dot, "fillcolor=") == 6);
  CHECK(count(dot, " -> ") == 4);
  CHECK(has_line(dot, "  n0 -> n2 [label=\"%0: float32[2, 3]\"];"));
  CHECK(has_line(dot, "  n1 -> n2 [label=\"%1: float32[3, 4]\"];"));
  CHECK(has_line(dot, "  n2 -> n3 [label=\"%2: float32[2, 4]\"];"));
  CHECK(has_line(dot, "  n3 -> n4 [label=\"%3: float32[2, 4]\"];"));
  CHECK(dot.find("n2 [label=\"keyway::mm\\nmodel.py:4\"") != std::string::npos);
  CHECK(dot.find("n5 [label=\"result 1\"") != std::string::npos);
}

TEST_CASE("an edge is dashed where a call wrote to the memory of the value") {
  const std::string dot =
      to_dot(parse("graph executed(%0: float32[2, 3]) {\n"
                   "  %1: float32[2, 3] = keyway::relu(%0)\n"
                   "  %2: float32[3] in %1 = keyway::select.int(%1, 0, 0)\n"
                   "  %1 = keyway::mul_.Scalar(%1, 2)\n"
                   "  %3: float32[3] = keyway::relu(%2)\n"
                   "  return (%3)\n"
                   "}\n"));
  CHECK(count(dot, "dashed") == 1);
  CHECK(has_line(dot, "  n3 -> n4 [label=\"%2: float32[3]\", style=dashed];"));
  CHECK(has_line(dot, "  n2 -> n4 [label=\"%2: float32[3]\"];"));
}

TEST_CASE("names are quoted in DOT") {
  Graph graph = two_calls();
  graph.inputs[0].name = "a\"];\nn9 -> n0\\";
  const std::string dot = to_dot(graph);
  CHECK(dot.find("n0 [label=\"a\\\"];\\nn9 -> n0\\\\\\n%0: float32[2, 3]\"") != std::string::npos);
  CHECK(lines_of(dot).size() == lines_of(to_dot(two_calls())).size());
}

TEST_CASE("the page of a graph has no markup of names, and is UTF-8 whatever these are") {
  Graph graph = two_calls();
  graph.inputs[0].name = "</script><b>\xe2\x80\xa8 \xff\xc3(\xed\xa0\x80 ä";
  graph.nodes[0].site = "<!--";
  const std::string page = to_html(graph), plain = to_html(two_calls());
  CHECK(count(page, "<") == count(plain, "<"));
  CHECK(count(page, "\\u003c/script\\u003e\\u003cb\\u003e") == 1);
  CHECK(count(page, "\xff") == 0);
  // A byte that begins no character, one that is not gone on with, a surrogate's three.
  CHECK(count(page, "\xef\xbf\xbd") == 5);
  CHECK(count(page, "ä") == 1);
}

TEST_CASE("the page loads nothing") {
  const std::string page = to_html(two_calls());
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* load : {"src=", "href=", "url(http", "@import", "fetch("}) CHECK(count(page, load) == 0);
}

TEST_CASE("a page has times where they were measured, of each call") {
  const Graph graph = two_calls();
  CHECK(count(to_html(graph), "\"seconds\":") == 0);
  const std::string page = to_html(graph, {{0.25, 0.5}, 0.125});
  CHECK(count(page, "\"seconds\":0.25}") == 1);
  CHECK(count(page, "\"seconds\":0.5}") == 1);
  CHECK(count(page, "\"plan\":0.125}") == 1);
  CHECK(error_of([&] { to_html(graph, {{0.25}}); }) == "to_html: there are times of 1 calls, but the graph has 2");
}

TEST_CASE("sizes beyond all integers are drawn") {
  const std::string page =
      to_html(parse("graph executed(%0: float32[9000000000000000000, 9000000000000000000, 0]) {\n  return (%0)\n}\n"));
  CHECK(page.find("\"bytes\":0.0") != std::string::npos);
}
