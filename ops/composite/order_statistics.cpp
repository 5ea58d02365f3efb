// Elements by their rank: medians, quantiles, the k-th and the most frequent.
#include <keyway/ops/all.h>
#include <keyway/ops/statistics_composites.h>

#include <limits>
#include <tuple>
#include <utility>

namespace keyway::inline v1::composite {

namespace {

using Found = std::tuple<Tensor, Tensor>;

// A tensor without dimensions is its only element.
Found only_element(const Tensor& self) {
  return {self.clone(), keyway::zeros({}, TensorOptions(self.device()).dtype(kLong))};
}

// Of sorted lines the elements of `ranks`, of size 1 along `dim`.
Found picked(const Found& sorted, std::int64_t dim, const Tensor& ranks, bool keepdim) {
  const auto& [values, indices] = sorted;
  const Tensor value = values.gather(dim, ranks), index = indices.gather(dim, ranks);
  if (keepdim) return {value, index};
  return {value.squeeze(dim), index.squeeze(dim)};
}

// Of lines in no order the elements of `ranks`.
Found in_order(const Tensor& self, std::int64_t dim, const Tensor& ranks, bool keepdim) {
  const auto [value, index] = keyway::_order_statistic(self, ranks, dim);
  if (keepdim) return {value, index};
  return {value.squeeze(dim), index.squeeze(dim)};
}

// The same where all lines have one rank.
Found in_order(const Tensor& self, std::int64_t dim, std::int64_t rank, bool keepdim) {
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<std::size_t>(wrap_dim(dim, self.dim()))] = 1;
  return in_order(self, dim, keyway::full(sizes, rank, TensorOptions(self.device()).dtype(kLong)), keepdim);
}

// The middle of each line. NaN are last in order: the first of them is the median, or they do not count.
Found middle(const Tensor& self, std::int64_t dim, bool keepdim, bool skips_nan) {
  if (self.dim() == 0) return only_element(self);
  const std::int64_t n = self.size(dim);
  if (!self.is_floating_point()) return in_order(self, dim, (n - 1) / 2, keepdim);
  const Tensor nans = self.isnan().sum(dim, /*keepdim=*/true);
  const Tensor ranks =
      skips_nan ? (n - 1 - nans).clamp(0).bitwise_right_shift(1) : keyway::where(nans > 0, n - nans, (n - 1) / 2);
  return in_order(self, dim, ranks, keepdim);
}

Tensor middle_of_all(const Tensor& self, bool skips_nan) {
  if (self.numel() == 0) return keyway::full({}, std::numeric_limits<double>::quiet_NaN(), self.options());
  return std::get<0>(middle(self.reshape({self.numel()}), 0, false, skips_nan));
}

// The elements of fractional ranks of sorted lines, which lie along the last dimension.
Tensor between(const Tensor& sorted, const Tensor& ranks, std::string_view interpolation) {
  if (interpolation == "lower") return sorted.gather(-1, ranks.floor().to(kLong));
  if (interpolation == "higher") return sorted.gather(-1, ranks.ceil().to(kLong));
  if (interpolation == "nearest") return sorted.gather(-1, ranks.round().to(kLong));
  const Tensor floor = ranks.floor();
  const Tensor below = sorted.gather(-1, floor.to(kLong)), above = sorted.gather(-1, ranks.ceil().to(kLong));
  return interpolation == "midpoint" ? below.lerp(above, 0.5) : below.lerp(above, (ranks - floor).to(below.dtype()));
}

Tensor quantiles(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool skips_nan) {
  if (q.is_cpu() && q.numel() > 0) {
    const Tensor inside = (q >= 0).logical_and(q <= 1);
    keyway::_assert_async(inside.all(), "q must be in [0, 1]");
  }
  const bool one_line = !dim || self.dim() == 0;
  const std::int64_t at = one_line ? 0 : wrap_dim(*dim, self.dim());
  const Tensor lines = one_line ? self.reshape({self.numel()}) : self.movedim(at, -1);
  const std::int64_t last = lines.size(-1) - 1;
  const Tensor nans = lines.isnan().sum(-1, /*keepdim=*/true);
  constexpr std::int64_t kExactInFloat = 1 << 24;
  const Tensor steps = q.reshape({q.numel()}).to(last < kExactInFloat ? q.dtype() : kDouble);
  const Tensor ranks =
      skips_nan ? (last - nans).clamp(0).to(steps.dtype()) * steps : (steps * last).masked_fill(nans > 0, last);
  Tensor result = between(std::get<0>(lines.sort(/*stable=*/true, -1, false)), ranks, interpolation).movedim(-1, 0);
  if (keepdim && one_line) {
    DimVector sizes(static_cast<std::size_t>(self.dim()) + 1, 1);
    sizes[0] = q.numel();
    result = result.reshape(sizes);
  } else if (keepdim) {
    result = result.unsqueeze(at + 1);
  }
  return q.dim() == 0 ? result.squeeze(0) : result;
}

}  // namespace

Found kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim) {
  if (self.dim() == 0) return only_element(self);
  return in_order(self, dim, k - 1, keepdim);
}

Tensor median(const Tensor& self) { return middle_of_all(self, /*skips_nan=*/false); }

Found median_dim(const Tensor& self, std::int64_t dim, bool keepdim) { return middle(self, dim, keepdim, false); }

Tensor nanmedian(const Tensor& self) { return middle_of_all(self, /*skips_nan=*/true); }

Found nanmedian_dim(const Tensor& self, std::int64_t dim, bool keepdim) { return middle(self, dim, keepdim, true); }

// Equal elements stand together in order. Each counts those before it, from where they begin; the first of the greatest
// counts is the last of the least of the most frequent.
Found mode(const Tensor& self, std::int64_t dim, bool keepdim) {
  if (self.dim() == 0) return only_element(self);
  const std::int64_t at = wrap_dim(dim, self.dim()), n = self.size(at);
  const Found sorted = self.sort(/*stable=*/true, at, false);
  const Tensor& values = std::get<0>(sorted);
  DimVector along(self.sizes().size(), 1);
  along[static_cast<std::size_t>(at)] = n;
  const Tensor positions = keyway::arange(n, TensorOptions(self.device()).dtype(kLong)).reshape(along);
  const Tensor begins = values.narrow(at, 1, n - 1).ne(values.narrow(at, 0, n - 1));
  const Tensor later = keyway::where(begins, positions.narrow(at, 1, n - 1), 0);
  const Tensor first = keyway::zeros_like(values.narrow(at, 0, 1), TensorOptions().dtype(kLong));
  const Tensor counts = positions - std::get<0>(keyway::cat({first, later}, at).cummax(at));
  return picked(sorted, at, counts.argmax(at, /*keepdim=*/true), keepdim);
}

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, /*skips_nan=*/false);
}

Tensor quantile_number(const Tensor& self, double q, std::optional<std::int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  return quantiles(self, keyway::full({}, q, self.options()), dim, keepdim, interpolation, /*skips_nan=*/false);
}

Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, /*skips_nan=*/true);
}

Tensor nanquantile_number(const Tensor& self, double q, std::optional<std::int64_t> dim, bool keepdim,
                          std::string_view interpolation) {
  return quantiles(self, keyway::full({}, q, self.options()), dim, keepdim, interpolation, /*skips_nan=*/true);
}

}  // namespace keyway::inline v1::composite
