#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/random/generator_listener.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/deferred_region.h>

#include <algorithm>
#include <mutex>

namespace keyway::inline v1::graph {
namespace {

// The region that the thread is in, how many guards it has, and what it added to the thread's keys.
constinit thread_local DeferredRegion* region_here = nullptr;
constinit thread_local int guards_here = 0;
constinit thread_local std::uint64_t keys_of_region = 0;

using Regions = std::vector<std::shared_ptr<DeferredRegion>>;

// Requires, as all that is static here: regions_mutex is held. Never destroyed: a thread may outlive the program's end.
Regions& open_regions() {
  static Regions& regions = *new Regions;
  return regions;
}

// A forked child has but the thread that forked it. What other threads defer, and the locks they may hold, it leaves
// be.
void leave_other_regions_in_child() {
  static Regions& left = *new Regions;
  for (std::shared_ptr<DeferredRegion>& region : open_regions()) {
    if (region.get() != region_here) left.push_back(std::move(region));
  }
  std::erase(open_regions(), nullptr);
}

constinit ForkSafeMutex regions_mutex(LockOrder::Plans, leave_other_regions_in_child);

std::vector<std::shared_ptr<DeferredRegion>> all_regions() {
  const std::lock_guard lock(regions_mutex);
  return open_regions();
}

void settle(const TensorBase& tensor) {
  if (region_here != nullptr && region_here->has(tensor)) return;
  for (const std::shared_ptr<DeferredRegion>& region : all_regions()) {
    if (region.get() != region_here) region->flush_if_pending(tensor, "another thread uses a tensor");
  }
  const Storage& storage = tensor.storage();
  KEYWAY_CHECK(
      !storage || storage.data() != nullptr || storage.nbytes() == 0 || tensor.device().is_meta(),
      "a tensor has no elements: the call that was to compute it was deferred, and another one before it failed");
  tensor.impl()->set_key_set(tensor.key_set().remove(Functionality::Functionalize));
}

constexpr PendingCalls kPendingCalls = {[](const TensorBase& tensor) {
                                          if (!tensor.defined() || !tensor.key_set().has(Functionality::Functionalize))
                                            return;
                                          if (region_here != nullptr)
                                            region_here->flush_if_pending(tensor, "memory is used by its address");
                                          settle(tensor);
                                        },
                                        [](const char* why) { flush_deferred(why); }};

}  // namespace

bool is_deferring() { return region_here != nullptr; }

void flush_before_seed() { flush_deferred("a generator is seeded or given a state"); }

void settle_deferred(const Stack& values) {
  for_each_tensor(values, [](const TensorBase& tensor) {
    if (tensor.key_set().has(Functionality::Functionalize)) settle(tensor);
  });
}

void call_deferred(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  if (region_here != nullptr) return region_here->call(op, below, values);
  redispatch_boxed(op, below, values);
}

void flush_deferred(std::string_view why) {
  if (region_here != nullptr) region_here->flush(std::string(why));
}

Deferred::Deferred() {
  register_graph_kernels();
  set_pending_calls(&kPendingCalls);
  if (region_here != nullptr) {
    region_ = [] {
      for (const std::shared_ptr<DeferredRegion>& region : all_regions()) {
        if (region.get() == region_here) return region;
      }
      return std::shared_ptr<DeferredRegion>();
    }();
  } else {
    region_ = std::make_shared<DeferredRegion>();
    {
      const std::lock_guard lock(regions_mutex);
      open_regions().push_back(region_);
    }
    region_here = region_.get();
    keys_of_region = IncludeDispatchKeyGuard::enter(DispatchKeySet(Functionality::Functionalize));
    if (!is_capturing()) exchange_generator_listener(&flush_before_seed);
  }
  ++guards_here;
}

Deferred::~Deferred() {
  if (!is_open_) return;
  try {
    finish();
  } catch (const std::exception& error) {
    try_warn(std::string("a region of deferred calls ended with an error: ") + error.what());
  }
}

void Deferred::flush() { region_->flush("flush() was called"); }

void Deferred::finish() {
  if (!is_open_) return;
  KEYWAY_CHECK(region_here == region_.get(), "a region of deferred calls ends in another thread than it began in");
  is_open_ = false;
  const struct End {
    const std::shared_ptr<DeferredRegion>& region;
    ~End() {
      if (--guards_here != 0) return;
      region_here = nullptr;
      IncludeDispatchKeyGuard::leave(keys_of_region);
      if (!is_capturing()) exchange_generator_listener(nullptr);
      const std::lock_guard lock(regions_mutex);
      std::erase(open_regions(), region);
    }
  } end{region_};
  region_->flush("the region ended");
}

Deferred::Statistics Deferred::statistics() const { return region_->statistics(); }

std::string Deferred::explain() const { return region_->explain(); }

}  // namespace keyway::inline v1::graph
