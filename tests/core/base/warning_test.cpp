// Warnings that wait, and handlers that throw.
#include <keyway/core/base/warning.h>
#include <keyway/tests/catch.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace keyway::inline v1 {
namespace {

// Notes what it hears, and throws if asked.
class Hearing {
 public:
  explicit Hearing(bool throws = false) {
    before_ = set_warning_handler([this, throws](std::string_view text) {
      texts.emplace_back(text);
      if (throws) throw std::runtime_error("heard " + texts.back());
    });
  }
  ~Hearing() { set_warning_handler(before_); }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

  std::vector<std::string> texts;

 private:
  WarningHandler before_;
};

using Texts = std::vector<std::string>;

TEST_CASE("warnings that are held are heard when nobody holds them, or are taken and not heard") {
  Hearing hearing;
  {
    HeldWarnings outer;
    warn("a");
    {
      HeldWarnings inner;
      warn("b");
      CHECK(inner.take() == Texts{"b"});
      warn("c");
    }
    CHECK(outer.take() == Texts{"a", "c"});
    warn("d");
    CHECK(hearing.texts.empty());
  }
  CHECK(hearing.texts == Texts{"d"});
}

TEST_CASE("warn() throws what the handler throws, and a handler that throws hears all that was held") {
  Hearing hearing(true);
  CHECK_THROWS_AS(warn("a"), std::runtime_error);
  {
    const HeldWarnings held;
    warn("b");
    warn("c");
  }
  CHECK(hearing.texts == Texts{"a", "b", "c"});
}

}  // namespace
}  // namespace keyway::inline v1
