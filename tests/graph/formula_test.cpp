// Formulas of sizes: what they give, and which formula gives some integers.
#include <keyway/graph/fit.h>
#include <keyway/graph/formula.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

#include <functional>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

// For sizes that are wide apart, and some that follow one another.
std::string fit_of(const std::function<std::int64_t(std::int64_t, std::int64_t)>& integer) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {{5, 24},  {6, 25},  {8, 51},  {11, 30},
                                                              {17, 27}, {23, 64}, {32, 36}, {45, 42}};
  for (std::int64_t i = 0; i < 32; ++i) pairs.emplace_back(5 + i, 30 + i);
  std::vector<Dimensions> sizes;
  std::vector<std::int64_t> integers;
  for (const auto& [b, h] : pairs) {
    sizes.push_back({{"b", b}, {"h", h}});
    integers.push_back(integer(b, h));
  }
  const std::vector<std::string> formulas = fitted_formulas(integers, sizes);
  return formulas.empty() ? "" : formulas.front();
}

}  // namespace

TEST_CASE("formulas are computed as Python computes them") {
  const Dimensions sizes = {{"n", 7}, {"h", 30}};
  CHECK(evaluate("3", sizes) == 3);
  CHECK(evaluate("-3", sizes) == -3);
  CHECK(evaluate("n * 3 + 1", sizes) == 22);
  CHECK(evaluate("1 + 3 * n", sizes) == 22);
  CHECK(evaluate("n - h - 1", sizes) == -24);
  CHECK(evaluate("(n - h) // 4", sizes) == -6);
  CHECK(evaluate("h // 4 * n", sizes) == 49);
  CHECK(evaluate("n * (h // 4)", sizes) == 49);
  CHECK(evaluate("((((n))))", sizes) == 7);
}

TEST_CASE("what is no formula is an error that says what is wrong") {
  const auto error_in = [](const std::string& text) { return error_of([&] { evaluate(text, {{"n", 7}}); }); };
  CHECK(error_in("m") == "no dimension has the name 'm'");
  CHECK(error_in("n // 0") == "a formula divides by 0, which is not positive");
  CHECK(error_in("n // -2") == "a formula divides by -2, which is not positive");
  CHECK(error_in("n // n").find("an integer is missing") == 0);
  CHECK(error_in("n / 2") == "'//' divides, not '/'");
  CHECK(error_in("n +") == "an integer is missing before the end of the line");
  CHECK(error_in("(n") == "')' is missing before the end of the line");
  CHECK(error_in("n 2") == "there is '2' behind a formula");
  CHECK(error_in("2.5") == "'2.5' is no integer of 64 bits");
  CHECK(error_in("9223372036854775808").find("is no integer of 64 bits") != std::string::npos);
  CHECK(error_in("9223372036854775807 + n") == "a formula exceeds 64 bits");
  CHECK(error_in("9223372036854775807 * n") == "a formula exceeds 64 bits");
  CHECK(error_in("-9223372036854775808 - n") == "a formula exceeds 64 bits");
  CHECK(error_in(std::string(100000, '(')).find("more than 32 parentheses") != std::string::npos);
}

TEST_CASE("a name has the size for which a formula has its value") {
  Dimensions sizes;
  CHECK(solve("16 * h", 224, sizes));
  CHECK(sizes.at("h") == 14);
  CHECK(solve("n + 1", 1, sizes));
  CHECK(sizes.at("n") == 0);
  CHECK(solve("n + h", 14, sizes));
  CHECK_FALSE(solve("n + h", 15, sizes));
  CHECK_FALSE(solve("2 * m", 5, sizes));
  Dimensions others;
  CHECK_FALSE(solve("a * b", 6, others));
  CHECK_FALSE(solve("a - a", 0, others));
  CHECK(solve("5 - c", 3, others));
  CHECK(others.at("c") == 2);
  CHECK_FALSE(solve("d", -1, others));
}

TEST_CASE("the formula is found that gives some integers") {
  CHECK(fit_of([](auto b, auto) { return b; }) == "b");
  CHECK(fit_of([](auto b, auto) { return 3 * b; }) == "b * 3");
  CHECK(fit_of([](auto b, auto) { return 3 * b - 2; }) == "b * 3 - 2");
  CHECK(fit_of([](auto b, auto) { return 4 - b; }) == "4 - b");
  CHECK(fit_of([](auto b, auto h) { return b + h; }) == "b + h");
  CHECK(fit_of([](auto b, auto h) { return b * h; }) == "b * h");
  CHECK(fit_of([](auto, auto h) { return h * h; }) == "h * h");
  CHECK(fit_of([](auto b, auto h) { return b * (h + 1); }) == "b + b * h");
  CHECK(fit_of([](auto, auto h) { return h / 2; }) == "h // 2");
  CHECK(fit_of([](auto, auto h) { return (h - 1) / 2 + 1; }) == "h - h // 2");
  CHECK(fit_of([](auto, auto h) { return h % 8; }) == "h - h // 8 * 8");
  CHECK(fit_of([](auto, auto h) { return h / 4 * 7; }) == "h // 4 * 7");
  CHECK(fit_of([](auto b, auto h) { return b * (h / 2); }) == "b * (h // 2)");
  CHECK(fit_of([](auto b, auto h) { return (b / 2) * (h / 2); }) == "(h // 2) * (b // 2)");
  CHECK(fit_of([](auto b, auto h) { return b ^ h; }) == "");
}

TEST_CASE("a fitted formula has the value that was asked for") {
  const auto holds = [](auto&& integer) {
    const std::string formula = fit_of(integer);
    REQUIRE(!formula.empty());
    for (std::int64_t b : {0, 1, 2, 31}) {
      for (std::int64_t h : {0, 1, 2, 64}) CHECK(evaluate(formula, {{"b", b}, {"h", h}}) == integer(b, h));
    }
  };
  holds([](std::int64_t b, std::int64_t h) { return 6 * b * h + 2; });
  holds([](std::int64_t b, std::int64_t h) { return 6 * b - 5 * h + 2; });
  holds([](std::int64_t, std::int64_t h) { return 3 * ((h + 2) / 3) + 1; });
  holds([](std::int64_t, std::int64_t h) { return h / 2 * 2; });
  holds([](std::int64_t, std::int64_t h) { return (16 - h % 16) % 16; });
  holds([](std::int64_t b, std::int64_t h) { return (b / 2 + 1) * ((h + 1) / 2 + 1); });
  holds([](std::int64_t b, std::int64_t h) { return 12 * b * ((h + 15) / 16); });
}
