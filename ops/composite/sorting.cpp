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

Tensor msort(const Tensor& self) { return std::get<0>(self.sort(0)); }

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) {
  return self.sort(/*stable=*/true, dim, descending);
}

}  // namespace keyway::inline v1::composite
