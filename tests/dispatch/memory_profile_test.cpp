// A profile of memory knows each memory that calls gave, who made it and when it went.
#include <keyway/dispatch/inspect/memory_profile.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

TensorBase memory_of_size(std::int64_t n) {
  const std::int64_t sizes[] = {n};
  return make_tensor(sizes, kFloat, Device(DeviceType::CPU));
}
TensorBase makes_within(const TensorBase&, std::int64_t n) {
  return op("memory::empty_memory").typed<TensorBase(std::int64_t)>().call(n);
}
TensorBase passes_memory_on(const TensorBase& self) { return self; }
TensorBase refuses_memory(const TensorBase&) { KEYWAY_FAIL(Value, "refused"); }

Block memory_ops() {
  return Block()
      .def("memory::empty_memory(int n) -> Tensor")
      .def("memory::makes_within(Tensor self, int n) -> Tensor")
      .def("memory::passes_memory_on(Tensor(a) self) -> Tensor(a)")
      .def("memory::refuses_memory(Tensor self) -> Tensor")
      .impl("memory::empty_memory", DispatchKey::CompositeImplicitAutograd, memory_of_size)
      .impl("memory::makes_within", DispatchKey::CompositeImplicitAutograd, makes_within)
      .impl("memory::passes_memory_on", DispatchKey::CompositeImplicitAutograd, passes_memory_on)
      .impl("memory::refuses_memory", DispatchKey::CompositeImplicitAutograd, refuses_memory);
}

TensorBase empty_memory(std::int64_t n) { return op("memory::empty_memory").typed<TensorBase(std::int64_t)>().call(n); }
TensorBase made_memory(const TensorBase& self, std::int64_t n) {
  return op("memory::makes_within").typed<TensorBase(const TensorBase&, std::int64_t)>().call(self, n);
}

std::string here_in_code() { return "here.cpp:7"; }

}  // namespace

TEST_CASE("memory is known with who made it, and what only allocates made it for the call around it") {
  const RegistrationHandle handle = memory_ops().commit();
  const TensorBase before = memory_of_size(3);
  const auto memory = std::make_shared<MemoryProfile>(here_in_code);
  {
    const ThreadListenerGuard listening(memory);
    TensorBase kept = made_memory(before, 100);
    CHECK(op("memory::passes_memory_on").typed<TensorBase(const TensorBase&)>().call(kept).numel() == 100);
    CHECK_THROWS_AS(op("memory::refuses_memory").typed<TensorBase(const TensorBase&)>().call(before), Error);
    std::thread([] { empty_memory(50); }).join();
    const std::vector<MemoryProfile::Block> blocks = memory->blocks();
    REQUIRE(blocks.size() == 2);
    CHECK((blocks[0].op == "" && blocks[0].site == "" && blocks[0].bytes == 12));
    CHECK((blocks[1].op == "memory::makes_within" && blocks[1].site == "here.cpp:7" && blocks[1].bytes == 400));
    CHECK(blocks[1].tensor == "float32[100]");
    CHECK(blocks[1].device == Device(DeviceType::CPU));
    CHECK_FALSE(blocks[1].freed);
    kept = TensorBase();
    const auto freed = memory->blocks()[1].freed;
    REQUIRE(freed);
    CHECK(*freed >= blocks[1].made);
  }
  empty_memory(70);
  CHECK(memory->blocks().size() == 2);
  const auto json = nlohmann::json::parse(memory->json());
  CHECK(json.size() == 2);
  CHECK(json[0]["freed"].is_null());
  CHECK(json[1]["bytes"] == 400);
}

TEST_CASE("the peak is the most that lives at one time, and the table says of what") {
  const RegistrationHandle handle = memory_ops().commit();
  const auto memory = std::make_shared<MemoryProfile>();
  const ThreadListenerGuard listening(memory);
  const Device cpu(DeviceType::CPU);
  CHECK(memory->peak(cpu).bytes == 0);
  CHECK(memory->table().empty());
  { const TensorBase a = empty_memory(1000), b = empty_memory(2000); }
  const TensorBase c = empty_memory(2500);
  CHECK(memory->peak(cpu).bytes == 12000);
  CHECK(memory->peak(Device(DeviceType::CUDA)).bytes == 0);
  const std::string table = memory->table();
  INFO(table);
  CHECK(table.find("cpu: at most 0.012 MB") == 0);
  CHECK(table.find("memory::empty_memory") != std::string::npos);
  CHECK(memory->table(0).find("1 others") != std::string::npos);
}

TEST_CASE("memory of several threads is noted at the same time") {
  const RegistrationHandle handle = memory_ops().commit();
  const auto memory = std::make_shared<MemoryProfile>(here_in_code);
  {
    const ObserverHandle listening = listen_to_all_threads(memory);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([] {
        for (int i = 0; i < 200; ++i) made_memory(empty_memory(10), 20);
      });
    for (std::thread& thread : threads) thread.join();
  }
  std::size_t small = 0, large = 0;
  for (const MemoryProfile::Block& block : memory->blocks()) {
    (block.bytes == 40 ? small : large) += 1;
    CHECK(block.freed);
  }
  CHECK(small == 800);
  CHECK(large == 800);
}
