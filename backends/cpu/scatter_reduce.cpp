// scatter_reduce: each element is the sum, product, mean or extreme of the elements of src that are sent to it,
// and of its own unless that is left out.
#include <keyway/backends/cpu/kernels_scatter.h>
#include <keyway/backends/cpu/scatter_targets.h>
#include <keyway/backends/cpu/sum_of.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/extrema.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

// Where a sum has several terms, it is divided by their number; of integers the quotient is rounded down. T is what
// sums are kept in.
template <typename T>
void divide_by_counts(const Scatter& operands, bool include_self) {
  const TensorBase counts = make_tensor(operands.out.sizes(), kLong, DeviceType::CPU);
  auto* const count = static_cast<std::int64_t*>(counts.data_ptr());
  std::fill(count, count + counts.numel(), std::int64_t{0});
  each_target<std::int64_t>({&operands.index, &counts}, operands.dim,
                            [](std::int64_t& n, std::int64_t, std::int64_t, const Panel&) { ++n; });
  const std::int64_t own = include_self ? 1 : 0, size = length(operands.out, operands.dim);
  for_each_panel({&operands.out, &counts}, operands.dim, size, 64, [&](const Panel& panel) {
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < panel.lines; ++j) {
        const std::int64_t n = *panel.at<const std::int64_t>(1, i, j);
        T& x = *panel.at<T>(0, i, j);
        if (n == 0) continue;
        if constexpr (IntegerElement<T>) {
          // Wide enough for every integer and every count.
          __extension__ using Wide = __int128;
          const Wide sum = x, terms = n + own, quotient = sum / terms;
          x = static_cast<T>(quotient * terms > sum ? quotient - 1 : quotient);
        } else {
          x = static_cast<T>(x / static_cast<T>(n + own));
        }
      }
    }
  });
}

// The targets are Accs, the elements of src Ts.
template <typename Acc, typename T>
void reduce_into(const Scatter& operands, std::string_view reduce, bool include_self) {
  const auto run = [&](Acc identity, const auto& combine) {
    if (!include_self) operands.fill(identity);
    operands.combine<Acc, T>(combine);
  };
  if (reduce == "sum" || reduce == "mean") {
    run(Acc(), SumOf<Acc>());
    if (reduce == "mean") divide_by_counts<Acc>(operands, include_self);
  } else if (reduce == "prod") {
    run(static_cast<Acc>(1), Mul<Acc>{});
  } else if (reduce == "amax") {
    run(lowest_value<Acc>(), Maximum<Acc>{});
  } else {
    run(highest_value<Acc>(), Minimum<Acc>{});
  }
}

}  // namespace

namespace cpu {

void scatter_reduce_two(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                        std::string_view reduce, bool include_self, TensorBase& out) {
  const Scatter operands(self, dim, index, &src, out);
  if (operands.empty()) return;
  visit_dtype<kRealTypes | kBool>(self.dtype(), "scatter_reduce", [&]<typename T>() {
    operands.with_wide_targets<T>(
        [&]<typename Acc>(const Scatter& wide) { reduce_into<Acc, T>(wide, reduce, include_self); });
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
