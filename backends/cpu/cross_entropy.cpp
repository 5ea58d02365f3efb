// Cross entropy of rows of logits and the classes they are of: log-probabilities, and the gradient of each, are never
// in memory. Of a row two numbers are kept, `normalizer`: its greatest element, and the logarithm of the sum of
// exp(x - greatest); log_softmax(x) is x - greatest - logarithm.
#include <keyway/backends/cpu/decaying_exp.h>
#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/losses.h>
#include <keyway/backends/cpu/row_loop.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/visit_dtype.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1 {

namespace {

// Rows `first` and on of the logits; 16-bit ones come as float32.
template <typename Acc>
struct NormalizerRows {
  Acc* normalizer;
  std::int64_t width;
  const Acc* input = nullptr;
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const x = input + (r - first) * width;
    const Acc top = lane_max<Acc>(width, [x](std::int64_t i) { return x[i]; });
    normalizer[2 * r] = top;
    normalizer[2 * r + 1] =
        std::log(lane_sum<Acc>(width, [x, top](std::int64_t i) { return decaying_exp(x[i] - top); }));
  }
};

// With g' = weight g, g the gradient of the row's loss, that of the row is g' (softmax(x) - 1 at the target).
template <typename Acc>
struct CrossEntropyGradients {
  const Acc* normalizer;
  const Acc* scale;  // g' of each row
  const TargetRows* rows;
  std::int64_t width;
  const Acc* input = nullptr;
  Acc* out = nullptr;
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const x = input + (r - first) * width;
    Acc* const to = out + (r - first) * width;
    if (!rows->counts(r)) {
      for (std::int64_t i = 0; i < width; ++i) to[i] = 0;
      return;
    }
    const std::int64_t target = rows->target[r];
    const Acc g = scale[r], top = normalizer[2 * r], log_sum = normalizer[2 * r + 1];
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) to[i] = g * decaying_exp(x[i] - top - log_sum);
    to[target] = g * std::expm1(x[target] - top - log_sum);
  }
};

// Runs `work` over `count` rows from `from` and, if it writes some, to `to`; both are row-major. Rows of 16-bit floats
// are float32 meanwhile, some at a time, which stay in a cache.
template <typename Acc, typename Work>
void run_wide_rows(const Work& work, std::int64_t count, const TensorBase& from, const TensorBase& to) {
  constexpr bool writes = requires { work.out; };
  const ScalarType dtype = from.dtype();
  const auto on = [&](const Acc* input, Acc* out) {
    Work part = work;
    part.input = input;
    if constexpr (writes) part.out = out;
    return part;
  };
  if (dtype == cpp_type_to_scalar_type<Acc>) {
    Acc* const out = writes ? static_cast<Acc*>(to.data_ptr()) : nullptr;
    return run_rows(on(static_cast<const Acc*>(from.data_ptr()), out), count);
  }
  const Level level = current_level();
  const detail::ElementCast widen(kFloat, dtype, level), round(dtype, kFloat, level);
  const detail::Loop run = detail::kLoopsOf<detail::RowsBody, Work>[level];
  const std::int64_t width = std::max<std::int64_t>(1, work.width), bytes = width * from.itemsize();
  const std::int64_t block = std::max<std::int64_t>(1, 4096 / width), grain = kElementGrain / (block * width);
  parallel_for(0, (count + block - 1) / block, std::max<std::int64_t>(1, grain), [&](std::int64_t b, std::int64_t end) {
    ScratchArray<Acc> input(block * width), out(writes ? block * width : 0);
    for (; b < end; ++b) {
      Work part = on(input.data(), out.data());
      part.first = part.begin = b * block;
      part.end = std::min(count, part.begin + block);
      const std::int64_t n = (part.end - part.begin) * work.width;
      widen.run(input.data(), static_cast<const char*>(from.data_ptr()) + part.begin * bytes, n);
      run(&part, nullptr, 0);
      if constexpr (writes) {
        round.run(static_cast<char*>(to.data_ptr()) + part.begin * bytes, out.data(), n);
      }
    }
  });
}

}  // namespace

namespace cpu {

void _cross_entropy_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                            std::int64_t reduction, std::int64_t ignore_index, TensorBase& output,
                            TensorBase& total_weight, TensorBase& normalizer) {
  const TensorBase from = contiguous(self);
  const TargetRows rows(from, target, ignore_index);
  visit_floating(self.dtype(), "_cross_entropy_forward", [&]<typename T>() {
    const T* const x = static_cast<const T*>(from.data_ptr());
    const ContiguousOut out(normalizer);
    auto* const of = out.data<Opmath<T>>();
    run_wide_rows<Opmath<T>>(NormalizerRows<Opmath<T>>{of, rows.classes}, rows.count, from, TensorBase());
    write_losses<T>([&](std::int64_t i) { return opmath(x[rows.place(i)]) - of[2 * i] - of[2 * i + 1]; }, rows,
                    ClassWeights<T>(weight), reduction, output, total_weight);
    out.finish();
  });
}

void _cross_entropy_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                             const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                             const TensorBase& total_weight, const TensorBase& normalizer, TensorBase& result) {
  const TensorBase from = contiguous(self), normalizers = contiguous(normalizer);
  const TargetRows rows(from, target, ignore_index);
  visit_floating(self.dtype(), "_cross_entropy_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    const ClassWeights<T> weights(weight);
    const LossGradients<T> gradients(grad_output, reduction, total_weight);
    ScratchArray<Acc> scales(rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      if (rows.counts(i)) scales[i] = weights(rows.target[i]) * gradients(i);
    }
    const ContiguousOut out(result);
    const CrossEntropyGradients<Acc> work{static_cast<const Acc*>(normalizers.data_ptr()), scales.data(), &rows,
                                          rows.classes};
    run_wide_rows<Acc>(work, rows.count, from, out.tensor());
    out.finish();
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
