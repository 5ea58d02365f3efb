#include <keyway/graph/decompositions/decompositions.h>

#include <optional>
#include <tuple>

namespace keyway::inline v1::graph::decompositions {
namespace {

// The dimensions, or all of them if none are named.
DimVector dims_of(const Tensor& self, std::optional<IntArrayRef> dim) {
  if (dim && !dim->empty()) return DimVector(*dim);
  DimVector all;
  for (std::int64_t d = 0; d < self.dim(); ++d) all.push_back(d);
  return all;
}

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { return self.sum(dims_of(self, {}), false, dtype); }

// Of uint8 as 1 or 0.
Tensor none_of(const Tensor& any, const Tensor& self) {
  const Tensor none = any.logical_not();
  return self.dtype() == kByte ? none.to(kByte) : none;
}
Tensor all(const Tensor& self) { return none_of((self == 0).any(), self); }
Tensor all_along(const Tensor& self, std::int64_t dim, bool keepdim) {
  return none_of((self == 0).any(dim, keepdim), self);
}
Tensor all_over(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim) {
  return none_of((self == 0).any(dim, keepdim), self);
}

Tensor count_nonzero(const Tensor& self, std::optional<std::int64_t> dim) {
  return (self != 0).sum(dim ? DimVector{*dim} : dims_of(self, {}));
}
Tensor count_nonzero_over(const Tensor& self, IntArrayRef dim) { return (self != 0).sum(dims_of(self, dim)); }

// What squares are added up in, as kernels do: those of float32 are beyond its range where their root is not.
Tensor doubled(const Tensor& self) { return self.to(self.is_complex() ? ScalarType::ComplexDouble : kDouble); }

Tensor euclidean_norm(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim) {
  const Tensor wide = doubled(self), x = self.is_complex() ? wide.abs() : wide;
  return root((x * x).sum(dims_of(self, dim), keepdim)).to(to_real(self.dtype()));
}

Tensor std_of(const Tensor& self, std::optional<IntArrayRef> dim, std::optional<Scalar> correction, bool keepdim) {
  return root(doubled(self).var(dim, correction, keepdim)).to(to_real(self.dtype()));
}

std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                    std::optional<Scalar> correction, bool keepdim) {
  return {self.var(dim, correction, keepdim), doubled(self).mean(dims_of(self, dim), keepdim).to(self.dtype())};
}

}  // namespace

void add_reductions(Decompositions& table) {
  table.set("_euclidean_norm", &euclidean_norm);
  table.set("all", &all);
  table.set("all.dim", &all_along);
  table.set("all.dims", &all_over);
  table.set("count_nonzero", &count_nonzero);
  table.set("count_nonzero.dim_IntList", &count_nonzero_over);
  table.set("std.correction", &std_of);
  table.set("sum", &sum);
  table.set("var_mean.correction", &var_mean);
}

}  // namespace keyway::inline v1::graph::decompositions
