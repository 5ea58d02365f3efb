#include <keyway/batching/vmap_level.h>
#include <keyway/core/keys/thread_bound.h>

#include <atomic>

namespace keyway::inline v1::batching {
namespace {

constinit std::atomic<std::uint64_t> next_id{1};

// Within levels every call passes the key: a random operator may have no tensor of a batch among its arguments.
void set_innermost(const VmapLevel* level) {
  constexpr std::uint64_t kKey = DispatchKeySet(Functionality::Batched).raw();
  thread_bound.vmap_level = level;
  thread_state.included = level != nullptr ? thread_state.included | kKey : thread_state.included & ~kKey;
}

}  // namespace

VmapLevel::VmapLevel(std::int64_t batch_size, Randomness randomness)
    : id_(next_id.fetch_add(1, std::memory_order_relaxed)),
      batch_size_(batch_size),
      randomness_(randomness),
      outer_(innermost_level()) {
  set_innermost(this);
}

VmapLevel::~VmapLevel() { set_innermost(outer_); }

const VmapLevel* innermost_level() { return thread_bound.vmap_level; }

const VmapLevel* find_level(std::uint64_t id) {
  const VmapLevel* level = innermost_level();
  while (level != nullptr && level->id() != id) level = level->outer();
  return level;
}

OutsideLevelGuard::OutsideLevelGuard(const VmapLevel* level) : innermost_before_(innermost_level()) {
  set_innermost(level != nullptr ? level->outer() : nullptr);
}

OutsideLevelGuard::~OutsideLevelGuard() { set_innermost(innermost_before_); }

}  // namespace keyway::inline v1::batching
