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

namespace keyway::inline v1::graph {
namespace {

// The region that the thread is in, how many guards it has, and what it added to the thread's keys.
constinit thread_local DeferredRegion* region_here = nullptr;
constinit thread_local int guards_here = 0;
constinit thread_local std::uint64_t keys_of_region = 0;

struct OpenRegions {
  std::mutex mutex;
  std::vector<std::shared_ptr<DeferredRegion>> all;
};
OpenRegions& open_regions() {
  static OpenRegions& regions = *new OpenRegions;  // never destroyed: a thread may outlive the program's end
  return regions;
}

std::vector<std::shared_ptr<DeferredRegion>> all_regions() {
  const std::lock_guard lock(open_regions().mutex);
  return open_regions().all;
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
      const std::lock_guard lock(open_regions().mutex);
      open_regions().all.push_back(region_);
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
      const std::lock_guard lock(open_regions().mutex);
      std::erase(open_regions().all, region);
    }
  } end{region_};
  region_->flush("the region ended");
}

Deferred::Statistics Deferred::statistics() const { return region_->statistics(); }

std::string Deferred::explain() const { return region_->explain(); }

}  // namespace keyway::inline v1::graph
