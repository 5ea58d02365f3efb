// randperm and multinomial, with the CPU's numbers (backends/cpu/random.cpp, multinomial.cpp).
//
// What is drawn without replacement comes in the stable order of random keys (order.h), which bounds it. Running sums
// of weights are added up in the order of the CPU, since their last bits decide what is drawn: those of a segment by a
// thread, to which comes what all segments before have.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/rows.cuh>
#include <keyway/backends/cuda/kernels/kernels_random.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/order.h>
#include <keyway/ops/functors/random.h>
#include <keyway/ops/rules/random.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Random bits, in the order of unsigned numbers. Operands: the key, its number.
struct RandomKey {
  PhiloxCall call;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const std::uint64_t bits = call.bits(static_cast<std::uint64_t>(element.number(1))).wide(0);
    element.at<std::int64_t>(0) = static_cast<std::int64_t>(bits ^ std::uint64_t{1} << 63);
  }
};

// The time of a class, which is not negative and so in the order of its bits; those without a weight come last.
// Operands: the key, the weight, their number.
struct TimeKey {
  PhiloxCall call;

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const double weight = element.at<const double>(1);
    const double time =
        weight > 0 ? Waiting{call}(element.number(2)) / weight : std::numeric_limits<double>::infinity();
    element.at<std::int64_t>(0) = keyway::detail::bit_cast<std::int64_t>(time);
  }
};

// What is known of a row of weights.
struct Verdict {
  bool valid;
  std::int64_t positive;
  double sum;
};

// Operands: the weights.
struct CheckWeights {
  static constexpr const char* kElementError =
      "argument 'self' has a weight that is negative or not finite, a row with too few that are not zero, or one whose "
      "sum is infinite";
  std::int64_t needed;

  __device__ bool operator()(const Row<1>& row) const {
    const Verdict all = row.fold(
        Verdict{true, 0, 0},
        [&](const Verdict& v, std::int64_t i) {
          const double weight = row.at<const double>(0, i);
          return Verdict{v.valid && weight >= 0 && std::isfinite(weight), v.positive + (weight > 0 ? 1 : 0),
                         v.sum + weight};
        },
        [](const Verdict& a, const Verdict& b) {
          return Verdict{a.valid && b.valid, a.positive + b.positive, a.sum + b.sum};
        });
    return row.n() == 0 || (all.valid && all.positive >= needed && std::isfinite(all.sum));
  }
};

// Running sums of a segment of a row of weights. Operands: the last class of it with a weight, or 0; the line of
// weights, that of sums, the segment's number in the row.
struct AddWeights {
  std::int64_t classes;

  __device__ void operator()(const Element<4>& element) const {
    const double* const weights = &element.at<const double>(1);
    double* const sums = &element.at<double>(2);
    const std::int64_t first = element.number(3) * kSummedWeights;
    const std::int64_t end = first + kSummedWeights < classes ? first + kSummedWeights : classes;
    double sum = 0;
    std::int64_t last = 0;
#pragma unroll 4
    for (std::int64_t c = first; c < end; ++c) {
      sum += weights[c];
      sums[c] = sum;
      if (weights[c] > 0) last = c;
    }
    element.at<std::int64_t>(0) = last;
  }
};

// Operands: the last class of a row with a weight, the line of those of its segments, that of its running sums, and
// that of what segments begin with.
struct AddSegments {
  std::int64_t segments;

  __device__ void operator()(const Element<4>& element) const {
    const std::int64_t* const lasts = &element.at<const std::int64_t>(1);
    const double* const sums = &element.at<const double>(2);
    double* const before = &element.at<double>(3);
    double sum = 0;
    std::int64_t last = 0;
#pragma unroll 4
    for (std::int64_t s = 0; s < segments; ++s) {
      before[s] = sum;
      if (s + 1 < segments) sum += sums[(s + 1) * kSummedWeights - 1];
      if (lasts[s] > last) last = lasts[s];
    }
    element.at<std::int64_t>(0) = last;
  }
};

// Operands: the running sum in its segment, which becomes that in the row; the line of what segments begin with; the
// class.
struct AddBefore {
  KEYWAY_HD void operator()(const Element<3>& element) const {
    double& sum = element.at<double>(0);
    sum = (&element.at<const double>(1))[element.number(2) / kSummedWeights] + sum;
  }
};

// The first class whose sum is above a share of the last one. Operands: out, the line of sums, the last class with a
// weight, the number of the sample.
struct DrawWith {
  PhiloxCall call;
  std::int64_t classes;

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const double* const sums = &element.at<const double>(1);
    const std::int64_t last = element.at<const std::int64_t>(2);
    const double u =
        uniform_double(call.bits(static_cast<std::uint64_t>(element.number(3))).wide(0)) * sums[classes - 1];
    std::int64_t begin = 0, end = classes;
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (sums[middle] > u) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    element.at<std::int64_t>(0) = begin < last ? begin : last;
  }
};

// [rows, n] of [n] or [rows, n].
TensorBase as_rows(const TensorBase& tensor) {
  if (tensor.dim() == 2) return tensor;
  return make_view(tensor, {1, tensor.sizes()[0]}, {0, tensor.strides()[0]}, tensor.storage_offset());
}

// Running sums of rows of weights, and of each row the last class with a weight.
struct SummedWeights {
  TensorBase sums, last;

  explicit SummedWeights(const TensorBase& weights) : sums(make_tensor(weights.sizes(), kDouble, weights.device())) {
    const Device device = weights.device();
    const std::int64_t rows = weights.sizes()[0], classes = weights.sizes()[1];
    const std::int64_t segments = (classes + kSummedWeights - 1) / kSummedWeights;
    const TensorBase lasts = make_tensor({rows, segments}, kLong, device);
    each<4>(ElementSpace(lasts.sizes()).tensor(lasts).line(weights, 1).line(sums, 1).coordinate(1).space(),
            AddWeights{classes}, device);
    last = lasts;
    if (segments == 1) return;
    last = make_tensor({rows, 1}, kLong, device);
    const TensorBase before = make_tensor({rows, segments}, kDouble, device);
    each<4>(ElementSpace(last.sizes()).tensor(last).line(lasts, 1).line(sums, 1).line(before, 1).space(),
            AddSegments{segments}, device);
    each<3>(ElementSpace(sums.sizes()).tensor(sums).line(before, 1).coordinate(1).space(), AddBefore{}, device);
  }
};

}  // namespace

void multinomial(const TensorBase& self, std::int64_t num_samples, bool replacement, const Generator& generator,
                 TensorBase& out) {
  const PhiloxCall call = next_call(generator, self.device());
  if (self.numel() == 0) return;
  const TensorBase weights = as_rows(contiguous_as(self, kDouble)), to = as_rows(out);
  const std::int64_t rows = weights.sizes()[0], classes = weights.sizes()[1];
  cuda::rows<1>(RowSpace(weights.sizes(), 1).tensor(weights), CheckWeights{replacement ? 1 : num_samples},
                self.device());
  if (!replacement) {
    const TensorBase keys = make_tensor(weights.sizes(), kLong, self.device());
    each<3>(ElementSpace(keys.sizes()).tensor(keys).tensor(weights).number().space(), TimeKey{call}, self.device());
    const TensorBase order = stable_row_order(keys, num_samples);
    return copy_elements(make_view(order, {rows, num_samples}, order.strides(), 0), to);
  }
  const SummedWeights running(weights);
  each<4>(ElementSpace(to.sizes()).tensor(to).line(running.sums, 1).tensor(running.last).number().space(),
          DrawWith{call, classes}, self.device());
}

void randperm_generator(std::int64_t n, const Generator& generator, TensorBase& out) {
  rules::check_permutation(out.dtype(), n);
  const PhiloxCall call = next_call(generator, out.device());
  if (n == 0) return;
  const TensorBase keys = make_tensor({n}, kLong, out.device());
  each<2>(ElementSpace(keys.sizes()).tensor(keys).number().space(), RandomKey{call}, out.device());
  copy_elements(stable_order(keys), out);
}

}  // namespace keyway::inline v1::cuda
