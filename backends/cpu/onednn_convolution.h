// A convolution by oneDNN, of float32 or of bfloat16 summed in float32: made once for a shape and kept; run on the
// calling thread alone.
#pragma once

#include <keyway/backends/cpu/convolution.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace keyway::inline v1::onednn {

// Everything that a convolution depends on. Strides are of x, w and y, by dimension.
struct ConvKey {
  ConvPass pass;
  bool bias;    // forward: whether one number for each output channel is added, of float32
  bool narrow;  // what is read is bfloat16; the result is float32 either way
  ConvProblem problem;
  std::array<std::int64_t, 5> strides[3];

  friend bool operator==(const ConvKey&, const ConvKey&) = default;
  std::size_t hash() const;
};

class Convolution {
 public:
  // From a cache of those used last. Null if oneDNN has none that is fit (refuse_unfit).
  static std::shared_ptr<const Convolution> get(const ConvKey& key);
  explicit Convolution(const ConvKey& key);
  ~Convolution();

  // In the passes that read w it may want w in an order of its own, which all runs share: `weights_bytes` for
  // it, 0 if it takes w as it is, and what puts it there.
  std::size_t weights_bytes() const;
  void order_weights(const void* w, void* ordered) const;
  // For a run, beside the operands.
  std::size_t scratch_bytes() const;
  // `w` is what order_weights made, if weights_bytes() is not 0; `bias` is read if the key has one. Threads may
  // run it at once, each with its scratch, which is aligned to 64.
  void run(const void* x, const void* w, const void* y, const float* bias, void* scratch) const;

 private:
  struct Parts;
  struct Execution;
  class Borrowed;
  std::unique_ptr<const Parts> parts_;
  mutable std::atomic<Execution*> spare_[4] = {};  // that no run uses; more threads make their own
};

}  // namespace keyway::inline v1::onednn
