// gather and scatter: along a dimension, each line of one tensor is read or written where a line of indices
// says. A line is one thread's, so elements that several indices name are written in order.
#include <keyway/backends/cpu/element_bits.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_scatter.h>
#include <keyway/backends/cpu/panel.h>
#include <keyway/backends/cpu/write_operands.h>
#include <keyway/core/scalar.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/reduction.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

constexpr std::int64_t kWidth = 64;

std::int64_t length(const TensorBase& tensor, std::int64_t dim) {
  return tensor.sizes()[static_cast<std::size_t>(dim)];
}

// Calls f(target, i, j, panel) for each index: `target` is the element of out that it names. Operands of the
// panel are index, out and, if there is one, src.
template <typename T, typename F>
void each_target(std::initializer_list<const TensorBase*> operands, std::int64_t dim, const F& f) {
  const std::int64_t n = length(**operands.begin(), dim);
  for_each_panel(operands, dim, n, kWidth, [&](const Panel& panel) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < panel.lines; ++j) {
        f(*panel.at<T>(1, *panel.at<const std::int64_t>(0, i, j), j), i, j, panel);
      }
    }
  });
}

// The operands of a scatter, tested and apart from each other.
struct Scatter {
  TensorBase index, out, src;
  std::int64_t dim;

  Scatter(const TensorBase& self, std::int64_t d, const TensorBase& indices, const TensorBase* source,
          const TensorBase& result)
      : index(with_dim(apart_from(indices, result))), out(with_dim(result)), dim(d) {
    if (index.numel() > 0) check_indices(index, "index", 0, length(out, dim));
    if (source != nullptr) src = with_dim(apart_from(*source, result));
    begin_as(self, result);
  }
  bool empty() const { return index.numel() == 0; }

  // target = f(target, element of src)
  template <typename T, typename F>
  void combine(const F& f) const {
    if (empty()) return;
    each_target<T>({&index, &out, &src}, dim, [&](T& target, std::int64_t i, std::int64_t j, const Panel& panel) {
      target = f(target, *panel.at<const T>(2, i, j));
    });
  }
};

}  // namespace

namespace cpu {

void gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool, TensorBase& out) {
  if (index.numel() == 0) return;
  const TensorBase from = with_dim(self), places = with_dim(index), to = with_dim(out);
  check_indices(places, "index", 0, length(from, dim));
  const std::int64_t n = length(places, dim);
  visit_bits(self.itemsize(), [&]<typename T>() {
    for_each_panel({&to, &from, &places}, dim, n, kWidth, [&](const Panel& panel) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < panel.lines; ++j) {
          *panel.at<T>(0, i, j) = *panel.at<const T>(1, *panel.at<const std::int64_t>(2, i, j), j);
        }
      }
    });
  });
}

void scatter_src(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const Scatter operands(self, dim, index, &src, out);
  visit_bits(self.itemsize(), [&]<typename T>() { operands.combine<T>([](const T&, const T& x) { return x; }); });
}

void scatter_value(const TensorBase& self, std::int64_t dim, const TensorBase& index, const Scalar& value,
                   TensorBase& out) {
  visit_any(self.dtype(), "scatter", [&]<typename T>() {
    const T x = value.to<T>();
    const Scatter operands(self, dim, index, nullptr, out);
    if (operands.empty()) return;
    each_target<T>({&operands.index, &operands.out}, dim,
                   [x](T& target, std::int64_t, std::int64_t, const Panel&) { target = x; });
  });
}

void scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const Scatter operands(self, dim, index, &src, out);
  visit_any(self.dtype(), "scatter_add", [&]<typename T>() {
    operands.combine<T>([](T sum, T x) {
      if constexpr (std::is_same_v<T, bool>) {
        return sum || x;
      } else {
        return static_cast<T>(detail::plus(opmath(sum), opmath(x)));
      }
    });
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
