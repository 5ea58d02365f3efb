#include <keyway/dispatch/registry/library.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <stdexcept>

using namespace keyway;
using namespace keyway::testing;

KEYWAY_SCHEMA("t4::scale.by(Tensor self, int by=2, *, Tensor? other=None) -> int");

TEST_CASE("a kernel registered in a library block is called, typed and boxed") {
  Library m(Library::Kind::Fragment, "t1");
  m.def("twice(Tensor self, int n=2) -> int");
  m.impl("twice", DispatchKey::CPU, [](const TensorBase& self, std::int64_t n) { return self.numel() * n; });
  const RegistrationHandle handle = m.commit();

  const OperatorHandle op = Dispatcher::singleton().op("t1::twice");
  CHECK(op.typed<std::int64_t(const TensorBase&, std::int64_t)>().call(tensor(), 3) == 18);
  Stack stack;
  stack.emplace_back(tensor());
  stack.emplace_back(std::int64_t{4});
  op.call_boxed(stack);
  REQUIRE(stack.size() == 1);
  CHECK(stack[0].to_int() == 24);
}

TEST_CASE("undoing a block brings the kernel before back, and then the missing one") {
  Library base(Library::Kind::Fragment, "t2");
  base.def("which(Tensor self) -> int");
  base.impl("which", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{1}; });
  const RegistrationHandle first = base.commit();
  const auto op = Dispatcher::singleton().op("t2::which").typed<std::int64_t(const TensorBase&)>();
  const Table* before = &op.entry().table();
  {
    Library over(Library::Kind::Impl, "t2", DispatchKey::CPU);
    over.impl("which", [](const TensorBase&) { return std::int64_t{2}; });
    const RegistrationHandle second = over.commit();
    CHECK(op.call(tensor()) == 2);
  }
  CHECK(op.call(tensor()) == 1);
  CHECK(&op.entry().table() == before);
  CHECK(error_of([&] { op.call(tensor(DeviceType::Meta)); }).find("t2::which: it has no kernel for Meta") == 0);
}

TEST_CASE("a block with an error registers nothing and lists every error") {
  Library m(Library::Kind::Fragment, "t3");
  m.def("fine(Tensor self) -> Tensor");
  m.def("bad(tensor self) -> Tensor");
  m.def("wrong(Tensor self, int n) -> Tensor");
  m.impl("wrong", DispatchKey::CPU, [](const TensorBase& self, double) { return self; });
  const std::string text = error_of([&] { (void)m.commit(); });
  CHECK(text.find("'tensor' is not a type") != std::string::npos);
  CHECK(text.find("kernel of t3::wrong") != std::string::npos);
  CHECK(!Dispatcher::singleton().find_op("t3::fine"));
}

TEST_CASE("kernels that the compiler has checked are registered as others are") {
  Library m(Library::Kind::Fragment, "t4");
  m.def<"t4::scale.by">();
  m.impl<"t4::scale.by">(DispatchKey::CPU,
                         [](const TensorBase& self, std::int64_t by, std::optional<TensorBase> other) {
                           return self.numel() * by + (other ? 1 : 0);
                         });
  m.def<"t4::twice(Tensor self) -> int">([](const TensorBase& self) { return self.numel() * 2; });
  const RegistrationHandle handle = m.commit();
  const auto scale = Dispatcher::singleton()
                         .op("t4::scale.by")
                         .typed<std::int64_t(const TensorBase&, std::int64_t, const TensorBase&)>();
  CHECK(scale.call(tensor(), 3, TensorBase()) == 18);
  CHECK(scale.call(tensor(), 3, tensor()) == 19);
  CHECK(Dispatcher::singleton().op("t4::twice").typed<std::int64_t(const TensorBase&)>().call(tensor()) == 12);
}

TEST_CASE("a checked kernel of another namespace than its block's is an error") {
  Library m(Library::Kind::Fragment, "t5");
  m.impl<"t4::scale.by">([](const TensorBase&, std::int64_t, std::optional<TensorBase>) { return std::int64_t{0}; });
  CHECK(error_of([&] { (void)m.commit(); }).find("'t4::scale.by'") != std::string::npos);
}

TEST_CASE("the name of a kernel's operator is an identifier, and another behind a dot") {
  for (const char* name : {"", "a b", "a.", ".a", "a.b.c", "1a", "a-b", "t5::", "t5::a b"}) {
    INFO(name);
    Library m(Library::Kind::Fragment, "t5");
    m.impl(name, DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{1}; });
    const std::string text = error_of([&] { (void)m.commit(); });
    CHECK(text.find("kernel of '" + std::string(name) + "' at ") != std::string::npos);
    CHECK(text.find("that is not the name of an operator") != std::string::npos);
  }
}

TEST_CASE("a kernel that takes another's place is a warning with both places") {
  std::vector<std::string> heard;
  const WarningHandler before = set_warning_handler([&](std::string_view text) { heard.emplace_back(text); });
  const auto one = [](const TensorBase&) { return std::int64_t{1}; };
  const RegistrationHandle first =
      Block().def("t6::f(Tensor self) -> int").impl("t6::f", DispatchKey::CPU, one, 2).commit();
  CHECK(heard.empty());
  {
    const RegistrationHandle second = Block().impl("t6::f", DispatchKey::CPU, one, 3).commit();
    CHECK(heard == std::vector<std::string>{
                       "the kernel of t6::f for CPU at test.cpp:3 takes the place of the one at test.cpp:2"});
  }
  heard.clear();
  // In one block the last one serves; other keys and operators are no matter.
  const RegistrationHandle third = Block()
                                       .def("t6::g(Tensor self) -> int")
                                       .impl("t6::g", DispatchKey::CPU, one, 4)
                                       .impl("t6::g", DispatchKey::Meta, one, 5)
                                       .impl("t6::g", DispatchKey::CPU, one, 6)
                                       .commit();
  CHECK(heard ==
        std::vector<std::string>{"the kernel of t6::g for CPU at test.cpp:6 takes the place of the one at test.cpp:4"});
  set_warning_handler(before);
}

TEST_CASE("registrations are made and undone though the handler of warnings throws") {
  const auto one = [](const TensorBase&) { return std::int64_t{1}; };
  const auto two = [](const TensorBase&) { return std::int64_t{2}; };
  std::vector<std::string> heard;
  const WarningHandler before = set_warning_handler([&](std::string_view text) {
    heard.emplace_back(text);
    throw std::runtime_error("a filter");
  });
  {
    const RegistrationHandle first =
        Block().def("t8::f(Tensor self) -> int").impl("t8::f", DispatchKey::CPU, one, 2).commit();
    const RegistrationHandle second = Block().impl("t8::f", DispatchKey::CPU, two, 3).commit();
    const RegistrationHandle third =
        Block().impl("t8::g", DispatchKey::CPU, one, 4).impl("t8::h", DispatchKey::CPU, one, 5).commit();
    CHECK(op("t8::f").typed<std::int64_t(const TensorBase&)>().call(tensor()) == 2);
    CHECK(heard.size() == 1);
  }
  set_warning_handler(before);
  CHECK(heard.size() == 3);  // of both kernels that had no operator
  CHECK(!Dispatcher::singleton().find_op("t8::f"));
}

TEST_CASE("a fallback is no kernel of an operator") {
  Library m(Library::Kind::Fragment, "t7");
  m.def("f(Tensor self) -> int");
  m.def("g(Tensor self) -> int");
  m.impl("g", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{1}; });
  const RegistrationHandle handle = m.commit();
  const OperatorEntry& f = op("t7::f").entry();
  CHECK_FALSE(f.has_kernel_for(kCPU));
  const RegistrationHandle fallback = Block().fallback(DispatchKey::CPU, boxed).commit();
  CHECK_FALSE(f.has_kernel_for(kCPU));
  CHECK(op("t7::g").entry().has_kernel_for(kCPU));
  struct Passes : CallObserver {
    void call(const ObservedCall& call) override { call.proceed(); }
  };
  const ObserverHandle observer = observe_calls(std::make_shared<Passes>());
  CHECK_FALSE(f.has_kernel_for(kCPU));
  CHECK(op("t7::g").entry().has_kernel_for(kCPU));
}
