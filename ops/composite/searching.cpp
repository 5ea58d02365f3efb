// Where elements belong in sequences in order; sets of elements.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/rules/contracts.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/ops/searching_composites.h>

#include <tuple>
#include <utility>

namespace keyway::inline v1::composite {

namespace {

using Unique = std::tuple<Tensor, Tensor, Tensor>;

Tensor long_numbers(std::int64_t count, const Tensor& like) {
  return keyway::arange(count, TensorOptions(like.device()).dtype(kLong));
}

// All values halve their stretch of the sequence at once, until it is empty. NaN is greater than all numbers.
Tensor positions_in(const Tensor& sequence, const Tensor& values, bool right) {
  const std::int64_t n = sequence.size(-1);
  const Tensor sought = sequence.dim() == 1 ? values.reshape({values.numel()}) : values;
  Tensor low = keyway::zeros(sought.sizes(), TensorOptions(sought.device()).dtype(kLong));
  Tensor high = keyway::full_like(low, n);
  const Tensor number = sequence.is_floating_point() ? sought.isnan().logical_not() : Tensor();
  for (std::int64_t width = n; width > 0; width /= 2) {
    const Tensor middle = (low + high).bitwise_right_shift(1);
    const Tensor there = sequence.gather(-1, middle.clamp(std::nullopt, n - 1));
    Tensor ends = right ? there > sought : there >= sought;
    if (number.defined()) ends = ends.logical_or(there.isnan().logical_and(number));
    const Tensor rises = ends.logical_not().logical_and(low < high);
    high = keyway::where(rises, high, middle);
    low = keyway::where(rises, middle + 1, low);
  }
  return low.reshape(values.sizes());
}

// Of rows, of which equal ones stand together, the first of each, and for each row the number of its first. On Meta
// the number of rows is not known.
struct Runs {
  Tensor first;    // which rows begin a run
  Tensor numbers;  // of each row: its run's
  Tensor counts;   // of each run: its rows
};
Runs runs_of(const Tensor& rows) {
  const std::int64_t n = rows.size(0);
  const Tensor all = long_numbers(n, rows);
  if (n == 0) return {all, all, all};
  Tensor begins = rows.narrow(0, 1, n - 1).ne(rows.narrow(0, 0, n - 1));
  if (begins.dim() > 1) begins = begins.reshape({n - 1, rows.numel() / n}).any(1);
  begins = keyway::cat({keyway::ones({1}, begins.options()), begins}, 0);
  const Tensor first = keyway::nonzero(begins).reshape({-1});
  const Tensor ends = keyway::cat({first.slice(0, 1), keyway::full({1}, n, first.options())}, 0);
  return {first, begins.cumsum(0) - 1, ends - first};
}

// What was not asked for is empty.
Unique of_runs(const Tensor& values, const Runs& runs, const Tensor& numbers, bool return_inverse, bool return_counts) {
  const Tensor none = keyway::zeros({0}, TensorOptions(values.device()).dtype(kLong));
  return {values, return_inverse ? numbers : none, return_counts ? runs.counts : none};
}

// The slices along `dim` as rows.
Tensor slices_of(const Tensor& self, std::int64_t dim) {
  const std::int64_t n = self.size(dim);
  return self.movedim(dim, 0).reshape({n, n == 0 ? 0 : self.numel() / n});
}

}  // namespace

Unique _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  const auto [values, order] = self.reshape({self.numel()}).sort(/*stable=*/true, 0, false);
  const Runs runs = runs_of(values);
  const Tensor numbers = keyway::zeros_like(order).scatter(0, order, runs.numbers).reshape(self.sizes());
  return of_runs(values.index_select(0, runs.first), runs, numbers, return_inverse, return_counts);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  return keyway::searchsorted(boundaries, self, out_int32, right);
}

Tensor bucketize_number(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return keyway::searchsorted(boundaries, self, out_int32, right);
}

// Where each element would stand among the others in order, it stands, or it is not among them.
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  (void)common_device({{"elements", elements}, {"test_elements", test_elements}});
  const ScalarType dtype = (Promotion() << elements << test_elements).result();
  const std::int64_t n = test_elements.numel();
  if (n == 0) return keyway::full_like(elements, invert, TensorOptions().dtype(kBool));
  const Tensor set = std::get<0>(test_elements.reshape({n}).to(dtype).sort(/*stable=*/true, 0, false));
  const Tensor sought = elements.to(dtype).reshape({elements.numel()});
  const Tensor there = set.index_select(0, positions_in(set, sought, false).clamp(std::nullopt, n - 1));
  return (invert ? there.ne(sought) : there.eq(sought)).reshape(elements.sizes());
}

Tensor isin_number(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  return invert ? elements.ne(test_element) : elements.eq(test_element);
}

Tensor isin_of_number(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return keyway::isin(number_beside(element, test_elements), test_elements, assume_unique, invert);
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  (void)common_device({{"sorted_sequence", sorted_sequence}, {"self", self}});
  const Tensor sequence = sorter ? sorted_sequence.gather(-1, *sorter) : sorted_sequence;
  const Tensor positions = positions_in(sequence, self, right || side == "right");
  return out_int32 ? positions.to(kInt) : positions;
}

Tensor searchsorted_number(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                           std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  return keyway::searchsorted(sorted_sequence, number_beside(self, sorted_sequence), out_int32, right, side, sorter);
}

Unique unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                          std::optional<std::int64_t> dim) {
  if (dim) {
    const Runs runs = runs_of(slices_of(self, *dim));
    return of_runs(self.index_select(*dim, runs.first), runs, runs.numbers, return_inverse, return_counts);
  }
  const Tensor elements = self.reshape({self.numel()});
  const Runs runs = runs_of(elements);
  return of_runs(elements.index_select(0, runs.first), runs, runs.numbers.reshape(self.sizes()), return_inverse,
                 return_counts);
}

// Sorted by the last column first: what sorts by a column before it keeps that order where it finds equals.
Unique unique_dim(const Tensor& self, std::int64_t dim, bool, bool return_inverse, bool return_counts) {
  const Tensor rows = slices_of(self, dim);
  Tensor order = long_numbers(rows.size(0), rows);
  for (std::int64_t column = rows.size(1) - 1; column >= 0; --column) {
    const Tensor keys = rows.select(1, column).index_select(0, order);
    order = order.index_select(0, std::get<1>(keys.sort(/*stable=*/true, 0, false)));
  }
  const Runs runs = runs_of(rows.index_select(0, order));
  const Tensor numbers = keyway::zeros_like(order).scatter(0, order, runs.numbers);
  return of_runs(self.index_select(dim, order.index_select(0, runs.first)), runs, numbers, return_inverse,
                 return_counts);
}

}  // namespace keyway::inline v1::composite
