#include <keyway/nn/ordered_dict.h>
#include <keyway/tests/catch.h>

#include <string>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("an ordered dict keeps the order of insertion and finds by key") {
  OrderedDict<std::string, int> dict{{"b", 1}, {"a", 2}};
  dict.insert("c", 3);
  CHECK(dict.keys() == std::vector<std::string>{"b", "a", "c"});
  CHECK(dict.values() == std::vector<int>{1, 2, 3});
  CHECK(dict["a"] == 2);
  CHECK(dict[2].key() == "c");
  CHECK(dict.find("d") == nullptr);
  dict["a"] = 5;
  int sum = 0;
  for (const auto& [key, value] : dict) sum += value;
  CHECK(sum == 9);
}

TEST_CASE("a key that is there already, or is not there, is an error") {
  OrderedDict<std::string, int> dict{{"a", 1}};
  CHECK(error_of([&] { dict.insert("a", 2); }) == "there is a 'a' already");
  CHECK(error_of([&] { dict["b"]; }) == "there is no 'b'");
  CHECK(dict.size() == 1);
}
