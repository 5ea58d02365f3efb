// Cumulative operators, on the scan driver. An element is converted to the result's dtype before it is added.
#include <keyway/backends/cpu/contiguous.h>
#include <keyway/backends/cpu/kernels_cumulative.h>
#include <keyway/backends/cpu/scan.h>
#include <keyway/core/visit_dtype.h>

namespace keyway::inline v1 {

namespace {

TensorBase as_dtype(const TensorBase& self, ScalarType dtype) {
  return self.dtype() == dtype ? self : contiguous_as(self, dtype);
}

}  // namespace

namespace cpu {

void cumsum(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  const TensorBase from = as_dtype(self, out.dtype());
  visit_dtype<kNumberTypes>(out.dtype(), "cumsum", [&]<typename T>() { scan(Cumsum<T>{}, out, from, dim); });
}

void cumprod(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  const TensorBase from = as_dtype(self, out.dtype());
  visit_dtype<kNumberTypes>(out.dtype(), "cumprod", [&]<typename T>() { scan(Cumprod<T>{}, out, from, dim); });
}

void logcumsumexp(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  visit_floating_and_complex(self.dtype(), "logcumsumexp",
                             [&]<typename T>() { scan(Logcumsumexp<T>{}, out, self, dim); });
}

void cummax(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  visit_dtype<kRealTypes | kBool>(self.dtype(), "cummax",
                                  [&]<typename T>() { scan(Cummax<T>{}, values, indices, self, dim); });
}

void cummin(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  visit_dtype<kRealTypes | kBool>(self.dtype(), "cummin",
                                  [&]<typename T>() { scan(Cummin<T>{}, values, indices, self, dim); });
}

}  // namespace cpu

}  // namespace keyway::inline v1
