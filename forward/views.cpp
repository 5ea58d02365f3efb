#include <keyway/autograd/variable.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/forward/dual_level.h>
#include <keyway/forward/views.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace keyway::inline v1::forward {

using WeakTensor = weak_intrusive_ptr<TensorImpl>;

// By the address of what they are views of: a view keeps that alive, and of another tensor that has come to stand there
// none of them is alive.
struct ViewTracker::Views {
  std::unordered_map<const TensorImpl*, std::vector<WeakTensor>> of;
  std::size_t count = 0;
  std::size_t most = 64;  // before those that are gone are forgotten

  void add(const TensorBase& base, const TensorBase& view) {
    if (count == most) forget_dead();
    of[base.impl()].emplace_back(view.impl_ptr());
    ++count;
  }
  void forget_dead() {
    count = 0;
    for (auto entry = of.begin(); entry != of.end();) {
      std::erase_if(entry->second, [](const WeakTensor& view) { return !view.lock(); });
      count += entry->second.size();
      entry = entry->second.empty() ? of.erase(entry) : std::next(entry);
    }
    most = std::max<std::size_t>(64, 2 * count);
  }
};

namespace {

constinit thread_local ViewTracker* tracker = nullptr;

}  // namespace

ViewTracker::ViewTracker() {
  if (tracker != nullptr) return;
  views_ = std::make_unique<Views>();
  tracker = this;
  autograd::exchange_view_listener([](const TensorBase& view) {
    if (DualLevel::innermost() == nullptr) return;  // a task that the thread runs for another one
    const TensorBase base = autograd::view_base(view);
    const auto is_dual = [](const TensorBase& tensor) { return tensor.key_set().has(Functionality::ForwardAD); };
    if (autograd::is_differentiable(view.dtype()) && !is_dual(base) && !is_dual(view)) tracker->views_->add(base, view);
  });
}

ViewTracker::~ViewTracker() {
  if (views_ == nullptr) return;
  autograd::exchange_view_listener(nullptr);
  tracker = nullptr;
}

std::vector<TensorBase> tracked_views(const TensorBase& base) {
  std::vector<TensorBase> views;
  if (tracker == nullptr) return views;
  const auto found = tracker->views_->of.find(base.impl());
  if (found == tracker->views_->of.end()) return views;
  for (const WeakTensor& weak : found->second) {
    const TensorBase view(weak.lock());
    if (view.defined() && !view.key_set().has(Functionality::ForwardAD) && view.is_alias_of(base))
      views.push_back(view);
  }
  return views;
}

NoViewTrackingGuard::NoViewTrackingGuard() : before_(autograd::exchange_view_listener(nullptr)) {}
NoViewTrackingGuard::~NoViewTrackingGuard() { autograd::exchange_view_listener(before_); }

}  // namespace keyway::inline v1::forward
