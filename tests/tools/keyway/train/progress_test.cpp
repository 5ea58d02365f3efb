#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/train/progress.h>

#include <algorithm>

using namespace keyway;

TEST_CASE("where no terminal is, progress is a line at each twentieth") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    tools::Progress progress(file, 1000);
    for (std::int64_t i = 1; i <= 1000; ++i) progress.show(i, "loss 1.5");
  }
  std::string text(std::ftell(file), '\0');
  std::rewind(file);
  REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  CHECK(std::ranges::count(text, '\n') == 20);
  CHECK(text.find("step 50/1000  loss 1.5\n") == 0);
  CHECK(text.find("step 1000/1000  loss 1.5\n") != std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
}
