#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/dlpack.h>
#include <keyway/core/tensor/foreign_memory.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

using namespace keyway;

namespace {

constexpr std::int64_t kCount = 10'000;  // too many bytes for the storage's own block

TensorBase counted() {
  TensorBase tensor = make_tensor({kCount}, kFloat, kCPU);
  auto* const data = tensor.data_ptr<float>();
  std::iota(data, data + kCount, 0.0f);
  return tensor;
}

float sum_of(const TensorBase& tensor) {
  const auto* const data = tensor.const_data_ptr<float>();
  return std::accumulate(data, data + tensor.numel(), 0.0f);
}

bool is_marked(const TensorBase& tensor) { return tensor.key_set().has(Functionality::CopyOnWrite); }

std::size_t bytes_in_use() { return host_memory_stats().allocated; }

// Memory of the host that knows what it gave.
class PinningAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    DataPtr made = host_allocator().allocate(bytes);
    given_.insert(made.get());
    return made;
  }
  Allocator& pinned() override { return *this; }
  bool is_pinned(const void* memory) const override { return given_.contains(memory); }

 private:
  std::set<const void*> given_;
};

// Memory of the host; runs a function before it gives the next piece.
class InterruptedAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    if (const auto run = std::exchange(before_next, nullptr)) run();
    return host_allocator().allocate(bytes);
  }
  std::function<void()> before_next;
};

}  // namespace

TEST_CASE("a lazy clone has the bytes of its original, a storage and a version of its own") {
  const TensorBase x = counted(), y = share_bytes(x);
  REQUIRE(y.defined());
  CHECK(y.const_data_ptr() == x.const_data_ptr());
  CHECK(!y.is_alias_of(x));
  CHECK((is_marked(x) && is_marked(y)));
  x.impl()->bump_version();
  CHECK((x._version() == 1 && y._version() == 0));
  CHECK(overlap(x, y) == Overlap::None);
}

TEST_CASE("what ends sharing leaves the others as they are, and the last one keeps the bytes") {
  const TensorBase x = counted();
  const void* const bytes = x.const_data_ptr();
  const TensorBase y = share_bytes(x), z = share_bytes(y);
  REQUIRE((y.defined() && z.defined()));
  own_bytes(y);
  CHECK((y.const_data_ptr() != bytes && !is_marked(y)));
  y.data_ptr<float>()[0] = -1;
  CHECK((x.const_data_ptr<float>()[0] == 0 && z.const_data_ptr<float>()[0] == 0));
  own_bytes(x);
  CHECK(x.const_data_ptr() != bytes);
  own_bytes(z);
  CHECK((z.const_data_ptr() == bytes && !z.storage().is_shared()));
  CHECK(sum_of(x) == sum_of(z));
}

TEST_CASE("an original that goes leaves its bytes to its clone") {
  TensorBase x = counted();
  const void* const bytes = x.const_data_ptr();
  const TensorBase y = share_bytes(x);
  x.reset();
  CHECK((y.storage().is_shared() && y.const_data_ptr<float>()[7] == 7));
  own_bytes(y);
  CHECK(y.const_data_ptr() == bytes);
  const TensorBase z = share_bytes(y);
  REQUIRE(z.defined());
  own_bytes(y);
  CHECK((z.const_data_ptr() == bytes && y.const_data_ptr() != bytes));
}

TEST_CASE("a tensor may be cloned and written to any number of times") {
  TensorBase x = counted();
  int shared = 0;
  for (int round = 0; round < 1'000'000; ++round) {
    shared += share_bytes(x).defined() ? 1 : 0;
    own_bytes(x);
  }
  CHECK(shared == 1'000'000);
  CHECK(x.const_data_ptr<float>()[7] == 7);
  x.reset();  // a million owners, each the next one's, would overflow the stack here
}

TEST_CASE("views of what shares bytes have the key, and see what the storage gets") {
  const TensorBase x = counted();
  const TensorBase y = share_bytes(x);
  const TensorBase view = make_view(y, {10}, {1}, 5);
  CHECK(is_marked(view));
  own_bytes(view);
  CHECK((!is_marked(view) && is_marked(y)));
  view.data_ptr<float>()[0] = -1;
  CHECK((y.const_data_ptr<float>()[5] == -1 && x.const_data_ptr<float>()[5] == 5));
  own_bytes(y);
  CHECK(!is_marked(y));
}

TEST_CASE("a tensor that gets the storage of another one has the key as that has") {
  const TensorBase x = counted(), y = share_bytes(x), z = counted();
  z.impl()->set_storage(y.storage());
  CHECK(is_marked(z));
  z.impl()->set_storage(make_storage(4 * kCount, kCPU));
  CHECK(!is_marked(z));
}

TEST_CASE("bytes are shared only where everybody who may write to them is known") {
  const TensorBase viewed = counted(), view = make_view(viewed);
  CHECK(!share_bytes(viewed).defined());
  CHECK(
      !share_bytes(make_view(counted(), {10}, {1}, 0)).defined());  // which would keep, and copy, a thousand times more
  CHECK(!share_bytes(make_tensor({4}, kFloat, kCPU)).defined());
  CHECK(!share_bytes(make_tensor({kCount}, kFloat, kMeta)).defined());
  std::vector<float> numbers(kCount);
  CHECK(!share_bytes(tensor_over(DataPtr(numbers.data(), kCPU), {kCount}, {1}, kFloat)).defined());
  const TensorBase known = counted();
  (void)known.mutable_data_ptr<float>();
  CHECK(!share_bytes(known).defined());
  const TensorBase read = counted();
  (void)read.const_data_ptr<float>();
  CHECK(share_bytes(read).defined());
  const NoSharing none;
  CHECK(!share_bytes(counted()).defined());
}

TEST_CASE("who asks for an address to write to gets that of bytes that nobody shares") {
  const TensorBase x = counted(), y = share_bytes(x), z = share_bytes(x), w = share_bytes(x);
  const auto* const before = y.const_data_ptr<float>();
  auto* const data = y.mutable_data_ptr<float>();
  CHECK(data != before);
  std::fill_n(data, kCount, 1.0f);
  z.accessor<float, 1>()[3] = -1;
  CHECK(w.accessor<const float, 1>()[3] == 3);
  CHECK((w.storage().is_shared() && !z.storage().is_shared()));
  CHECK(sum_of(y) == kCount);
  CHECK(x.const_data_ptr<float>()[3] == 3);
}

TEST_CASE("what is kept for readers beside the end of sharing is freed when nobody can be reading") {
  const std::size_t before = bytes_in_use();
  const TensorBase x = counted();
  const std::size_t one = bytes_in_use() - before;
  TensorBase y = share_bytes(x);
  const void* const data = x.mutable_data_ptr();
  y.reset();
  CHECK(bytes_in_use() - before == 2 * one);
  CHECK(is_marked(x));  // so a call that writes comes to own_bytes()
  own_bytes(x);
  CHECK(bytes_in_use() - before == one);
  CHECK((x.const_data_ptr() == data && x.const_data_ptr<float>()[7] == 7));
  own_bytes(x);
  CHECK(bytes_in_use() - before == one);
}

TEST_CASE("what is pinned for the devices of a plug-in is not shared, and stays pinned when it grows") {
  testing::FakeDevices npu;
  const auto registration = register_device_guard(npu);
  PinningAllocator memory;
  const testing::PluggedAllocator plugged(npu.type(), memory);
  const TensorBase plain = counted(), x = make_pinned_tensor({kCount}, {}, kFloat, kCPU, npu.type());
  resize_tensor(plain, {2 * kCount});
  CHECK(!pinned_for(plain));
  CHECK(pinned_for(x) == npu.type());
  CHECK(!share_bytes(x).defined());
  std::iota(x.data_ptr<float>(), x.data_ptr<float>() + kCount, 0.0f);
  resize_tensor(x, {2 * kCount});
  CHECK(is_pinned(x, npu.type()));
  CHECK(x.const_data_ptr<float>()[kCount - 1] == kCount - 1);
}

TEST_CASE("memory that is handed to another library is shared no more") {
  const TensorBase x = counted(), y = share_bytes(x);
  dlpack::DLManagedTensor* const exported = dlpack::to_dlpack(y);
  CHECK(exported->dl_tensor.data != x.const_data_ptr());
  static_cast<float*>(exported->dl_tensor.data)[2] = -1;
  CHECK((y.const_data_ptr<float>()[2] == -1 && x.const_data_ptr<float>()[2] == 2));
  CHECK(!share_bytes(y).defined());
  exported->deleter(exported);
}

TEST_CASE("an export for which there is no memory changes nothing") {
  const TensorBase x = counted(), y = share_bytes(x);
  const std::size_t limit = set_host_memory_limit(bytes_in_use());
  const std::string error = testing::error_of([&] { (void)dlpack::to_dlpack(y); });
  set_host_memory_limit(limit);
  CHECK(error.find("bytes are asked for") != std::string::npos);
  CHECK(y.storage().is_shared());
  resize_tensor(y, {2 * kCount});  // as nobody looks into it
  CHECK(y.const_data_ptr<float>()[kCount - 1] == kCount - 1);
}

TEST_CASE("a storage that grows lets go of what it shared") {
  const TensorBase x = counted(), y = share_bytes(x);
  resize_tensor(y, {2 * kCount});
  CHECK(!y.storage().is_shared());
  y.data_ptr<float>()[1] = -1;
  CHECK(x.const_data_ptr<float>()[1] == 1);
  CHECK(y.const_data_ptr<float>()[kCount - 1] == kCount - 1);
}

TEST_CASE("bytes that several tensors share are freed once, with the last") {
  const std::size_t before = host_memory_stats().allocated;
  {
    const TensorBase x = counted();
    std::vector<TensorBase> clones;
    for (int i = 0; i < 10; ++i) clones.push_back(share_bytes(x));
    CHECK(host_memory_stats().allocated - before < 2 * x.nbytes());
    for (int i = 0; i < 3; ++i) own_bytes(clones[static_cast<std::size_t>(i)]);
    (void)clones[3].mutable_data_ptr();
    CHECK(host_memory_stats().allocated - before >= 5 * x.nbytes());
  }
  CHECK(host_memory_stats().allocated == before);
}

TEST_CASE("clones are made, read, written to and given up in several threads") {
  const TensorBase x = counted();
  const float sum = sum_of(x);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        TensorBase y = share_bytes(x);
        if (!y.defined()) continue;
        TensorBase z = share_bytes(y);
        if (sum_of(y) != sum || sum_of(x) != sum) ++wrong;
        own_bytes(y);
        std::fill_n(y.data_ptr<float>(), kCount, static_cast<float>(t));
        if (i % 2 == 0) y.reset();
        if (z.defined() && sum_of(z) != sum) ++wrong;
        if (z.defined()) z.mutable_data_ptr<float>()[0] = -1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(sum_of(x) == sum);
}

TEST_CASE("several threads may ask for the address of one tensor, and read on at that which it had") {
  for (int round = 0; round < 50; ++round) {
    const TensorBase x = counted();
    TensorBase y = share_bytes(x);
    const float sum = sum_of(x);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    std::vector<const float*> addresses(3);
    for (const float*& address : addresses) {
      threads.emplace_back([&] {
        const auto* const before = x.const_data_ptr<float>();
        const auto* const data = address = x.mutable_data_ptr<float>();
        if (std::accumulate(data, data + kCount, 0.0f) != sum) ++wrong;
        if (std::accumulate(before, before + kCount, 0.0f) != sum) ++wrong;
      });
    }
    threads.emplace_back([&] {
      own_bytes(y);
      std::fill_n(y.data_ptr<float>(), kCount, 1.0f);
      y.reset();
    });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK((addresses[0] == addresses[1] && addresses[0] == addresses[2]));
  }
}

TEST_CASE("while bytes are copied for one who asks for their address, others share bytes") {
  InterruptedAllocator memory;
  const testing::PluggedAllocator plugged(kCPU, memory);
  const TensorBase x = counted(), y = share_bytes(x), other = counted();
  std::future<TensorBase> clone;
  bool is_made = false;
  memory.before_next = [&] {
    clone = std::async(std::launch::async, [&] { return share_bytes(other); });
    is_made = clone.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  };
  (void)y.mutable_data_ptr();
  CHECK(is_made);
  CHECK(clone.get().defined());
  CHECK(y.const_data_ptr() != x.const_data_ptr());
}

TEST_CASE("of two threads that ask for one address at once, the second gets that of the first") {
  const std::size_t before = bytes_in_use();
  {
    InterruptedAllocator memory;
    const testing::PluggedAllocator plugged(kCPU, memory);
    const TensorBase x = counted();
    const std::size_t one = bytes_in_use() - before;
    const TensorBase y = share_bytes(x);
    void* first = nullptr;
    memory.before_next = [&] { std::thread([&] { first = y.mutable_data_ptr(); }).join(); };
    CHECK((y.mutable_data_ptr() == first && first != x.const_data_ptr()));
    CHECK(sum_of(y) == sum_of(x));
    CHECK(bytes_in_use() - before == 2 * one);
  }
  CHECK(bytes_in_use() == before);
}

TEST_CASE("a tensor may be exported while another thread clones it") {
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    const TensorBase x = counted();
    const float sum = sum_of(x);
    TensorBase clone;
    std::thread other([&] { clone = share_bytes(x); });
    dlpack::DLManagedTensor* const exported = dlpack::to_dlpack(x);
    other.join();
    static_cast<float*>(exported->dl_tensor.data)[0] = -1;
    if (clone.defined() && sum_of(clone) != sum) ++wrong;
    if (x.const_data_ptr<float>()[0] != -1 || x.storage().impl()->resizable()) ++wrong;
    exported->deleter(exported);
  }
  CHECK(wrong == 0);
}

TEST_CASE("who has the address of a tensor never writes to a clone that another thread made meanwhile") {
  int shared = 0, wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    const TensorBase x = counted();
    const float sum = sum_of(x);
    TensorBase clone;
    std::atomic<int> arrived = 0;
    const auto meet = [&] {
      for (++arrived; arrived != 2;) std::this_thread::yield();
    };
    std::thread other([&] {
      meet();
      clone = share_bytes(x);
    });
    meet();
    float* const data = x.mutable_data_ptr<float>();
    other.join();
    data[0] = -1;
    if (!clone.defined()) continue;
    ++shared;
    if (sum_of(clone) != sum) ++wrong;
    if (x.const_data_ptr<float>()[0] != -1) ++wrong;
  }
  INFO(shared << " clones share");
  CHECK(wrong == 0);
}
