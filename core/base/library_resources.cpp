#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/library_resources.h>

#include <deque>
#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <vector>

namespace keyway::inline v1 {

namespace {

// Those of libraries that are gone are used again. Never destroyed: things may be given back at exit.
struct ResourcePool {
  ForkSafeMutex mutex{LockOrder::Libraries};
  std::deque<LibraryResources> all;
  std::vector<LibraryResources*> free;

  static ResourcePool& get() {
    static ResourcePool& pool = *new ResourcePool;
    return pool;
  }
};

struct Words {
  const char *one, *more;
};
constexpr Words kWords[kResourceKinds - 1] = {{"tensor", "tensors"},
                                              {"pinned tensor of the CPU", "pinned tensors of the CPU"},
                                              {"event", "events"},
                                              {"graph", "graphs"}};

}  // namespace

LibraryResources& LibraryResources::begin() {
  ResourcePool& pool = ResourcePool::get();
  const std::lock_guard lock(pool.mutex);
  if (pool.free.empty()) {
    pool.free.reserve(pool.all.size() + 1);  // so that end() needs no memory
    return pool.all.emplace_back();
  }
  LibraryResources& resources = *pool.free.back();
  pool.free.pop_back();
  resources.reopen();
  return resources;
}

void LibraryResources::end() noexcept {
  ResourcePool& pool = ResourcePool::get();
  const std::lock_guard lock(pool.mutex);
  pool.free.push_back(this);
}

bool LibraryResources::acquire(ResourceKind what, std::size_t bytes) noexcept {
  const auto kind = static_cast<std::size_t>(what);
  now_.things[kind].fetch_add(1);
  now_.bytes[kind].fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  if (!closed_.load()) [[likely]]
    return true;
  release(what, bytes);
  return false;
}

void LibraryResources::release(ResourceKind what, std::size_t bytes) noexcept {
  const auto kind = static_cast<std::size_t>(what);
  now_.bytes[kind].fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  now_.things[kind].fetch_sub(1);
}

std::string LibraryResources::held() const {
  std::string text;
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    const std::int64_t things = now_.things[i].load();
    if (things == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", things, things == 1 ? kWords[i].one : kWords[i].more);
    if (i < 2) text += fmt::format(" of {} bytes", now_.bytes[i].load());
  }
  return text;
}

std::int64_t LibraryResources::objects() const noexcept {
  return now_.things[static_cast<std::size_t>(ResourceKind::Object)].load();
}

}  // namespace keyway::inline v1
