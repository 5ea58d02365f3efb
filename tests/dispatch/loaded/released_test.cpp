// A block that is released stays for good, as one of a library that is loaded does.
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a block that is kept for good is not counted, and a call costs what any other does") {
  Block().def("released::op(Tensor t) -> int").commit().release();
  const auto handle = op("released::op").typed<std::int64_t(const TensorBase&)>();
  const auto flags = [&] {
    const Table& table = handle.entry().table();
    return table.kernel(table.slots[static_cast<std::size_t>(DispatchKey::CPU)]).flags;
  };
  RegistrationHandle impl =
      Block().impl("released::op", DispatchKey::CPU, [](const TensorBase&) { return std::int64_t{2}; }).commit();
  CHECK(flags() == kCounted);
  impl.release();
  CHECK(flags() == 0);
  CHECK(handle.call(tensor()) == 2);
}
