// Examples of operators, from a file and found by trying.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/examples.h>

#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

OperatorHandle op(const std::string& name) { return Dispatcher::singleton().op(name); }

std::vector<std::int64_t> sizes_of(const Value& value) { return value.tensors.at(0).sizes; }

// Operators that nothing but their schema is known of.
RegistrationHandle some_operators() {
  Library m(Library::Kind::Def, "exampled");
  m.def("halves(Tensor self, int times=1) -> Tensor", [](const Tensor& self, std::int64_t times) {
    Tensor result = self;
    for (std::int64_t i = 0; i < times; ++i) result = result / 2;
    return result;
  });
  m.def("product(Tensor self, Tensor other) -> Tensor", [](const Tensor& self, const Tensor& other) {
    KEYWAY_CHECK(self.dim() == 2 && other.dim() == 2, "arguments 'self' and 'other' must be matrices");
    return self.mm(other);
  });
  return m.commit();
}

}  // namespace

TEST_CASE("a line has an operator and its arguments; other lines, and operators that are not there, are refused") {
  const RegistrationHandle operators = some_operators();
  const Examples examples("# halves\n\nexampled::halves ([8.0, 4.0], 2) == [2.0, 1.0]\nadd.Tensor ([1.0], [2.0])\n");
  CHECK(examples.text_of(op("exampled::halves")) == "([8.0, 4.0], 2) == [2.0, 1.0]");
  CHECK(examples.text_of(op("add.Tensor")) == "([1.0], [2.0])");
  CHECK(examples.text_of(op("exampled::product")).empty());
  CHECK_THROWS_AS(Examples("exampled::halves [8.0]"), Error);
  CHECK_THROWS_AS(Examples("exampled::quarters ([8.0])"), Error);
  CHECK_THROWS_AS(Examples("([8.0])"), Error);
}

TEST_CASE("an overload that writes its result takes the line of the one that returns it") {
  const Examples examples("mul.Tensor ([3.0, 4.0, 5.0], [2.0, 2.0, 2.0])\n");
  const std::vector<Value> in_place = examples.call_of(op("mul_.Tensor"), DeviceType::CPU);
  CHECK(in_place.size() == 2);
  CHECK(sizes_of(in_place[0]) == std::vector<std::int64_t>{3});
  CHECK(examples.call_of(op("mul.out"), DeviceType::CPU).size() == 3);
}

TEST_CASE("without an example, a call is found that is served") {
  const RegistrationHandle operators = some_operators();
  const std::vector<Value> values = Examples().call_of(op("exampled::product"), DeviceType::CPU);
  CHECK(sizes_of(values[0]) == std::vector<std::int64_t>{3, 3});
  CHECK_THROWS_AS(Examples("exampled::product ([[1.0]])").call_of(op("exampled::product"), DeviceType::CPU), Error);
}

TEST_CASE("an example's value is what the call gives, or it fails") {
  const RegistrationHandle operators = some_operators();
  const auto verdict_of = [](const std::string& example) {
    const OperatorHandle halves = op("exampled::halves");
    const Examples examples("exampled::halves " + example);
    const auto judge = make_example_judge(halves, DeviceType::CPU, example);
    REQUIRE(judge != nullptr);
    return judge->judge(examples.call_of(halves, DeviceType::CPU)).verdict;
  };
  CHECK(verdict_of("([8.0, 4.0], 2) == [2.0, 1.0]") == Verdict::Returned);
  CHECK(verdict_of("([8.0, 4.0], 2) == [2.0, 1.5]") == Verdict::Differs);
  CHECK(verdict_of("([8.0, 4.0], 2) == [[2.0, 1.0]]") == Verdict::Differs);
  CHECK(make_example_judge(op("exampled::halves"), DeviceType::CPU, "([8.0])") == nullptr);
}
