#include <keyway/core/schema/hash.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>
#include <keyway/tests/catch.h>

#include <fstream>
#include <string>
#include <unordered_set>
#include <vector>

using namespace keyway;

namespace {

// Canonical schemas as PyTorch and its libraries register them, among them all of Core ATen.
std::vector<std::string> schemas() {
  std::ifstream file(KEYWAY_SCHEMA_TEXTS);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string canonical(const std::string& text) {
  const ParseResult result = parse_schema(text);
  return result.ok() ? to_string(result.schema()) : "error: " + result.message();
}

// The text with a space around everything that is not part of a longer token, outside of strings.
std::string spread(const std::string& text) {
  std::string out;
  char quote = '\0';
  const std::size_t name_end = text.find('(');
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      out += c;
      if (c == '\\') out += text[++i];
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      out += quote = c;
    } else if (i >= name_end && std::string("()[]?,=*|!").find(c) != std::string::npos) {
      out += std::string(" \t") + c + "  ";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("printing what was parsed gives the canonical text back") {
  const auto lines = schemas();
  REQUIRE(lines.size() >= 240);
  for (const std::string& line : lines) CHECK(canonical(line) == line);
}

TEST_CASE("white space does not change the canonical text") {
  for (const std::string& line : schemas()) CHECK(canonical(spread(line)) == line);
}

TEST_CASE("an owned schema prints as its text does, and is as small as it can be") {
  for (const std::string& line : schemas()) {
    const OwnedSchema schema(spread(line));
    CHECK(to_string(*schema) == line);
    CHECK(*schema == *OwnedSchema(line));
  }
}

TEST_CASE("one return stands without parentheses unless it is a tuple") {
  CHECK(canonical("f() -> (Tensor)") == "f() -> Tensor");
  CHECK(canonical("f() -> (Tensor out)") == "f() -> Tensor out");
  CHECK(canonical("f() -> ((int, int))") == "f() -> ((int, int))");
  CHECK(canonical("f() -> ((int, int)[])") == "f() -> ((int, int)[])");
  CHECK(canonical("f() -> (...)") == "f() -> ...");
  CHECK(canonical("f() -> ( )") == "f() -> ()");
}

TEST_CASE("defaults keep their spelling but for spaces in lists") {
  CHECK(canonical("f(float x = 1e-05, str s = ' a  b ', int[] d=[ -2, -1 ]) -> ()") ==
        "f(float x=1e-05, str s=' a  b ', int[] d=[-2,-1]) -> ()");
}

TEST_CASE("every part of a schema prints") {
  const OwnedSchema schema("f(Tensor(a! -> *)? x, int[] n=[1, 2]) -> ()");
  CHECK(to_string(schema->arguments()[0]) == "Tensor(a! -> *)? x");
  CHECK(to_string(schema->arguments()[0].type().element().alias()) == "(a! -> *)");
  CHECK(to_string(schema->arguments()[1].type()) == "int[]");
  CHECK(to_string(*schema->arguments()[1].default_value()) == "[1,2]");
}

TEST_CASE("equal schemas have equal hashes and different ones have different hashes") {
  std::unordered_set<std::uint64_t> hashes;
  const auto lines = schemas();
  for (const std::string& line : lines) {
    const std::uint64_t value = hash(*OwnedSchema(line));
    CHECK(value == hash(*OwnedSchema(spread(line))));
    hashes.insert(value);
  }
  CHECK(hashes.size() == lines.size());
}

TEST_CASE("a schema's hash is FNV-1a of its canonical text") {
  // Computed apart from this code.
  CHECK(hash(*OwnedSchema("a() -> ()")) == 0x9e82fd856b986141u);
}
