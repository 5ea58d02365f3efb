// Cumulative operators: running sums, products and extremes along a dimension, as scans (scan.cuh) in the types of the
// CPU's (ops/functors/scan.h). Sums are added up, and products multiplied, in an order of their own, which shape and
// strides alone determine.
#include <keyway/backends/cuda/kernels/kernels_cumulative.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/scan.cuh>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/scan.h>

namespace keyway::inline v1::cuda {

namespace {

// How running results become one, and what the result of no elements is.
template <typename A>
struct Amount {
  using Acc = A;
  bool product;

  KEYWAY_HD Acc identity() const { return product ? Acc(1) : Acc(); }
  KEYWAY_HD Acc operator()(Acc a, Acc b) const { return product ? times(a, b) : plus(a, b); }
};

// Of equals the last, NaN before all numbers.
template <typename Value>
struct Extreme {
  using Acc = Located<Value>;
  bool greatest;

  KEYWAY_HD Acc identity() const { return {greatest ? lowest_value<Value>() : highest_value<Value>(), -1}; }
  KEYWAY_HD Acc operator()(Acc a, Acc b) const {
    const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value);
    const bool better = (greatest ? b.value > a.value : b.value < a.value) || (b_nan && !a_nan);
    const bool equal = a.value == b.value || (a_nan && b_nan);
    return better || (equal && b.index > a.index) ? b : a;
  }
};

// Each relative to the greatest of its exponents.
struct Exponentials {
  using Acc = LogSum;

  KEYWAY_HD Acc identity() const { return Logcumsumexp<double>().identity(); }
  KEYWAY_HD Acc operator()(Acc a, Acc b) const {
    if (a.greatest == b.greatest) return {a.greatest, a.sum + b.sum};
    const Acc high = a.greatest < b.greatest ? b : a, low = a.greatest < b.greatest ? a : b;
    return {high.greatest, high.sum + low.sum * std::exp(low.greatest - high.greatest)};
  }
};

// Of complex numbers.
struct ComplexExponentials {
  using Acc = complex<double>;

  KEYWAY_HD Acc identity() const { return Logcumsumexp<Acc>().identity(); }
  KEYWAY_HD Acc operator()(Acc a, Acc b) const { return LogAddExp<Acc>()(a, b); }
};

// The same of elements T. Operands: out, self.
template <typename T>
struct Amounts : Amount<typename Cumsum<T>::Acc> {
  using Acc = typename Cumsum<T>::Acc;
  using Merge = Amount<Acc>;
  static constexpr int kOperands = 2;

  __device__ Acc term(const Row<3>& row, std::int64_t i) const {
    return Cumsum<T>().combine(Acc(), row.at<const T>(1, i), i);
  }
  __device__ void write(const Row<3>& row, std::int64_t i, Acc acc) const {
    row.at<T>(0, i) = Cumsum<T>().project(acc, i + 1);
  }
};

// Operands: out, self.
template <typename T>
struct LogSums : std::conditional_t<ComplexElement<T>, ComplexExponentials, Exponentials> {
  using Merge = std::conditional_t<ComplexElement<T>, ComplexExponentials, Exponentials>;
  using Acc = typename Merge::Acc;
  static constexpr int kOperands = 2;

  __device__ Acc term(const Row<3>& row, std::int64_t i) const {
    return Logcumsumexp<T>().combine(Merge().identity(), row.at<const T>(1, i), i);
  }
  __device__ void write(const Row<3>& row, std::int64_t i, Acc acc) const {
    row.at<T>(0, i) = Logcumsumexp<T>().project(acc, i + 1);
  }
};

// Operands: values, indices, self.
template <typename T>
struct Extremes : Extreme<Opmath<T>> {
  using Acc = Located<Opmath<T>>;
  using Merge = Extreme<Opmath<T>>;
  static constexpr int kOperands = 3;

  __device__ Acc term(const Row<4>& row, std::int64_t i) const { return {opmath(row.at<const T>(2, i)), i}; }
  __device__ void write(const Row<4>& row, std::int64_t i, Acc acc) const {
    row.at<T>(0, i) = static_cast<T>(acc.value);
    row.at<std::int64_t>(1, i) = acc.index;
  }
};

// The last operand has the sizes of all. Requires: it has elements.
template <typename Of>
void scan(const Of& of, std::initializer_list<TensorBase> operands, std::int64_t dim) {
  const TensorBase& self = *(operands.end() - 1);
  const std::int64_t d = wrap_dim(dim, self.dim());
  RowSpace row_space(self.sizes(), d);
  for (const TensorBase& operand : operands) row_space.tensor(operand);
  const std::int64_t stretches = row_space.share();
  const TensorBase totals = stretches > 1 ? room_for_totals<Of>(self, d, stretches) : self;
  row_space.tensor(totals);
  if (stretches > 1) find_totals(of, row_space, totals, d);
  rows<Of::kOperands + 1>(row_space, Scan<Of>{of}, self.device());
}

void scan_amounts(const char* name, bool product, const TensorBase& self, std::int64_t dim, const TensorBase& out) {
  if (self.numel() == 0) return;
  const TensorBase from = as_dtype(self, out.dtype());
  visit_dtype<kNumberTypes>(out.dtype(), name, [&]<typename T>() {
    scan(Amounts<T>{{product}}, {with_dim(out), with_dim(from)}, dim);
  });
}

void scan_extremes(const char* name, bool greatest, const TensorBase& self, std::int64_t dim, const TensorBase& values,
                   const TensorBase& indices) {
  if (self.numel() == 0) return;
  visit_dtype<kRealTypes | kBool>(self.dtype(), name, [&]<typename T>() {
    scan(Extremes<T>{{greatest}}, {with_dim(values), with_dim(indices), with_dim(self)}, dim);
  });
}

}  // namespace

void cumsum(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  scan_amounts("cumsum", false, self, dim, out);
}

void cumprod(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  scan_amounts("cumprod", true, self, dim, out);
}

void logcumsumexp(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  if (self.numel() == 0) return;
  visit_floating_and_complex(self.dtype(), "logcumsumexp", [&]<typename T>() {
    scan(LogSums<T>(), {with_dim(out), with_dim(self)}, dim);
  });
}

void cummax(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  scan_extremes("cummax", true, self, dim, values, indices);
}

void cummin(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  scan_extremes("cummin", false, self, dim, values, indices);
}

}  // namespace keyway::inline v1::cuda
