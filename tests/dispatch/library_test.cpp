#include <keyway/dispatch/library.h>
#include <keyway/tests/catch.h>

using namespace keyway;

namespace {
TensorBase tensor(DeviceType device = DeviceType::CPU) {
  const std::int64_t sizes[] = {2, 3};
  return make_tensor(sizes, kFloat, Device(device));
}
using testing::error_of;
}  // namespace

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
