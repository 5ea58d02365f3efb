#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_reader.h>
#include <keyway/tests/catch.h>

using namespace keyway;

namespace {

struct Read {
  std::optional<JsonValue> value;
  std::string errors;
};

Read read(std::string_view text, const JsonLimits& limits = {}) {
  Diagnostics diagnostics;
  auto value = read_json(text, Report(diagnostics, "f.json"), limits);
  return {std::move(value), diagnostics.str()};
}

std::string where(Place place) { return std::to_string(place.line) + ":" + std::to_string(place.column); }

}  // namespace

TEST_CASE("every value and key knows its line and column") {
  const auto [value, errors] = read("{\n  \"a\": [1, -2.5e3 ,true,null],\n\t\"bc\" : { \"d\":\"text\" }\n}");
  REQUIRE(value.has_value());
  CHECK(where(value->place()) == "1:1");
  const JsonMember& a = value->members[0];
  CHECK(where(a.key.place) == "2:3");
  CHECK(where(a.value.place()) == "2:8");
  const char* places[] = {"2:9", "2:12", "2:20", "2:25"};
  for (std::size_t i = 0; i < 4; ++i) CHECK(where(a.value.items[i].place()) == places[i]);
  const JsonMember& bc = value->members[1];
  CHECK(where(bc.key.place) == "3:2");
  CHECK(where(bc.value.place()) == "3:9");
  CHECK(where(bc.value.members[0].key.place) == "3:11");
  CHECK(where(bc.value.find("d")->place()) == "3:15");
  CHECK(bc.value.find("d")->text.text == "text");
  CHECK(value->find("absent") == nullptr);
}

TEST_CASE("a byte of a string is found where it is written, behind escapes too") {
  // Written: "a\"b\u00e9c\ud83d\ude00d"
  const auto [value, errors] = read(R"(["a\"b\u00e9c\ud83d\ude00d"])");
  REQUIRE(value.has_value());
  const LocatedText& text = value->items[0].text;
  CHECK(text.text ==
        "a\"b\xC3\xA9"
        "c\xF0\x9F\x98\x80"
        "d");
  CHECK(where(text.place) == "1:2");
  CHECK(where(text.at(0)) == "1:3");    // a
  CHECK(where(text.at(1)) == "1:4");    // \"
  CHECK(where(text.at(2)) == "1:6");    // b
  CHECK(where(text.at(3)) == "1:7");    // \u00e9
  CHECK(where(text.at(5)) == "1:13");   // c
  CHECK(where(text.at(10)) == "1:26");  // d
}

TEST_CASE("all duplicate keys are refused with both places") {
  const auto [value, errors] = read("{ \"a\": 1,\n  \"b\": { \"x\": 1, \"x\": 2 },\n  \"a\": 3 }");
  CHECK_FALSE(value.has_value());
  CHECK(errors ==
        "f.json:2:18: error: duplicate key 'x'; it stands already at 2:10\n"
        "f.json:3:3: error: duplicate key 'a'; it stands already at 1:3\n");
}

TEST_CASE("a syntax error is shaped like a compiler's and points at the token") {
  CHECK(read("{ \"a\": 1,\n  \"b\" 2 }").errors ==
        "f.json:2:7: error: syntax error in object separator - unexpected number literal; expected ':'\n");
  CHECK(read("[1, 2").errors == "f.json:1:6: error: syntax error in array - unexpected end of input; expected ']'\n");
  CHECK(read("[1 2]").errors == "f.json:1:4: error: syntax error in array - unexpected number literal; expected ']'\n");
  CHECK(read("").errors.find("f.json:1:1: error: syntax error in value - unexpected end of input") == 0);
  CHECK(read("[1] x").errors == "f.json:1:5: error: syntax error in value - invalid literal\n");
  CHECK(read("[tru").errors == "f.json:1:2: error: syntax error in value - invalid literal\n");
  CHECK(read("[,1]").errors.find("f.json:1:2: error: syntax error in value - unexpected ','") == 0);
  CHECK(read("{ \"a\"::1}").errors.find("f.json:1:7: error: syntax error in value - unexpected ':'") == 0);
  CHECK(read("[\"abc").errors == "f.json:1:2: error: syntax error in value - invalid string: missing closing quote\n");
  CHECK(read("[\"a\n\"]").errors.find("f.json:1:2: error: syntax error in value - invalid string: control character") ==
        0);
  CHECK(read("[\"\xFF\"]").errors.find("f.json:1:2: error: syntax error in value - invalid string: ill-formed UTF-8") ==
        0);
}

TEST_CASE("depth, strings and the file have limits") {
  const std::string bomb = std::string(100000, '[');
  CHECK(read(bomb).errors == "f.json:1:33: error: nested more than 32 deep\n");
  CHECK(read("{\"a\":" + bomb).errors.find("nested more than 32 deep") != std::string::npos);
  const std::string long_string = "[\"" + std::string(70000, 'x') + "\"]";
  CHECK(read(long_string).errors == "f.json:1:2: error: a string of 70000 bytes, but 65536 are the limit\n");
  CHECK(read("[1,2,3]", {.bytes = 5}).errors == "f.json:1:1: error: a file of 7 bytes, but 5 are the limit\n");
}
