#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

using namespace keyway;
using namespace keyway::testing;

namespace {
using Sig = std::int64_t(const TensorBase&);

// The errors of a block at test.cpp:1, without the line that introduces them.
std::string errors_of(const Block& block) {
  const std::string text = error_of([&] { (void)block.commit(); });
  const std::string head = "the library block at test.cpp:1 is not registered:\n  ";
  REQUIRE(text.find(head) == 0);
  return text.substr(head.size());
}
}  // namespace

TEST_CASE("a name is defined once, and the error says where it was") {
  CHECK(errors_of(Block().def("reg::a(Tensor t) -> int", 2).def("reg::a(Tensor t) -> int", 3)) ==
        "reg::a is defined at test.cpp:2 already, in the same library block (defined at test.cpp:3)");
  const RegistrationHandle first = Block().def("reg::a(Tensor t) -> int", 2).commit();
  CHECK(errors_of(Block().def("reg::a(Tensor t, int n) -> int", 4)) ==
        "reg::a is defined at test.cpp:2 already (defined at test.cpp:4), with another schema: argument 'n' has no "
        "default\n"
        "      there  reg::a(Tensor t) -> int\n"
        "      here   reg::a(Tensor t, int n) -> int\n"
        "                            ^");
  // Overloads are operators of their own.
  const RegistrationHandle overload = Block().def("reg::a.other(Tensor t) -> int", 5).commit();
  CHECK(op("reg::a.other").name() == "reg::a.other");
  CHECK(errors_of(Block().def("nowhere(Tensor t) -> int", 6)) == "nowhere names no namespace (defined at test.cpp:6)");
}

TEST_CASE("a second schema of a name is compared with the first, mutability and defaults included") {
  const RegistrationHandle first = Block().def("reg::b(Tensor t, *, Scalar alpha=1) -> Tensor").commit();
  const auto difference = [](const std::string& schema) {
    const std::string text = errors_of(Block().def(schema, 4));
    const std::string head = "reg::b is defined at test.cpp:1 already (defined at test.cpp:4)";
    REQUIRE(text.starts_with(head));
    return text.substr(head.size());
  };
  CHECK(difference("reg::b(Tensor t, *, Scalar alpha=1) -> Tensor").empty());
  CHECK(difference("reg::b(Tensor t, *, Scalar alpha=2) -> Tensor") ==
        ", with another schema: argument 'alpha' is 2 by default, not 1\n"
        "      there  reg::b(Tensor t, *, Scalar alpha=1) -> Tensor\n"
        "      here   reg::b(Tensor t, *, Scalar alpha=2) -> Tensor\n"
        "                                              ^");
  CHECK(difference("reg::b(Tensor(a!) t, *, Scalar alpha=1) -> Tensor") ==
        ", with another schema: argument 't' is written to\n"
        "      there  reg::b(Tensor t, *, Scalar alpha=1) -> Tensor\n"
        "      here   reg::b(Tensor(a!) t, *, Scalar alpha=1) -> Tensor\n"
        "                          ^");
  CHECK(difference("reg::b(Tensor(a) t, *, Scalar alpha=1) -> Tensor(a)") ==
        ", with another schema: argument 't' is Tensor(a), not Tensor\n"
        "      there  reg::b(Tensor t, *, Scalar alpha=1) -> Tensor\n"
        "      here   reg::b(Tensor(a) t, *, Scalar alpha=1) -> Tensor(a)\n"
        "                          ^");
}

TEST_CASE("a kernel that does not fit is an error with both texts and both places") {
  CHECK(
      errors_of(Block()
                    .def("reg::fit(Tensor self, float by) -> Tensor", 2)
                    .impl(
                        "reg::fit", DispatchKey::CPU, [](const TensorBase& t, std::int64_t) { return t; }, 3)) ==
      "kernel of reg::fit at test.cpp:3 does not fit the schema at test.cpp:2: argument 2, 'by', is std::int64_t, not "
      "double\n"
      "      schema  reg::fit(Tensor self, float by) -> Tensor\n"
      "      kernel  reg::fit(Tensor     , int     ) -> Tensor\n"
      "                                    ^^^^^^^^");
  const RegistrationHandle def = Block().def("reg::fit(Tensor(a!) self) -> Tensor(a!)", 2).commit();
  CHECK(errors_of(Block().impl(
            "reg::fit", DispatchKey::CPU, [](const TensorBase& t) { return t; }, 4)) ==
        "kernel of reg::fit at test.cpp:4 does not fit the schema at test.cpp:2: argument 1, 'self', is const "
        "TensorBase&, "
        "not TensorBase&\n"
        "      schema  reg::fit(Tensor(a!) self) -> Tensor(a!)\n"
        "      kernel  reg::fit(Tensor         ) -> Tensor    \n"
        "                       ^^^^^^^^^^^^^^^");
  CHECK(errors_of(Block().impl(
            "reg::fit", DispatchKey::CPU,
            [](TensorBase& t, std::optional<std::int64_t>, ArrayRef<TensorBase>) -> TensorBase& { return t; }, 4)) ==
        "kernel of reg::fit at test.cpp:4 does not fit the schema at test.cpp:2: it takes 3 arguments, not 1\n"
        "      schema  reg::fit(Tensor(a!) self,     ,         ) -> Tensor(a!)\n"
        "      kernel  reg::fit(Tensor(a!)     , int?, Tensor[]) -> Tensor(a!)\n"
        "                                        ^^^^");
  CHECK(errors_of(Block().impl(
                      "reg::fit", DispatchKey::CPU, [](TensorBase& t) -> TensorBase { return t; }, 5))
            .find(": its result is TensorBase, not TensorBase&") != std::string::npos);
  CHECK(errors_of(Block().impl(
                      "reg::fit", DispatchKey::CPU, [](TensorBase& t, bool) -> TensorBase& { return t; }, 6))
            .find(": it takes 2 arguments, not 1") != std::string::npos);
}

TEST_CASE("a kernel may come before its schema, and is checked when that comes") {
  const RegistrationHandle impl = Block().impl("reg::early", DispatchKey::CPU, gives<1>, 2).commit();
  CHECK(!Dispatcher::singleton().find_op("reg::early"));
  CHECK(Dispatcher::singleton().dangling_impls() == std::vector<std::string>{"reg::early: CPU kernel at test.cpp:2"});
  CHECK(errors_of(Block().def("reg::early(Tensor t) -> float", 3)) ==
        "kernel of reg::early at test.cpp:2 does not fit the schema at test.cpp:3: its result is std::int64_t, not "
        "double\n"
        "      schema  reg::early(Tensor t) -> float\n"
        "      kernel  reg::early(Tensor  ) -> int  \n"
        "                                      ^^^^^");
  RegistrationHandle def = Block().def("reg::early(Tensor t) -> int", 4).commit();
  CHECK(Dispatcher::singleton().dangling_impls().empty());
  const auto early = op("reg::early").typed<Sig>();
  CHECK(early.call(tensor()) == 1);
  def.undo();
  CHECK(Dispatcher::singleton().dangling_impls().size() == 1);
  CHECK(error_of([&] { early.call(tensor()); }).find("reg::early: it is no longer defined") == 0);
}

TEST_CASE("keys that nothing can be registered to are errors") {
  const auto without_backend = static_cast<DispatchKey>(slot_of(Functionality::Dense, 0));
  CHECK(errors_of(Block()
                      .impl("reg::k", DispatchKey::Undefined, gives<1>, 2)
                      .impl("reg::k", without_backend, gives<1>, 3)
                      .impl("reg::k", static_cast<DispatchKey>(9999), gives<1>, 4)
                      .fallback(DispatchKey::Autograd, boxed, 5)
                      .fallback(DispatchKey::Undefined, boxed, 6)) ==
        "kernel of reg::k at test.cpp:2: Undefined is served by composites only\n"
        "  kernel of reg::k at test.cpp:3: the key Dense without a backend stands for errors\n"
        "  kernel of reg::k at test.cpp:4: there is no dispatch key of number 9999\n"
        "  fallback for the alias key Autograd at test.cpp:5: a fallback serves one runtime key\n"
        "  fallback at test.cpp:6: Undefined is served by composites only");
}

TEST_CASE("a key has one fallback") {
  CHECK(errors_of(Block().fallback(DispatchKey::Python, boxed, 2).fallthrough(DispatchKey::Python, 3)) ==
        "second fallback for Python at test.cpp:3; the first is at test.cpp:2");
  RegistrationHandle first = Block().fallback(DispatchKey::Python, boxed, 4).commit();
  CHECK(errors_of(Block().fallback(DispatchKey::Python, boxed, 5)) ==
        "second fallback for Python at test.cpp:5; the first is at test.cpp:4");
  first.undo();
  CHECK_NOTHROW((void)Block().fallback(DispatchKey::Python, boxed, 5).commit());
}

TEST_CASE("a namespace has one owner at a time") {
  RegistrationHandle owner = Block(7).owns("reg_ns").commit();
  CHECK(errors_of(Block().owns("reg_ns")) ==
        "namespace reg_ns is owned by the KEYWAY_LIBRARY at test.cpp:7 already; at test.cpp:1 use "
        "KEYWAY_LIBRARY_FRAGMENT");
  owner.undo();
  CHECK_NOTHROW((void)Block().owns("reg_ns").commit());
}

TEST_CASE("a library block lists the mistakes that were made writing it") {
  Library m(Library::Kind::Impl, "reg", DispatchKey::CPU);
  m.impl("other::x", gives<1>);
  m.impl("x", DispatchKey::Meta, gives<1>);
  m.fallback(Fallthrough{});
  const std::string text = error_of([&] { (void)m.commit(); });
  CHECK(text.find("'other::x' at ") != std::string::npos);
  CHECK(text.find(" is for Meta, but its block is for CPU") != std::string::npos);
  CHECK(text.find("a fallback serves every namespace, so its block is _") != std::string::npos);

  Library fallbacks(Library::Kind::Impl, "_", DispatchKey::CPU);
  fallbacks.impl("x", gives<1>);
  CHECK(error_of([&] { (void)fallbacks.commit(); }).find("namespace _ takes fallbacks only") != std::string::npos);
  CHECK(error_of([] { Library(Library::Kind::Def, "_"); }).find("namespace _ is for fallbacks") != std::string::npos);
  CHECK(error_of([] { Library(Library::Kind::Def, "a::b"); }).find("'a::b' is not a namespace") != std::string::npos);
  CHECK(error_of([] { Library(Library::Kind::Impl, "a"); }).find("needs a dispatch key") != std::string::npos);
}

TEST_CASE("names that PyTorch reserves are refused") {
  CHECK_THROWS_AS((void)Block().def("reg::x.default(Tensor t) -> int").commit(), Error);
  CHECK_THROWS_AS((void)Block().def("reg::x.__y(Tensor t) -> int").commit(), Error);
}

TEST_CASE("a missing operator's error names the nearest one") {
  const RegistrationHandle def = Block().def("reg::nearly(Tensor t) -> int").commit();
  CHECK(error_of([] { (void)op("reg::nearlx"); }) == "there is no operator 'reg::nearlx'; did you mean 'reg::nearly'?");
}

TEST_CASE("a missing kernel's error names the argument, the causes and what there is") {
  const RegistrationHandle def =
      Block()
          .def("reg::miss(Tensor self, Tensor other) -> int")
          .impl(
              "reg::miss", DispatchKey::CPU, [](const TensorBase&, const TensorBase&) { return std::int64_t{1}; }, 2)
          .commit();
  const auto miss = op("reg::miss").typed<std::int64_t(const TensorBase&, const TensorBase&)>();
  CHECK(error_alone([&] { miss.call(tensor(), tensor(kMeta)); }) ==
        "reg::miss: it has no kernel for Meta, where argument 'other' lies. Keys of the call: {Meta, CPU}. Registered: "
        "CPU (test.cpp:2).");
  CHECK(error_of([&] {
          miss.redispatch({DispatchKey::CPU, DispatchKey::Python}, tensor(), tensor());
        }) == "reg::miss: it has no kernel for Python. Keys of the call: {Python, CPU}. Registered: CPU (test.cpp:2).");

  const RegistrationHandle gradient =
      Block().def("reg::grad(Tensor self) -> int").impl("reg::grad", DispatchKey::Autograd, gives<1>, 3).commit();
  CHECK(error_of([&] { op("reg::grad").typed<Sig>().call(tensor()); }) ==
        "reg::grad: it has only an Autograd kernel, which runs when an argument carries that key; what must always run "
        "is a composite. Keys of the call: {CPU}. Registered: Autograd (test.cpp:3).");
}

TEST_CASE("a handle stays a handle of its schema") {
  RegistrationHandle def =
      Block().def("reg::same(Tensor t) -> int").impl("reg::same", DispatchKey::CPU, gives<1>).commit();
  const auto old = op("reg::same").typed<Sig>();
  CHECK(old.call(tensor()) == 1);
  def.undo();
  // The name gets another schema: the old handle must not call its kernels.
  RegistrationHandle other =
      Block()
          .def("reg::same(Tensor t, int n) -> int")
          .impl("reg::same", DispatchKey::CPU, [](const TensorBase&, std::int64_t n) { return n; })
          .commit();
  CHECK(op("reg::same").typed<std::int64_t(const TensorBase&, std::int64_t)>().call(tensor(), 9) == 9);
  CHECK(error_of([&] { old.call(tensor()); }).find("reg::same: it is no longer defined") == 0);
  CHECK(old.schema().arguments().size() == 1);
  other.undo();
  // The same schema again, elsewhere: the handle works again.
  const RegistrationHandle again =
      Block().def("reg::same(Tensor t) -> int", 40).impl("reg::same", DispatchKey::CPU, gives<2>).commit();
  CHECK(old.call(tensor()) == 2);
  CHECK(old.entry().info().line == 40);
  CHECK(&op("reg::same").entry() == &old.entry());
}

TEST_CASE("registering and undoing the same makes no new tables") {
  const RegistrationHandle def = Block().def("reg::cycle(Tensor t) -> int").commit();
  const auto register_it = [] { return Block().impl("reg::cycle", DispatchKey::CPU, gives<1>, 2).commit(); };
  const Table* without = &op("reg::cycle").entry().table();
  RegistrationHandle first = register_it();
  const Table* with = &op("reg::cycle").entry().table();
  for (int i = 0; i < 100; ++i) {
    first.undo();
    CHECK(&op("reg::cycle").entry().table() == without);
    first = register_it();
    CHECK(&op("reg::cycle").entry().table() == with);
  }
}

TEST_CASE("operators are listed by name") {
  const RegistrationHandle def =
      Block().def("aaa::z(Tensor t) -> int").def("aaa::y(Tensor t) -> int").def("zzz::a(Tensor t) -> int").commit();
  std::vector<std::string> names;
  for (const OperatorHandle& each : Dispatcher::singleton().ops()) {
    if (!each.name().starts_with("marks::")) names.push_back(each.name());  // of another test, that stay for good
  }
  CHECK(names == std::vector<std::string>{"aaa::y", "aaa::z", "keyway::builtin", "keyway::builtin.other", "zzz::a"});
}
