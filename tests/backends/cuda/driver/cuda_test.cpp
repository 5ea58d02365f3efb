// The CUDA backend as libkeyway loads it. What needs a device is skipped where there is none.
#include <keyway/core/base/error.h>
#include <keyway/core/device/allocator.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdlib>
#include <string>
#include <string_view>

using namespace keyway;
using testing::error_of;
using testing::has_device;
using testing::keeps_memory;
using testing::lacks_device;
using testing::same_values;

namespace {

// Before any test of this process asked for a device.
const bool there_at_start = find_device_guard_impl(kCUDA) != nullptr;

}  // namespace

TEST_CASE("the backend is there when a CUDA device is first asked for") {
  const bool emulated = std::getenv("KEYWAY_EMULATED_CUDA") != nullptr;
  if (!emulated) CHECK_FALSE(there_at_start);
  CHECK(device_count(kCUDA) >= 0);
  REQUIRE(find_device_guard_impl(kCUDA) != nullptr);
  CHECK(find_device_guard_impl(kCUDA)->type() == kCUDA);
}

TEST_CASE(
    "it serves pointwise operators, reductions and copies, each with all its overloads, with or without a device") {
  REQUIRE(device_count(kCUDA) >= 0);
  std::size_t served = 0;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const Table& table = op.entry().table();
    const std::uint8_t kernel = table.slots[static_cast<std::size_t>(DispatchKey::CUDA)];
    served += std::string_view(table.info[kernel].name).starts_with("cuda::") ? 1 : 0;
  }
  CHECK(served > 200);
  for (const char* name : {"add.Tensor", "add_.Tensor", "add.out", "exp", "exp_", "exp.out", "sum.dim_IntList",
                           "sum.IntList_out", "max.dim", "copy_", "_local_scalar_dense", "gelu_backward"}) {
    INFO(name);
    const OperatorEntry& op = Dispatcher::singleton().op(name).entry();
    const Table& table = op.table();
    const KernelInfo& kernel = table.info[table.slots[static_cast<std::size_t>(DispatchKey::CUDA)]];
    CHECK(std::string_view(kernel.name).starts_with("cuda::"));
    CHECK(std::string_view(kernel.file) == op.info().file);
    CHECK(kernel.line == op.info().line);
  }
}

TEST_CASE("it serves every operator that the CPU has a kernel for") {
  REQUIRE(device_count(kCUDA) >= 0);
  const auto kernel = [](const Table& table, DispatchKey key) -> const KernelInfo& {
    return table.info[table.slots[static_cast<std::size_t>(key)]];
  };
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const Table& table = op.entry().table();
    if (kernel(table, DispatchKey::CPU).key != DispatchKey::CPU) continue;
    INFO(op.name());
    CHECK(kernel(table, DispatchKey::CUDA).key == DispatchKey::CUDA);
  }
}

TEST_CASE("without a device, all that needs one says why there is none") {
  if (has_device()) return;
  const std::string why = "there is no cuda device: ";
  for (const std::string& text :
       {error_of([] { (void)current_device(kCUDA); }), error_of([] { const DeviceGuard guard(Device("cuda:0")); }),
        error_of([] { synchronize(Device(kCUDA)); }), error_of([] { (void)new_stream(kCUDA); }),
        error_of([] { (void)get_allocator(kCUDA).allocate(8); }), error_of([] { (void)empty({2}, kCUDA); })}) {
    INFO(text);
    const auto at = text.find(why);
    REQUIRE(at != std::string::npos);
    CHECK(text.size() > at + why.size() + 10);
  }
  CHECK(error_of([] { (void)empty({2}, kCUDA); }).find("empty") != std::string::npos);
}

TEST_CASE("memory of a device comes back for the same stream, and not for another") {
  if (lacks_device() || !keeps_memory()) return;
  Allocator& allocator = get_allocator(kCUDA);
  void* first = nullptr;
  {
    const DataPtr data = allocator.allocate(1000);
    first = data.get();
    CHECK(data.device() == Device("cuda:0"));
  }
  CHECK(allocator.allocate(1000).get() == first);
  const StreamGuard other(new_stream(kCUDA));
  CHECK(allocator.allocate(1000).get() != first);
}

TEST_CASE("streams of a device and their events") {
  if (lacks_device()) return;
  const Stream stream = new_stream(kCUDA), urgent = new_stream(kCUDA, -1);
  CHECK(!stream.is_default());
  CHECK(stream != urgent);
  CHECK(current_stream(kCUDA).is_default());
  {
    const StreamGuard guard(stream);
    CHECK(current_stream(kCUDA) == stream);
  }
  CHECK(current_stream(kCUDA).is_default());
  Event begin(kCUDA, true), end(kCUDA, true);
  begin.record(stream);
  end.block(urgent);
  end.record(stream);
  end.synchronize();
  CHECK(end.query());
  CHECK(begin.elapsed_time(end) >= 0);
  synchronize(Device(kCUDA));
  CHECK_THROWS_AS(StreamGuard(Stream(Device("cuda:0"), 1'000'000)), Error);
}

TEST_CASE("elements keep their values from one device to another and back, whatever dtypes and strides") {
  if (lacks_device()) return;
  const Tensor numbers = arange(60, TensorOptions().dtype(kFloat)).view({3, 4, 5});
  for (const Tensor& from : {numbers, numbers.transpose(0, 2), numbers.slice(1, 0, 4, 2)}) {
    for (const ScalarType dtype : {kFloat, kHalf, kLong, kDouble, kBool}) {
      const Tensor there = from.to(kCUDA, dtype), back = there.to(kCPU, dtype);
      CHECK(there.device() == Device("cuda:0"));
      CHECK(same_values(back, from.to(kCPU, dtype)));
      CHECK(same_values(there.transpose(0, 1).to(kCPU, kFloat), from.to(kCPU, dtype).transpose(0, 1).to(kCPU, kFloat)));
    }
  }
  CHECK(numbers.to(kCUDA, kFloat).select(0, 2).select(0, 3).select(0, 4).item().to<double>() == 59);
}

TEST_CASE("an element that a kernel refuses is an error of the next synchronisation, once") {
  if (lacks_device()) return;
  const Tensor ones = full({5000}, 1, TensorOptions().dtype(kInt).device(kCUDA));
  const Tensor zeros = full({5000}, 0, TensorOptions().dtype(kInt).device(kCUDA));
  const Tensor quotient = floor_divide(ones, zeros);
  CHECK(error_of([] { synchronize(Device("cuda:0")); }).find("floor_divide: integer division by zero") !=
        std::string::npos);
  synchronize(Device("cuda:0"));
}
