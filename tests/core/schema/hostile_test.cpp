// Text that was written to break a parser: it gets an error with a column, quickly.
#include <keyway/core/schema/hash.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/schema/error_in.h>

#include <random>
#include <string>
#include <string_view>

using namespace keyway;
using keyway::testing::error_in;
using namespace std::string_view_literals;

namespace {

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// f(int x0, int x1, ...) -> ()
std::string with_arguments(int count, const std::string& type = "int") {
  std::string text = "f(";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + type + " x" + std::to_string(i);
  return text + ") -> ()";
}

}  // namespace

TEST_CASE("there can be 64 arguments and returns, and not 65") {
  CHECK(error_in(with_arguments(64)) == "ok");
  CHECK(error_in(with_arguments(64, "Tensor(a!)[]")) == "ok");
  CHECK(error_in(with_arguments(64, "Tensor(a!)?[]")) == "ok");
  CHECK(error_in(with_arguments(65)) ==
        std::to_string(with_arguments(64).size() - 4) + ": there are more than 64 arguments");
  CHECK(error_in("f() -> (" + repeat("int, ", 63) + "int)") == "ok");
  CHECK(error_in("f() -> (" + repeat("int, ", 64) + "int)") == "329: there are more than 64 returns");
}

TEST_CASE("nesting is bounded however it is written") {
  CHECK(error_in("f(" + repeat("Future(", 16) + "int" + repeat(")", 16) + " x) -> ()") == "ok");
  CHECK(error_in("f(int" + repeat("[]", 16) + " x) -> ()") == "ok");
  for (const char* bomb : {"(", "Future(", "Union(", "Dict(int, "}) {
    CHECK(error_in("f(" + repeat(bomb, 5000)).ends_with(": types and defaults can be nested at most 16 deep"));
  }
  for (const char* bomb : {"[]", "?", "[1]"}) {
    CHECK(error_in("f(int" + repeat(bomb, 20000)).ends_with(": types and defaults can be nested at most 16 deep"));
  }
  CHECK(error_in("f(Any x=" + repeat("[", 60000)).ends_with(": types and defaults can be nested at most 16 deep"));
}

TEST_CASE("the parts of all types together are bounded") {
  CHECK(error_in("f((" + repeat("int, ", 300) + "int) x) -> ()")
            .ends_with(": the types have more than 255 parts in all"));
  CHECK(error_in(with_arguments(64, "Tensor?[]?[]")).ends_with(": the types have more than 255 parts in all"));
}

TEST_CASE("an alias set is bounded") {
  CHECK(error_in("f(Tensor(" + repeat("a|", 15) + "a) x) -> ()") == "ok");
  CHECK(error_in("f(Tensor(" + repeat("a|", 30000)).ends_with(": an alias set has at most 16 names"));
}

TEST_CASE("text can be 65535 bytes long and not longer") {
  const std::string name(65535 - std::string("() -> ()").size(), 'n');
  const std::string longest = name + "() -> ()";
  REQUIRE(longest.size() == 65535);
  CHECK(to_string(*OwnedSchema(longest)) == longest);
  CHECK(error_in(" " + longest) == "65536: a schema is at most 65535 bytes long");
  CHECK(error_in(std::string(1 << 20, '(')) == "65536: a schema is at most 65535 bytes long");
  CHECK(error_in("f(" + std::string(60000, 'X') + " x) -> ()") == "3: '" + std::string(60, 'X') + "...' is not a type");
  CHECK(error_in("f(int x='" + std::string(60000, 'q')).size() < 200);
}

TEST_CASE("a long list is read whole") {
  const std::string text = "f(int[] x=[" + repeat("1,", 32000) + "1]) -> ()";
  CHECK(to_string(*OwnedSchema(text)) == text);
}

TEST_CASE("bytes that are not ASCII are shown by number, and kept inside strings") {
  CHECK(error_in(std::string("f(\0int x) -> ()", 15)) == "3: expected a type, but found '\\x00'");
  CHECK(error_in(std::string("f(int x) -> ()\0", 15)) == "15: expected nothing after the returns, but found '\\x00'");
  CHECK(error_in("f(Tens\xc3\xb6r x) -> ()").starts_with("3: 'Tens' is not a type"));
  CHECK(error_in("f(int \xff) -> ()") == "7: expected the argument's name, but found '\\xff'");
  const std::string kept = "f(str x=\"\xff\xfe\x01\") -> ()";
  CHECK(to_string(*OwnedSchema(kept)) == kept);
}

TEST_CASE("text cut off anywhere is an error and nothing worse") {
  const std::string text =
      "ns::f.o(Tensor(a! -> b|*)[2]? x=None, *, Dict(str, (int, t))[] y, str s=\"a\\\"b\", Any z=[1,-2.5e3]) "
      "-> (Tensor r, ...)";
  REQUIRE(error_in(text) == "ok");
  for (std::size_t size = 0; size < text.size(); ++size) {
    INFO(text.substr(0, size));
    CHECK_FALSE(parse_schema(std::string_view(text).substr(0, size)).ok());
  }
}

TEST_CASE("damaged text is read as what it prints, or is an error inside of it") {
  const std::string whole =
      "ns::f.o(Tensor(a! -> b|*)[2]? x=None, *, Dict(str, (int, t))[] y, str s=\"a\\\"b\", Any z=[1,-2.5e3]) "
      "-> (Tensor r, ...)";
  REQUIRE(error_in(whole) == "ok");
  constexpr std::string_view kBytes = "()[]!?|*,.:=->\"\\ '\n\xC3\xFF\0aT0_-e"sv;
  std::mt19937 random(19);
  int read = 0, refused = 0;
  for (int round = 0; round < testing::campaign(20000); ++round) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = kBytes[random() % kBytes.size()]; break;
        case 1: text.insert(at, 1, kBytes[random() % kBytes.size()]); break;
        case 2: text.erase(at, 1 + random() % 8); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
      }
    }
    INFO(text);
    const ParseResult result = parse_schema(text);
    if (result.ok()) {
      ++read;
      const std::string printed = to_string(result.schema());
      CHECK(to_string(*OwnedSchema(printed)) == printed);
    } else {
      ++refused;
      CHECK(result.column() >= 1);
      CHECK(result.column() <= text.size() + 1);
      CHECK(result.message().size() < 300);
    }
  }
  CHECK(read > 500);
  CHECK(refused > 5000);
}
