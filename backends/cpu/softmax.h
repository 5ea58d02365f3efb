// What softmax and its gradient share: lines of operands, one after another or side by side.
//
// An operator is a struct with
//   static void line(std::int64_t n, const Panel& panel, std::int64_t j);   a line that is contiguous
//   static void columns(std::int64_t n, const auto& columns, const auto& math);   lines of any strides, as Columns
// whose bodies are always inlined, into one function per instruction-set level.
#pragma once

#include <keyway/backends/cpu/decaying_exp.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/panel.h>
#include <keyway/core/dtype/cpp_type.h>

#include <concepts>
#include <cstdint>

namespace keyway::inline v1::detail {

// Lines of a panel: their maxima and sums stay in the first-level cache.
inline constexpr std::int64_t kSoftmaxWidth = 64;
// Terms added one after another, before the sum joins the total.
inline constexpr std::int64_t kSoftmaxBlock = 64;

// The lines of a panel, side by side. `adjacent`: elements of neighbours are neighbours in all operands, so that a row
// of them is vector code.
template <bool adjacent>
struct Columns {
  const Panel& panel;

  // Element i of line j of operand k.
  template <typename T>
  [[gnu::always_inline]] T& at(int k, std::int64_t i, std::int64_t j) const {
    if constexpr (adjacent) {
      return reinterpret_cast<T*>(panel.data[k] + i * panel.step[k])[j];
    } else {
      return *panel.at<T>(k, i, j);
    }
  }
};

struct SoftmaxTask {
  const Panel* panel;
  std::int64_t length;
  bool contiguous;  // lines are
  bool adjacent;    // elements of neighbours are
};

template <SimdLevel level, typename Op>
struct SoftmaxBody {
  [[gnu::always_inline]] static void run(const void* context, char* const*, std::int64_t) {
    const SoftmaxTask& task = *static_cast<const SoftmaxTask*>(context);
    constexpr simd::VectorMath<level> kMath;
    if (!task.contiguous && task.adjacent) return Op::columns(task.length, Columns<true>{*task.panel}, kMath);
    if constexpr (level == SimdLevel::Baseline) {  // what lies apart is no vector code: one level has it for all
      if (!task.contiguous) return Op::columns(task.length, Columns<false>{*task.panel}, kMath);
    }
    for (std::int64_t j = 0; j < task.panel->lines; ++j) Op::line(task.length, *task.panel, j);
  }
};

// Adds term(i, j) over i to sum[j], for n rows of `lines`. A term may write what no other reads.
template <typename Acc, typename F>
[[gnu::always_inline]] inline void add_rows(std::int64_t n, std::int64_t lines, Acc* sum, const F& term) {
  for (std::int64_t j = 0; j < lines; ++j) sum[j] = 0;
  for (std::int64_t begin = 0; begin < n; begin += kSoftmaxBlock) {
    const std::int64_t end = std::min(n, begin + kSoftmaxBlock);
    Acc part[kSoftmaxWidth] = {};
    for (std::int64_t i = begin; i < end; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) part[j] += term(i, j);
    }
    for (std::int64_t j = 0; j < lines; ++j) sum[j] += part[j];
  }
}

// Runs Op over the lines of the operands along `dim`. The first is the output.
template <typename Op>
void run_lines(std::initializer_list<const TensorBase*> operands, std::int64_t dim) {
  const TensorBase& out = **operands.begin();
  if (out.numel() == 0) return;
  const std::int64_t length = out.dim() == 0 ? 1 : out.sizes()[static_cast<std::size_t>(dim)];
  bool contiguous = true;
  for (const TensorBase* operand : operands) {
    const bool unit = operand->dim() == 0 || operand->strides()[static_cast<std::size_t>(dim)] == 1;
    contiguous = contiguous && (unit || length == 1);
  }
  constexpr const LevelTable<Loop>& kLoop = kLoopsOf<SoftmaxBody, Op>;
  for_each_panel(operands, dim, length, kSoftmaxWidth, [&](const Panel& panel) {
    bool adjacent = true;
    for (std::size_t k = 0; k < operands.size(); ++k)
      adjacent = adjacent && panel.next[k] == static_cast<std::int64_t>(out.itemsize());
    const SoftmaxTask task{&panel, length, contiguous, adjacent};
    kLoop[contiguous || adjacent ? current_level() : SimdLevel::Baseline](&task, nullptr, 0);
  });
}

// The same of Op<double> or Op<float>: what has 16 bits is computed as float32, in copies, and rounded once.
template <template <typename> typename Op, std::same_as<TensorBase>... In>
void run_softmax(const TensorBase& out, std::int64_t dim, const In&... inputs) {
  const auto run = [&]<typename T>(T) {
    constexpr ScalarType dtype = cpp_type_to_scalar_type<T>;
    const TensorBase result = out.dtype() == dtype ? out : make_tensor(out.sizes(), dtype, out.device());
    const auto run_wide = [&](const In&... wide) { run_lines<Op<T>>({&result, &wide...}, dim); };
    run_wide((inputs.dtype() == dtype ? inputs : contiguous_as(inputs, dtype))...);
    if (!result.is_same(out)) copy_elements(result, out);
  };
  return ((inputs.dtype() == kDouble) && ...) ? run(double()) : run(float());
}

}  // namespace keyway::inline v1::detail
