#include <keyway/ops/all.h>
#include <keyway/ops/sorting_composites.h>

#include <tuple>

namespace keyway::inline v1::composite {

Tensor argsort(const Tensor& self, std::int64_t dim, bool descending) {
  return std::get<1>(self.sort(dim, descending));
}

Tensor argsort_stable(const Tensor& self, bool stable, std::int64_t dim, bool descending) {
  return std::get<1>(self.sort(stable, dim, descending));
}

// As an extreme over all dimensions: equal elements share the gradient.
Tensor max(const Tensor& self) { return self.amax(); }
Tensor min(const Tensor& self) { return self.amin(); }

Tensor max_other(const Tensor& self, const Tensor& other) { return keyway::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return keyway::minimum(self, other); }

Tensor msort(const Tensor& self) { return std::get<0>(self.sort(0)); }

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) {
  return self.sort(/*stable=*/true, dim, descending);
}

}  // namespace keyway::inline v1::composite
