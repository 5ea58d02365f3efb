// scatter_reduce: each element is the sum, product, mean or extreme of the elements of src that are sent to it, and of
// its own unless that is left out. One kernel for each dtype: what it does with an element is the same in all threads.
// Bound by the sort that puts the elements of src in order (targets.cuh).
#include <keyway/backends/cuda/kernels/kernels_scatter.h>
#include <keyway/backends/cuda/kernels/scatter_rows.h>
#include <keyway/core/dtype/visit_dtype.h>
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
template <typename Acc>
Acc identity_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Mean: return Acc();
    case Reduction::Prod: return static_cast<Acc>(1);
    case Reduction::Amax: return lowest_value<Acc>();
    case Reduction::Amin: break;
  }
  return highest_value<Acc>();
}

// All of a run is kept in the accumulation's type, and rounded once.
template <typename T>
struct ReduceRun {
  using Acc = Opmath<T>;
  Reduction reduction;
  bool include_self;
  Acc identity;

  KEYWAY_HD Acc begin(T own) const { return include_self ? opmath(own) : identity; }
  KEYWAY_HD Acc none() const { return identity; }
  KEYWAY_HD Acc add(Acc all, T element) const { return merge(all, opmath(element)); }
  KEYWAY_HD Acc merge(Acc all, Acc x) const {
    switch (reduction) {
      case Reduction::Sum:
      case Reduction::Mean: return static_cast<Acc>(plus(all, x));
      case Reduction::Prod: return Mul<Acc>{}(all, x);
      case Reduction::Amax: return Maximum<Acc>{}(all, x);
      case Reduction::Amin: break;
    }
    return Minimum<Acc>{}(all, x);
  }
  KEYWAY_HD T end(Acc all, std::int64_t n) const {
    return static_cast<T>(reduction == Reduction::Mean ? divided(all, n + (include_self ? 1 : 0)) : all);
  }

 private:
  // Of integers the quotient is rounded down.
  KEYWAY_HD static Acc divided(Acc sum, std::int64_t terms) {
    if constexpr (std::is_unsigned_v<Acc>) {
      return static_cast<Acc>(sum / static_cast<std::uint64_t>(terms));
    } else if constexpr (std::is_integral_v<Acc>) {
      const std::int64_t quotient = sum / terms;
      return static_cast<Acc>(quotient * terms > sum ? quotient - 1 : quotient);
    } else {
      return sum / static_cast<Acc>(terms);
    }
  }
};

}  // namespace

void scatter_reduce_two(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                        std::string_view reduce, bool include_self, TensorBase& out) {
  const ScatterRows rows(self, dim, index, src, out);
  const Reduction reduction = reduction_named(reduce);
  visit_dtype<kRealTypes | kBool>(self.dtype(), "scatter_reduce", [&]<typename T>() {
    rows.indexed.fold<T>(rows.offsets, ReduceRun<T>{reduction, include_self, identity_of<Opmath<T>>(reduction)});
  });
}

}  // namespace keyway::inline v1::cuda
