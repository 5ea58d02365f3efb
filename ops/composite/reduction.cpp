#include <keyway/ops/reduction.h>
#include <keyway/ops/reduction_composites.h>

namespace keyway::inline v1::composite {

namespace {
Scalar correction_of(bool unbiased) { return unbiased ? 1 : 0; }
}  // namespace

Tensor std(const Tensor& self, bool unbiased) { return self.std(std::nullopt, correction_of(unbiased), false); }

Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return self.std(dim, correction_of(unbiased), keepdim);
}

Tensor var(const Tensor& self, bool unbiased) { return self.var(std::nullopt, correction_of(unbiased), false); }

Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return self.var(dim, correction_of(unbiased), keepdim);
}

}  // namespace keyway::inline v1::composite
