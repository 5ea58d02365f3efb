#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/train/corpus.h>

#include <algorithm>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("a corpus numbers the bytes that occur, and holds the last part back") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += i % 2 == 0 ? "b\xff" : "ab";
  const tools::Corpus corpus(text, 0.1);
  CHECK(corpus.alphabet() == "ab\xff");
  CHECK(corpus.training().size() == 900);
  CHECK(corpus.held_out().size() == 100);
  CHECK(corpus.text(corpus.all()) == text);
  CHECK(corpus.all()[1] == 2);
}

TEST_CASE("a text that is too short, or no file, is an error") {
  CHECK(error_of([] { tools::Corpus("short", 0.1); }) == "the text has 5 bytes; at least 1000 are needed");
  CHECK(error_of([] { tools::read_training_text("/no/such/file"); }) ==
        "cannot read /no/such/file: No such file or directory");
  CHECK(error_of([] { tools::read_training_text("/"); }) == "cannot read /: it is a folder");
}
