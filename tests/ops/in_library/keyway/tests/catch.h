// In the place of the tree's own, which has Catch2's: as much of a test framework as the generated suite calls, so that
// the author of a library out of tree needs none.
#pragma once

#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1::testing::framework {

struct Test {
  const char* name;
  void (*run)();
};
inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}
struct RegisteredTest {
  RegisteredTest(const char* name, void (*run)()) { all_tests().push_back({name, run}); }
};

// Of the test that runs: what it is about, from the outermost INFO to the innermost, and how many claims were wrong.
inline std::vector<std::string> context;
inline std::size_t failures = 0;

// Ends a test.
struct Abandoned {};

// Prints the claim that failed, with its context.
void report(std::string_view claim, std::string_view values, const char* file, int line);

// What INFO says, as long as its block runs. After an error it stays, for who catches that to print.
class Info {
 public:
  explicit Info(std::string text) { context.push_back(std::move(text)); }
  ~Info() {
    if (std::uncaught_exceptions() == outer_) context.pop_back();
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;

 private:
  int outer_ = std::uncaught_exceptions();
};

template <typename T>
std::string shown(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return '"' + std::string(std::string_view(value)) + '"';
  if constexpr (requires(std::ostream & out) { out << value; }) {
    std::ostringstream out;
    out << std::boolalpha << value;
    return out.str();
  } else {
    return "{?}";
  }
}

// The value of a claim, and how it came about.
struct Verdict {
  bool holds;
  std::string values;
};

template <typename L>
struct LeftSide {
  const L& left;

  template <typename R>
  Verdict verdict(bool holds, const char* word, const R& right) const {
    return {holds, holds ? std::string() : shown(left) + word + shown(right)};
  }
  template <typename R>
  Verdict operator==(const R& right) const {
    return verdict(left == right, " == ", right);
  }
  template <typename R>
  Verdict operator!=(const R& right) const {
    return verdict(left != right, " != ", right);
  }
  template <typename R>
  Verdict operator<=(const R& right) const {
    return verdict(left <= right, " <= ", right);
  }
  template <typename R>
  Verdict operator>=(const R& right) const {
    return verdict(left >= right, " >= ", right);
  }
  template <typename R>
  Verdict operator>(const R& right) const {
    return verdict(left > right, " > ", right);
  }
  operator Verdict() const { return {static_cast<bool>(left), shown(left)}; }
};

// Claim() <= a == b is (Claim() <= a) == b.
struct Claim {
  template <typename L>
  LeftSide<L> operator<=(const L& left) const {
    return {left};
  }
};

inline bool holds(const Verdict& verdict, bool wanted, const char* claim, const char* file, int line) {
  if (verdict.holds == wanted) return true;
  report(claim, verdict.values, file, line);
  return false;
}

}  // namespace keyway::inline v1::testing::framework

#define KEYWAY_TEST_NAME_(word, line) word##line
#define KEYWAY_TEST_NAME(word, line) KEYWAY_TEST_NAME_(word, line)
#define KEYWAY_TEST_CASE(function, registered, name)                                    \
  static void function();                                                               \
  static const ::keyway::testing::framework::RegisteredTest registered(name, function); \
  static void function()

// Tags behind the name are for programs that choose among their tests.
#define TEST_CASE(name, ...) \
  KEYWAY_TEST_CASE(KEYWAY_TEST_NAME(keyway_test_, __COUNTER__), KEYWAY_TEST_NAME(keyway_registered_, __COUNTER__), name)
#define INFO(...)                                                                       \
  const ::keyway::testing::framework::Info KEYWAY_TEST_NAME(keyway_info_, __COUNTER__)( \
      static_cast<const std::ostringstream&>(std::ostringstream() << std::boolalpha << __VA_ARGS__).str())
#define CHECK(...)                                                                                                    \
  (void)::keyway::testing::framework::holds(::keyway::testing::framework::Claim() <= __VA_ARGS__, true, #__VA_ARGS__, \
                                            __FILE__, __LINE__)
#define CHECK_FALSE(...)                                                                                 \
  (void)::keyway::testing::framework::holds(::keyway::testing::framework::Claim() <= __VA_ARGS__, false, \
                                            "not " #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE(...)                                                                                                 \
  if (!::keyway::testing::framework::holds(::keyway::testing::framework::Claim() <= __VA_ARGS__, true, #__VA_ARGS__, \
                                           __FILE__, __LINE__))                                                      \
  throw ::keyway::testing::framework::Abandoned()
#define FAIL(text) \
  (::keyway::testing::framework::report(text, {}, __FILE__, __LINE__), throw ::keyway::testing::framework::Abandoned())

#include <keyway/tests/error_texts.h>
