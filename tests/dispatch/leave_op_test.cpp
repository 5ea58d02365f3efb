// What becomes of exceptions that leave kernels.
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <new>
#include <stdexcept>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

template <typename F>
RegistrationHandle define(const std::string& schema, F fn) {
  const std::string name = schema.substr(0, schema.find('('));
  return Block().def(schema).impl(name, DispatchKey::CPU, fn).commit();
}

}  // namespace

TEST_CASE("an error of a kernel is followed by the arguments of the call") {
  const RegistrationHandle handle = define(
      "leave::all(Tensor self, Tensor? other, Tensor[] list, int n, float x, bool b, Scalar s, str t, int[] sizes, "
      "float[] xs, bool[] bs, ScalarType d, int? none, Device at, MemoryFormat format, Layout l, Generator? g) -> ()",
      [](const TensorBase&, const TensorBase&, ArrayRef<TensorBase>, std::int64_t, double, bool, const Scalar&,
         std::string_view, ArrayRef<std::int64_t>, ArrayRef<double>, ArrayRef<bool>, ScalarType,
         std::optional<std::int64_t>, Device, MemoryFormat, Layout,
         const Generator&) { KEYWAY_FAIL(Value, "no good"); });
  Stack stack{tensor(),
              IValue(TensorBase()),
              IValue(std::vector<TensorBase>{tensor(), TensorBase()}),
              std::int64_t{7},
              1.5,
              true,
              IValue(Scalar(complex<double>(1, 2))),
              IValue(std::string("text")),
              IValue(std::vector<std::int64_t>{1, 2}),
              IValue(std::vector<double>{0.5}),
              IValue(std::vector<bool>{true, false}),
              IValue(kInt),
              IValue(),
              IValue(Device(kMeta)),
              IValue(MemoryFormat::Contiguous),
              IValue(Layout::Strided),
              IValue()};
  CHECK(error_of([&] { op("leave::all").call_boxed(stack); }) ==
        "leave::all: no good; given self = float32[2, 3] on cpu, other = undefined, list = [float32[2, 3] on cpu, "
        "undefined], n = 7, x = 1.5, b = True, s = (1+2j), t = 'text', sizes = [1, 2], xs = [0.5], bs = [True, False], "
        "d = int32, none = None, at = meta, format = contiguous_format, l = strided, g = None");
}

TEST_CASE("an error that leaves several operators has the arguments of the innermost") {
  const RegistrationHandle inner =
      define("leave::inner(Tensor t) -> int", [](const TensorBase&) -> std::int64_t { KEYWAY_FAIL(Index, "no good"); });
  const RegistrationHandle outer = define("leave::outer(Tensor self) -> int", [](const TensorBase& self) {
    return op("leave::inner").typed<std::int64_t(const TensorBase&)>().call(self);
  });
  try {
    op("leave::outer").typed<std::int64_t(const TensorBase&)>().call(tensor());
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "leave::inner: no good; given t = float32[2, 3] on cpu (called from leave::outer)");
    CHECK(error.message() == "no good");
    CHECK(error.kind() == ErrorKind::Index);
  }
}

TEST_CASE("a long argument is cut") {
  const RegistrationHandle handle =
      define("leave::list(Tensor self, int[] indices) -> ()",
             [](const TensorBase&, ArrayRef<std::int64_t>) { KEYWAY_FAIL(Value, "no good"); });
  const std::vector<std::int64_t> indices(10000, 12345);
  const std::string text = error_of(
      [&] { op("leave::list").typed<void(const TensorBase&, ArrayRef<std::int64_t>)>().call(tensor(), indices); });
  CHECK(text.size() < 250);
  CHECK(text.ends_with("..."));
}

TEST_CASE("what memory cannot hold is an error of the operator, and other exceptions pass") {
  int what = 0;
  const RegistrationHandle handle = define("leave::memory(Tensor self) -> ()", [&what](const TensorBase&) {
    if (what == 0) throw std::bad_alloc();
    if (what == 1) throw std::length_error("vector");
    throw what;
  });
  const auto memory = op("leave::memory").typed<void(const TensorBase&)>();
  for (what = 0; what < 2; ++what) {
    try {
      memory.call(tensor());
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::OutOfMemory);
      CHECK(error.op() == "leave::memory");
    }
  }
  CHECK_THROWS_AS(memory.call(tensor()), int);
}
