#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/tests/catch.h>

#include <cstring>

using namespace keyway;
using testing::error_of;

namespace {
// Counts what it gives and what comes back.
class CountingAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    ++live;
    return DataPtr(::operator new(bytes), this, give_back, kCPU);
  }
  static void give_back(void* context) { --static_cast<CountingAllocator*>(context)->live; }
  int live = 0;
};
}  // namespace

TEST_CASE("a small storage has its bytes aligned in its own block, a larger one has them elsewhere") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, StorageImpl::kMaxInlineBytes,
                                  StorageImpl::kMaxInlineBytes + 1, std::size_t{1} << 20}) {
    const Storage storage = make_storage(bytes, kCPU);
    CHECK(storage.nbytes() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(storage.data()) % 64 == 0);
    const auto distance = static_cast<char*>(storage.data()) - reinterpret_cast<char*>(storage.impl());
    CHECK((distance == 128) == (bytes <= StorageImpl::kMaxInlineBytes));
    if (bytes != 0) std::memset(storage.data(), 1, bytes);
  }
  const Storage meta = make_storage(std::size_t{1} << 60, kMeta);
  CHECK(meta.data() == nullptr);
  CHECK(meta.nbytes() == std::size_t{1} << 60);
  CHECK(error_of([] { make_storage(4, kCUDA); }).find("no allocator for device type cuda") == 0);
}

TEST_CASE("a view shares its base's storage and version") {
  const TensorBase base = make_tensor({4, 3}, kFloat, kCPU);
  const TensorBase view = make_view(base, {3}, {1}, 6);
  CHECK(view.is_alias_of(base));
  CHECK(view.data_ptr<float>() == base.data_ptr<float>() + 6);
  view.impl()->bump_version();
  CHECK(base._version() == 1);
  CHECK(make_tensor({1}, kFloat, kCPU)._version() == 0);
}

TEST_CASE("a view's number of elements cannot overflow") {
  const TensorBase one = make_tensor({1}, kFloat, kCPU);
  const std::int64_t half = std::int64_t{1} << 32;
  CHECK_THROWS_AS(make_view(one, {half, half}, {0, 0}, 0), Error);
  CHECK(make_view(one, {half, half, 0}, {0, 0, 1}, 0).numel() == 0);
}

TEST_CASE("resizing keeps the bytes, grows the storage when it must, and is seen by views") {
  const TensorBase t = make_tensor({2}, kInt, kCPU);
  t.data_ptr<std::int32_t>()[0] = 7;
  t.data_ptr<std::int32_t>()[1] = 8;
  const TensorBase view = make_view(t, {2}, {1}, 0);
  resize_tensor(t, {2000, 3});
  CHECK(t.sizes() == IntArrayRef({2000, 3}));
  CHECK(t.storage().nbytes() == 24000);
  CHECK(view.data_ptr<std::int32_t>() == t.data_ptr<std::int32_t>());
  CHECK(view.data_ptr<std::int32_t>()[1] == 8);
  resize_tensor(t, {1}, {5});
  CHECK(t.stride(0) == 5);
  CHECK(t.storage().nbytes() == 24000);
  CHECK_THROWS_AS(resize_tensor(t, {2, 2}, {1}), Error);
  CHECK_THROWS_AS(resize_tensor(t, {-1}), Error);
  CHECK_THROWS_AS(resize_tensor(t, {INT64_MAX, 2}), Error);
  CHECK(t.sizes() == IntArrayRef({1}));

  std::int32_t mine[4] = {};
  const TensorBase lent(
      make_intrusive<TensorImpl>(Storage(make_intrusive<StorageImpl>(DataPtr(mine, kCPU), sizeof(mine), false)), kInt,
                                 IntArrayRef({4}), IntArrayRef({1}), 4, true));
  CHECK(error_of([&] { resize_tensor(lent, {5}); }) ==
        "a storage of 16 bytes that belongs to somebody else cannot grow to 20");
  resize_tensor(lent, {2, 2});
  CHECK(lent.dim() == 2);
}

TEST_CASE("a plugged-in allocator serves all sizes until it is unplugged") {
  CountingAllocator mine;
  Allocator* before = set_allocator(kCPU, &mine);
  {
    const TensorBase small = make_tensor({1}, kFloat, kCPU);
    CHECK(mine.live == 1);
    ::operator delete(small.storage().data());
  }
  CHECK(mine.live == 0);
  CHECK(set_allocator(kCPU, before) == &mine);
  (void)make_tensor({1}, kFloat, kCPU);
  CHECK(mine.live == 0);
}

TEST_CASE("weak references give a storage's bytes back with the last strong one") {
  const std::size_t before = host_memory_stats().allocated;
  intrusive_ptr<StorageImpl> strong(make_intrusive<StorageImpl>(host_allocator().allocate(1 << 20), 1 << 20, true));
  weak_intrusive_ptr<StorageImpl> weak(strong);
  CHECK(host_memory_stats().allocated >= before + (1 << 20));
  strong.reset();
  CHECK(host_memory_stats().allocated == before);
  CHECK(weak.expired());
}
