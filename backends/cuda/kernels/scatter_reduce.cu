// scatter_reduce: each element is the sum, product, mean or extreme of the elements of src that are sent to it, and of
// its own unless that is left out. One kernel for each dtype: what it does with an element is the same in all threads.
// Bound by the sort that puts the elements of src in order (targets.cuh).
#include <keyway/backends/cuda/kernels/kernels_scatter.h>
#include <keyway/backends/cuda/kernels/scatter_rows.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/extrema.h>

#include <string_view>

namespace keyway::inline v1::cuda {

namespace {

enum class Reduction { Sum, Mean, Prod, Amax, Amin };

Reduction reduction_named(std::string_view name) {
  if (name == "sum") return Reduction::Sum;
  if (name == "mean") return Reduction::Mean;
  if (name == "prod") return Reduction::Prod;
  return name == "amax" ? Reduction::Amax : Reduction::Amin;
}

// What a reduction of nothing gives.
template <typename T>
T identity_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Mean: return T();
    case Reduction::Prod: return static_cast<T>(1);
    case Reduction::Amax: return static_cast<T>(lowest_value<Opmath<T>>());
    case Reduction::Amin: break;
  }
  return static_cast<T>(highest_value<Opmath<T>>());
}

template <typename T>
struct ReduceRun {
  Reduction reduction;
  bool include_self;
  T identity;

  KEYWAY_HD T begin(T own) const { return include_self ? own : identity; }
  KEYWAY_HD T add(T all, T x) const {
    using Acc = Opmath<T>;
    switch (reduction) {
      case Reduction::Sum:
      case Reduction::Mean: return static_cast<T>(plus(opmath(all), opmath(x)));
      case Reduction::Prod: return Mul<T>{}(all, x);
      case Reduction::Amax: return static_cast<T>(Maximum<Acc>{}(opmath(all), opmath(x)));
      case Reduction::Amin: break;
    }
    return static_cast<T>(Minimum<Acc>{}(opmath(all), opmath(x)));
  }
  KEYWAY_HD T end(T all, std::int64_t n) const {
    return reduction == Reduction::Mean ? divided(all, n + (include_self ? 1 : 0)) : all;
  }

 private:
  // Of integers the quotient is rounded down.
  KEYWAY_HD static T divided(T sum, std::int64_t terms) {
    if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(sum / static_cast<std::uint64_t>(terms));
    } else if constexpr (std::is_integral_v<T>) {
      const std::int64_t quotient = sum / terms;
      return static_cast<T>(quotient * terms > sum ? quotient - 1 : quotient);
    } else {
      return static_cast<T>(opmath(sum) / static_cast<Opmath<T>>(terms));
    }
  }
};

}  // namespace

void scatter_reduce_two(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                        std::string_view reduce, bool include_self, TensorBase& out) {
  const ScatterRows rows(self, dim, index, src, out);
  const Reduction reduction = reduction_named(reduce);
  visit_dtype<kRealTypes | kBool>(self.dtype(), "scatter_reduce", [&]<typename T>() {
    rows.indexed.fold<T>(rows.offsets, ReduceRun<T>{reduction, include_self, identity_of<T>(reduction)});
  });
}

}  // namespace keyway::inline v1::cuda
