// Reductions, and what else goes along a dimension.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx {

namespace {

using Axes = std::vector<std::int64_t>;

Tensor sum_over(const Tensor& x, const Axes& axes) { return sum(x, OptionalIntArrayRef(axes), true, x.dtype()); }
Tensor mean_over(const Tensor& x, const Axes& axes) {
  if (x.is_floating_point()) return mean(x, OptionalIntArrayRef(axes), true);
  return mean(x.to(kDouble), OptionalIntArrayRef(axes), true).to(x.dtype());
}

// The largest of no elements is the least number that there is, and the other way round.
Tensor extreme_over(const Tensor& x, const Axes& axes, bool largest) {
  Axes sizes = x.sizes().vec();
  bool is_of_none = false;
  for (const std::int64_t axis : axes) {
    is_of_none = is_of_none || x.size(axis) == 0;
    sizes[static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis)] = 1;
  }
  if (!is_of_none) return largest ? amax(x, axes, true) : amin(x, axes, true);
  if (x.dtype() == kBool) return full(sizes, Scalar(!largest), x.options());
  KEYWAY_CHECK(x.is_floating_point(), "{} of no elements of {} is not there", largest ? "the largest" : "the least",
               x.dtype());
  const double infinity = std::numeric_limits<double>::infinity();
  return full(sizes, Scalar(largest ? -infinity : infinity), x.options());
}
Tensor max_over(const Tensor& x, const Axes& axes) { return extreme_over(x, axes, true); }
Tensor min_over(const Tensor& x, const Axes& axes) { return extreme_over(x, axes, false); }
Tensor product_over(const Tensor& x, const Axes& axes) {
  Tensor result = x;
  for (const std::int64_t axis : axes) result = prod(result, axis, true, x.dtype());
  return result;
}
Tensor norm1_over(const Tensor& x, const Axes& axes) { return sum_over(abs(x), axes); }
Tensor squares_over(const Tensor& x, const Axes& axes) { return sum_over(mul(x, x), axes); }
// Of floats: integers are converted, and the result back.
template <typename F>
Tensor in_floats(const Tensor& x, F&& function) {
  return x.is_floating_point() ? function(x) : function(x.to(kDouble)).to(x.dtype());
}
Tensor norm2_over(const Tensor& x, const Axes& axes) {
  return in_floats(x, [&](const Tensor& f) { return sqrt(squares_over(f, axes)); });
}
Tensor log_sum_over(const Tensor& x, const Axes& axes) {
  return in_floats(x, [&](const Tensor& f) { return log(sum_over(f, axes)); });
}
Tensor log_sum_exp_over(const Tensor& x, const Axes& axes) {
  return in_floats(x, [&](const Tensor& f) { return logsumexp(f, axes, true); });
}

// Axes are an attribute, or an input of later versions. Without them all dimensions are reduced, or none.
template <Tensor (*over)(const Tensor&, const Axes&)>
Results reduce(const Call& call) {
  Tensor x = call.tensor(0);
  Axes axes = call.integers_of(1, "axes");
  const bool keeps = call.attribute("keepdims", 1) != 0;
  if (axes.empty() && call.attribute("noop_with_empty_axes", 0) != 0)
    return {squeeze(over(unsqueeze(x, -1), {-1}), -1)};
  if (axes.empty()) {
    for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
  }
  for (std::int64_t& axis : axes) axis = call.axis(axis, x.dim());
  std::ranges::sort(axes);
  if (x.dim() == 0) return {squeeze(over(unsqueeze(x, 0), {0}), 0)};
  const Tensor result = over(x, axes);
  return {keeps ? result : squeeze(result, axes)};
}

Results arg_extreme(const Call& call, bool largest) {
  Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  const bool keeps = call.attribute("keepdims", 1) != 0;
  const bool last = call.attribute("select_last_index", 0) != 0;
  if (last) x = flip(x, {axis});
  const Tensor at = largest ? argmax(x, axis, keeps) : argmin(x, axis, keeps);
  return {last ? rsub(at, Scalar(x.size(axis) - 1)) : at};
}
Results arg_max(const Call& call) { return arg_extreme(call, true); }
Results arg_min(const Call& call) { return arg_extreme(call, false); }

Tensor softmax_along(const Tensor& x, std::int64_t axis) { return softmax(x, axis); }
Tensor log_softmax_along(const Tensor& x, std::int64_t axis) { return log_softmax(x, axis); }
Tensor hardmax_along(const Tensor& x, std::int64_t axis) {
  const Tensor at = argmax(x, axis, true);
  return scatter(zeros_like(x), axis, at, Scalar(1));
}

// Before version 13 all dimensions from the axis on were one.
template <Tensor (*along)(const Tensor&, std::int64_t)>
Results along_axis(const Call& call) {
  const Tensor& x = call.tensor(0);
  if (call.version() >= 13) return {along(x, call.axis(call.attribute("axis", -1), x.dim()))};
  const std::int64_t axis = call.axis(call.attribute("axis", 1), x.dim(), true);
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < axis; ++i) rows *= x.size(i);
  std::int64_t columns = 1;
  for (std::int64_t i = axis; i < x.dim(); ++i) columns *= x.size(i);
  return {reshape(along(reshape(x, {rows, columns}), 1), x.sizes())};
}

Results cumulative_sum(const Call& call) {
  Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer(1), x.dim());
  const bool reverse = call.attribute("reverse", 0) != 0;
  if (reverse) x = flip(x, {axis});
  Tensor sums = cumsum(x, axis, x.dtype());
  if (call.attribute("exclusive", 0) != 0) sums = sub(sums, x);
  return {reverse ? flip(sums, {axis}) : sums};
}

// Of equal elements, the first comes first.
Results top_k(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t k = call.has(1) ? call.integer(1) : call.attribute("k");
  const std::int64_t axis = call.axis(call.attribute("axis", -1), x.dim());
  const bool largest = call.attribute("largest", 1) != 0;
  call.check(k >= 0 && k <= x.size(axis), "k is {}, for a dimension of {} elements", k, x.size(axis));
  const auto [values, indices] = sort(x, std::optional<bool>(true), axis, largest);
  return {slice(values, axis, 0, k, 1), slice(indices, axis, 0, k, 1)};
}

// Attributes of reductions, and the version whose axes are an input.
constexpr std::string_view kByAttribute = "axes keepdims";
constexpr std::string_view kByInput = "keepdims noop_with_empty_axes";

constexpr Operator kReductions[] = {
    {"ArgMax", 1, arg_max, 1, "axis keepdims"},
    {"ArgMax", 12, arg_max, 1, "axis keepdims select_last_index"},
    {"ArgMin", 1, arg_min, 1, "axis keepdims"},
    {"ArgMin", 12, arg_min, 1, "axis keepdims select_last_index"},
    {"CumSum", 11, cumulative_sum, 2, "exclusive reverse"},
    {"Hardmax", 1, along_axis<hardmax_along>, 1, "axis"},
    {"LogSoftmax", 1, along_axis<log_softmax_along>, 1, "axis"},
    {"ReduceL1", 1, reduce<norm1_over>, 1, kByAttribute},
    {"ReduceL1", 18, reduce<norm1_over>, 2, kByInput},
    {"ReduceL2", 1, reduce<norm2_over>, 1, kByAttribute},
    {"ReduceL2", 18, reduce<norm2_over>, 2, kByInput},
    {"ReduceLogSum", 1, reduce<log_sum_over>, 1, kByAttribute},
    {"ReduceLogSum", 18, reduce<log_sum_over>, 2, kByInput},
    {"ReduceLogSumExp", 1, reduce<log_sum_exp_over>, 1, kByAttribute},
    {"ReduceLogSumExp", 18, reduce<log_sum_exp_over>, 2, kByInput},
    {"ReduceMax", 1, reduce<max_over>, 1, kByAttribute},
    {"ReduceMax", 18, reduce<max_over>, 2, kByInput},
    {"ReduceMean", 1, reduce<mean_over>, 1, kByAttribute},
    {"ReduceMean", 18, reduce<mean_over>, 2, kByInput},
    {"ReduceMin", 1, reduce<min_over>, 1, kByAttribute},
    {"ReduceMin", 18, reduce<min_over>, 2, kByInput},
    {"ReduceProd", 1, reduce<product_over>, 1, kByAttribute},
    {"ReduceProd", 18, reduce<product_over>, 2, kByInput},
    {"ReduceSum", 1, reduce<sum_over>, 1, kByAttribute},
    {"ReduceSum", 13, reduce<sum_over>, 2, kByInput},
    {"ReduceSumSquare", 1, reduce<squares_over>, 1, kByAttribute},
    {"ReduceSumSquare", 18, reduce<squares_over>, 2, kByInput},
    {"Softmax", 1, along_axis<softmax_along>, 1, "axis"},
    {"TopK", 1, top_k, 1, "axis k", 2},
    {"TopK", 10, top_k, 2, "axis", 2},
    {"TopK", 11, top_k, 2, "axis largest sorted", 2},
};

}  // namespace

Family reduction_family() { return kReductions; }

}  // namespace keyway::inline v1::onnx
