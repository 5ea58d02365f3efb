// The views of plain tensors that a thread makes while it has a level: they become dual with what they are views of.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>

#include <memory>
#include <vector>

namespace keyway::inline v1::forward {

// Remembers them as long as it lives. One within another does nothing.
class ViewTracker {
 public:
  ViewTracker();
  ~ViewTracker();
  ViewTracker(const ViewTracker&) = delete;
  ViewTracker& operator=(const ViewTracker&) = delete;

 private:
  struct Views;
  friend std::vector<TensorBase> tracked_views(const TensorBase& base);
  std::unique_ptr<Views> views_;  // null within another
};

// The tracked views of `base` that are alive, still share its memory and are still plain.
std::vector<TensorBase> tracked_views(const TensorBase& base);

// While it lives, the views that its thread makes are parts of dual tensors, and are not remembered.
class KEYWAY_API NoViewTrackingGuard {
 public:
  NoViewTrackingGuard();
  ~NoViewTrackingGuard();
  NoViewTrackingGuard(const NoViewTrackingGuard&) = delete;
  NoViewTrackingGuard& operator=(const NoViewTrackingGuard&) = delete;

 private:
  void (*before_)(const TensorBase& view);
};

}  // namespace keyway::inline v1::forward
