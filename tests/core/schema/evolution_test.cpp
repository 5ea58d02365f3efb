// Which changes of a schema break calls that are written for the one before, or for the one after.
#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/literal.h>
#include <keyway/tests/catch.h>

using namespace keyway;

namespace {

using Reasons = std::vector<std::string>;

template <FixedString before, FixedString after>
void check(const Reasons& backward, const Reasons& forward) {
  const SchemaCompatibility verdict = compare_schemas(schema_literal<before>, schema_literal<after>);
  INFO(before.view() << "\n" << after.view());
  CHECK(verdict.backward == backward);
  CHECK(verdict.forward == forward);
  CHECK(verdict.is_backward() == backward.empty());
  CHECK(verdict.is_forward() == forward.empty());
}

}  // namespace

TEST_CASE("a schema is compatible with itself, however it is spelled") {
  check<"f(Tensor self, int[2] k=[1, 1], *, bool b=False) -> Tensor",
        "f( Tensor self, int[2]  k=[1,1], *, bool b=False ) -> Tensor">({}, {});
}

TEST_CASE("a new argument with a default breaks no call, one without breaks those before") {
  check<"f(Tensor self) -> Tensor", "f(Tensor self, int n=2) -> Tensor">({}, {});
  check<"f(Tensor self) -> Tensor", "f(Tensor self, *, int n=2) -> Tensor">({}, {});
  check<"f(Tensor self) -> Tensor", "f(Tensor self, int n) -> Tensor">({"argument 'n' has no default"},
                                                                       {"there is no argument 'n'"});
  check<"f(Tensor self, int m) -> Tensor", "f(Tensor self, int n=2, int m=3) -> Tensor">(
      {"argument 'm' stands at position 3, not 2"},
      {"argument 'm' stands at position 2, not 3", "argument 'm' has no default"});
}

TEST_CASE("an argument that goes breaks the calls before") {
  check<"f(Tensor self, int n=2) -> Tensor", "f(Tensor self) -> Tensor">({"there is no argument 'n'"}, {});
  check<"f(Tensor self, int n) -> Tensor", "f(Tensor self) -> Tensor">({"there is no argument 'n'"},
                                                                       {"argument 'n' has no default"});
  check<"f(Tensor self, int n=2) -> Tensor", "f(Tensor self, int m=2) -> Tensor">({"there is no argument 'n'"}, {});
}

TEST_CASE("a type may grow for the calls before, and may not for those after") {
  check<"f(Tensor t) -> ()", "f(Tensor? t) -> ()">({}, {"argument 't' is Tensor, not Tensor?"});
  check<"f(int n) -> ()", "f(Scalar n) -> ()">({}, {"argument 'n' is int, not Scalar"});
  check<"f(int n) -> ()", "f(SymInt n) -> ()">({}, {});
  check<"f(int[2] n) -> ()", "f(int[] n) -> ()">({}, {"argument 'n' is int[2], not int[]"});
  check<"f(int n) -> ()", "f(float n) -> ()">({"argument 'n' is float, not int"}, {"argument 'n' is int, not float"});
  check<"f(Tensor[] t) -> ()", "f(Tensor?[] t) -> ()">({}, {"argument 't' is Tensor[], not Tensor?[]"});
}

TEST_CASE("defaults and what is keyword-only count") {
  check<"f(int n) -> ()", "f(int n=1) -> ()">({}, {"argument 'n' has no default"});
  check<"f(int n=1) -> ()", "f(int n) -> ()">({"argument 'n' has no default"}, {});
  check<"f(int n=1) -> ()", "f(int n=2) -> ()">({"argument 'n' is 2 by default, not 1"},
                                                {"argument 'n' is 1 by default, not 2"});
  check<"f(int n=1) -> ()", "f(*, int n=1) -> ()">({"argument 'n' is keyword-only"}, {});
  check<"f(*, int n=1) -> ()", "f(int n=1) -> ()">({}, {"argument 'n' is keyword-only"});
}

TEST_CASE("keyword-only arguments keep their order, by which typed and boxed calls pass them") {
  const Reasons both = {"argument 'a' stands at position 3, not 2", "argument 'b' stands at position 2, not 3"};
  check<"f(Tensor self, *, Tensor a, Tensor b) -> ()", "f(Tensor self, *, Tensor b, Tensor a) -> ()">(
      both, {"argument 'b' stands at position 3, not 2", "argument 'a' stands at position 2, not 3"});
  check<"f(Tensor self, *, int a=1) -> ()", "f(Tensor self, int n=2, *, int a=1) -> ()">(
      {"argument 'a' stands at position 3, not 2"}, {"argument 'a' stands at position 2, not 3"});
  check<"f(Tensor self, *, int a=1) -> ()", "f(Tensor self, *, int b=2, int a=1) -> ()">(
      {"argument 'a' stands at position 3, not 2"}, {"argument 'a' stands at position 2, not 3"});
  check<"f(Tensor self, *, int a=1) -> ()", "f(Tensor self, *, int a=1, int b=2) -> ()">({}, {});
}

TEST_CASE("out arguments keep their order among themselves; new arguments come before them") {
  check<"f(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> ()", "f(Tensor self, *, Tensor(b!) y, Tensor(a!) x) -> ()">(
      {"argument 'x' stands at position 2 of the out arguments, not 1",
       "argument 'y' stands at position 1 of the out arguments, not 2"},
      {"argument 'y' stands at position 2 of the out arguments, not 1",
       "argument 'x' stands at position 1 of the out arguments, not 2"});
  check<"f(Tensor self, *, int a, Tensor(a!) out) -> ()", "f(Tensor self, *, int a, int b=1, Tensor(a!) out) -> ()">(
      {}, {});
  check<"f(Tensor self, *, int a, Tensor(a!) out) -> ()", "f(Tensor self, *, int b=1, int a, Tensor(a!) out) -> ()">(
      {"argument 'a' stands at position 3, not 2"}, {"argument 'a' stands at position 2, not 3"});
}

TEST_CASE("what is written to must stay so") {
  check<"f(Tensor self) -> Tensor", "f(Tensor(a!) self) -> Tensor">({"argument 'self' is written to"},
                                                                    {"argument 'self' is not written to"});
  check<"f(Tensor self) -> Tensor", "f(Tensor(a) self) -> Tensor(a)">(
      {"argument 'self' is Tensor(a), not Tensor", "its result is Tensor(a), not Tensor"},
      {"argument 'self' is Tensor, not Tensor(a)", "its result is Tensor, not Tensor(a)"});
}

TEST_CASE("results may shrink for the calls before") {
  check<"f() -> Tensor?", "f() -> Tensor">({}, {"its result is Tensor?, not Tensor"});
  check<"f() -> Tensor", "f() -> (Tensor, Tensor)">({"it returns 2 values, not 1"}, {"it returns 1 values, not 2"});
  check<"f() -> (Tensor a, Tensor b)", "f() -> (Tensor a, Tensor c)">({"result 2 is called 'c', not 'b'"},
                                                                      {"result 2 is called 'b', not 'c'"});
  check<"f() -> Tensor", "g() -> Tensor">({"it is called g, not f"}, {"it is called f, not g"});
}
