#include <keyway/core/base/edit_distance.h>
#include <keyway/core/base/text.h>
#include <keyway/tests/catch.h>

#include <string>
#include <vector>

using namespace keyway;

// Values of the literature; of "ca" and "abc" the unrestricted distance would be 2.
static_assert(edit_distance("kitten", "sitting") == 3 && edit_distance("saturday", "sunday") == 3);
static_assert(edit_distance("ab", "ba") == 1 && edit_distance("ca", "abc") == 3);
static_assert(edit_distance("", "abc") == 3 && edit_distance("abc", "") == 3 && edit_distance("", "") == 0);

TEST_CASE("the nearest text differs in a third of the letters at most") {
  const std::vector<std::string> names = {"add", "addmm", "sub"};
  CHECK(nearest_text("ad", names) == "add");
  CHECK(nearest_text("addm", names) == "add");
  CHECK(nearest_text("adddmm", names) == "addmm");
  CHECK(nearest_text("sbu", names) == "sub");
  CHECK(nearest_text("add", names).empty());
  CHECK(nearest_text("transpose", names).empty());
  CHECK(nearest_text(std::string(1000, 'a'), names).empty());
}
