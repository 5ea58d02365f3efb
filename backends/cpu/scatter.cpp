// gather and scatter: along a dimension, each line of one tensor is read or written where a line of indices
// says.
#include <keyway/backends/cpu/element_bits.h>
#include <keyway/backends/cpu/kernels_scatter.h>
#include <keyway/backends/cpu/scatter_targets.h>
#include <keyway/backends/cpu/sum_of.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cpu {

void gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool, TensorBase& out) {
  if (index.numel() == 0) return;
  const TensorBase from = with_dim(self), to = with_dim(out);
  const TensorBase indices = with_dim(index_list(index, "index", 0, length(from, dim)));
  const std::int64_t n = length(indices, dim);
  visit_bits(self.itemsize(), [&]<typename T>() {
    for_each_panel({&to, &from, &indices}, dim, n, 64, [&](const Panel& panel) {
      each_index(panel, n, [](const Panel& p, std::int64_t i, std::int64_t j) {
        *p.at<T>(0, i, j) = *p.at<const T>(1, *p.at<const std::int64_t>(2, i, j), j);
      });
    });
  });
}

void scatter_src(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const Scatter operands(self, dim, index, &src, out);
  visit_bits(self.itemsize(), [&]<typename T>() { operands.combine<T, T>([](const T&, const T& x) { return x; }); });
}

void scatter_value(const TensorBase& self, std::int64_t dim, const TensorBase& index, const Scalar& value,
                   TensorBase& out) {
  visit_dtype<kCastTypes>(self.dtype(), "scatter", [&]<typename T>() {
    const T x = value.to<T>();
    Scatter(self, dim, index, nullptr, out).fill(x);
  });
}

void scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const Scatter operands(self, dim, index, &src, out);
  visit_any(self.dtype(), "scatter_add", [&]<typename T>() {
    operands.with_wide_targets<T>([]<typename Acc>(const Scatter& wide) { wide.combine<Acc, T>(SumOf<Acc>()); });
  });
}

}  // namespace keyway::inline v1::cpu
