// Cumulative operators, on the scan driver. An element is converted to the result's dtype before it is added.
#include <keyway/backends/cpu/kernels_cumulative.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/scan.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1 {

namespace {

constexpr DtypeSet kNarrowTypes{kHalf, kBFloat16};

// Calls run(self, out) for tensors of one dtype; for 16-bit floats with copies of float32, and rounds once.
template <typename F>
void run_wide(const TensorBase& self, const TensorBase& out, const F& run) {
  if (!kNarrowTypes.contains(out.dtype())) return run(self, out);
  const TensorBase result = make_tensor(out.sizes(), kFloat, out.device());
  run(contiguous_as(self, kFloat), result);
  copy_elements(result, out);
}

}  // namespace

namespace cpu {

void cumsum(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  run_wide(as_dtype(self, out.dtype()), out, [dim](const TensorBase& from, const TensorBase& to) {
    visit_dtype<kNumberTypes - kNarrowTypes>(to.dtype(), "cumsum",
                                             [&]<typename T>() { scan(Cumsum<T>{}, to, from, dim); });
  });
}

void cumprod(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  run_wide(as_dtype(self, out.dtype()), out, [dim](const TensorBase& from, const TensorBase& to) {
    visit_dtype<kNumberTypes - kNarrowTypes>(to.dtype(), "cumprod",
                                             [&]<typename T>() { scan(Cumprod<T>{}, to, from, dim); });
  });
}

void logcumsumexp(const TensorBase& self, std::int64_t dim, TensorBase& out) {
  run_wide(self, out, [dim](const TensorBase& from, const TensorBase& to) {
    visit_dtype<kFloatingAndComplexTypes - kNarrowTypes>(to.dtype(), "logcumsumexp",
                                                         [&]<typename T>() { scan(Logcumsumexp<T>{}, to, from, dim); });
  });
}

void cummax(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  run_wide(self, values, [&](const TensorBase& from, const TensorBase& to) {
    visit_dtype<(kRealTypes | kBool) - kNarrowTypes>(to.dtype(), "cummax",
                                                     [&]<typename T>() { scan(Cummax<T>{}, to, indices, from, dim); });
  });
}

void cummin(const TensorBase& self, std::int64_t dim, TensorBase& values, TensorBase& indices) {
  run_wide(self, values, [&](const TensorBase& from, const TensorBase& to) {
    visit_dtype<(kRealTypes | kBool) - kNarrowTypes>(to.dtype(), "cummin",
                                                     [&]<typename T>() { scan(Cummin<T>{}, to, indices, from, dim); });
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
