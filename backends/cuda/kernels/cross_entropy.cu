// Cross entropy of rows of logits and the classes they are of: neither log-probabilities nor the gradient of each are
// in memory. A row is read once for the loss, and once for its gradient, which is written once. What is kept of it is
// `normalizer`: its greatest element, and the logarithm of the sum of exp(x - greatest).
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/kernels_loss.h>
#include <keyway/backends/cuda/kernels/losses.cuh>
#include <keyway/backends/cuda/kernels/top_and_sum.cuh>
#include <keyway/core/dtype/visit_dtype.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Operands: the pair of the row, self.
template <typename T>
struct NormalizerOfRow {
  static constexpr int kWidth = kPieceOf<T>;

  __device__ void operator()(const Row<2>& row, auto held) const {
    using Acc = Opmath<T>;
    const auto x = values_of(
        row, held, [](T element) { return opmath(element); }, Operand<T>{1});
    const auto all = top_and_sum<Acc>(x);
    if (!row.leads()) return;
    Acc* const pair = &row.at<Acc>(0, 0);
    // Where no number is greater than minus infinity, TopAndSum has none.
    const bool has_top = all.top > std::numeric_limits<Acc>::lowest() || all.sum > 0;
    pair[0] = has_top ? all.top : -std::numeric_limits<Acc>::infinity();
    pair[1] = has_top ? std::log(all.sum) : std::numeric_limits<Acc>::quiet_NaN();
  }
};

// Lists of what there is one of for a row.
template <typename T>
struct RowNumbers {
  const std::int64_t* targets;
  const Opmath<T>* normalizers;
  const T* grad;  // of the loss
  std::int64_t grad_step;
  const T* divisor;  // of all; null is 1
};

// With g' = weight g, g the gradient of the row's loss, that of the row is g' (softmax(x) - 1 at the target).
// Operands: grad_input, self, the row's number.
template <typename T>
struct CrossEntropyBackward {
  static constexpr const char* kElementError = kBadTarget;
  static constexpr int kWidth = kPieceOf<T>;
  Classes<T> classes;
  RowNumbers<T> of;

  __device__ bool operator()(const Row<3>& row, auto held) const {
    using Acc = Opmath<T>;
    if (row.n() == 0) return true;
    const std::int64_t r = row.number(2), target = of.targets[r];
    if (!classes.has(target)) return false;
    const bool counts = target != classes.ignored;
    const Acc divisor = of.divisor != nullptr ? opmath(*of.divisor) : Acc(1);
    const Acc scale = counts ? classes.weight(target) * opmath(of.grad[r * of.grad_step]) / divisor : Acc(0);
    const Acc top = of.normalizers[2 * r], log_sum = of.normalizers[2 * r + 1];
    const auto log = [=](T element) { return opmath(element) - top - log_sum; };
    const auto logs = values_of(row, held, log, Operand<T>{1});
    const auto slope = [&](Acc x, std::int64_t i) {
      if (!counts) return Acc(0);
      return scale * (i == target ? std::expm1(x) : std::exp(x));
    };
    logs.template write<T>(0, slope, Index());
    return true;
  }
};

// [rows, 1], of the first of each pair.
TensorBase first_of_pairs(const TensorBase& pairs) {
  return make_view(pairs, {pairs.numel() / 2, 1}, {2, 1}, pairs.storage_offset());
}

}  // namespace

void _cross_entropy_forward(const TensorBase& self, const TensorBase& target, const TensorBase& weight,
                            std::int64_t reduction, std::int64_t ignore_index, TensorBase& output,
                            TensorBase& total_weight, TensorBase& normalizer) {
  const TensorBase from = with_rows(self), targets = as_column(contiguous_as(target, kLong));
  const TensorBase weights = contiguous(weight), normalizers = first_of_pairs(normalizer);
  visit_floating(self.dtype(), "_cross_entropy_forward", [&]<typename T>() {
    if (targets.numel() > 0) {
      RowSpace row_space(from.sizes(), 1);
      rows_of_values<2>(row_space.tensor(normalizers).tensor(from), NormalizerOfRow<T>{}, self.device());
    }
    const Classes<T> classes{data_or_null<const T>(weights), from.sizes()[1], ignore_index};
    write_losses<T>(NormalizedLog<T>{from.strides()[1]}, from, targets, normalizers, classes,
                    reduction == Reduction::Mean, output, total_weight);
  });
}

void _cross_entropy_backward(const TensorBase& grad_output, const TensorBase& self, const TensorBase& target,
                             const TensorBase& weight, std::int64_t reduction, std::int64_t ignore_index,
                             const TensorBase& total_weight, const TensorBase& normalizer, TensorBase& result) {
  if (self.numel() == 0) return;
  const TensorBase from = with_rows(self), to = with_rows(result);
  const TensorBase targets = contiguous_as(target, kLong), weights = contiguous(weight);
  const TensorBase normalizers = contiguous(normalizer);
  visit_floating(self.dtype(), "_cross_entropy_backward", [&]<typename T>() {
    const Classes<T> classes{data_or_null<const T>(weights), from.sizes()[1], ignore_index};
    const RowNumbers<T> of{data_or_null<const std::int64_t>(targets), data_or_null<const Opmath<T>>(normalizers),
                           data_or_null<const T>(grad_output), grad_output.numel() > 1 ? grad_output.strides()[0] : 0,
                           reduction == Reduction::Mean ? data_or_null<const T>(total_weight) : nullptr};
    RowSpace row_space(from.sizes(), 1);
    rows_of_values<3>(row_space.tensor(to).tensor(from).number(), CrossEntropyBackward<T>{classes, of}, self.device());
  });
}

}  // namespace keyway::inline v1::cuda
