// Operators that make one element of many.
#include <keyway/ops/functors/reduction.h>
#include <keyway/ops/functors/sorting.h>

#include <accelerator/kernels.h>
#include <numeric>

namespace accelerator {

using namespace keyway;

namespace {

// Elements that are added up one after another, before their sum joins the others: rounding errors grow slower so.
constexpr std::int64_t kBlock = 16;

// The result with self's dimensions, of which those that were reduced have size 1.
TensorBase with_all_dims(const TensorBase& out, const TensorBase& self, IntArrayRef reduced) {
  DimVector sizes, strides;
  std::size_t next = 0;  // of out's
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    const bool goes = std::find(reduced.begin(), reduced.end(), static_cast<std::int64_t>(d)) != reduced.end();
    sizes.push_back(goes ? 1 : self.sizes()[d]);
    strides.push_back(goes ? 0 : out.strides()[next]);
    if (!goes || out.dim() == self.dim()) ++next;
  }
  return make_view(out, sizes, strides, out.storage_offset());
}

// F is a functor as <keyway/ops/functors/reduction.h> describes them. No `dims` are all.
template <typename F>
void reduce(F f, const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  using R = decltype(f.project(f.identity(), 0));
  DimVector reduced(dims.begin(), dims.end());
  if (dims.empty()) {
    reduced.resize(self.sizes().size());
    std::iota(reduced.begin(), reduced.end(), 0);
  }
  const auto body = [f](Elements<const typename F::Element> x, Elements<R> result) {
    auto total = f.identity();
    for (std::int64_t begin = 0; begin < x.size(); begin += kBlock) {
      auto part = f.identity();
      for (std::int64_t i = begin; i < std::min(begin + kBlock, x.size()); ++i) part = f.combine(part, x[i], i);
      total = f.merge(total, part);
    }
    result[0] = f.project(total, x.size());
  };
  each_line<const typename F::Element, R>(reduced, body, self, with_all_dims(out, self, reduced));
}

using OptionalDims = std::optional<ArrayRef<std::int64_t>>;

void sum_dims(const TensorBase& self, OptionalDims dims, bool, TensorBase& out) {
  accept_if(out.dtype() == self.dtype(), "the accelerator adds up in the operand's dtype");
  visit<kNumbers>(self.dtype(), [&]<typename T>() { reduce(Sum<T>{}, out, self, dims.value_or(IntArrayRef())); });
}

void sum(const TensorBase& self, TensorBase& out) { sum_dims(self, std::nullopt, false, out); }

void mean_dims(const TensorBase& self, OptionalDims dims, bool, TensorBase& out) {
  visit<kFloats>(self.dtype(), [&]<typename T>() { reduce(Mean<T>{}, out, self, dims.value_or(IntArrayRef())); });
}

void mean(const TensorBase& self, TensorBase& out) { mean_dims(self, std::nullopt, false, out); }

void amax(const TensorBase& self, IntArrayRef dims, bool, TensorBase& out) {
  visit<kNumbers>(self.dtype(), [&]<typename T>() { reduce(Amax<T>{}, out, self, dims); });
}

void argmax(const TensorBase& self, std::optional<std::int64_t> dim, bool, TensorBase& out) {
  visit<kNumbers>(self.dtype(),
                  [&]<typename T>() { reduce(Argmax<T>{}, out, self, dim ? DimVector{*dim} : DimVector()); });
}

void all(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  visit<kAll>(self.dtype(), [&]<typename T>() { reduce(All<T>{}, out, self, {dim}); });
}

void euclidean_norm(const TensorBase& self, OptionalDims dims, bool, TensorBase& out) {
  visit<kFloats>(self.dtype(),
                 [&]<typename T>() { reduce(EuclideanNorm<T>{}, out, self, dims.value_or(IntArrayRef())); });
}

}  // namespace

void register_reductions(Library& m) {
  serve(m, "sum", sum);
  serve(m, "sum.dim_IntList", sum_dims);
  serve(m, "mean", mean);
  serve(m, "mean.dim", mean_dims);
  serve(m, "amax", amax);
  serve(m, "argmax", argmax);
  serve(m, "all.dim", all);
  serve(m, "_euclidean_norm", euclidean_norm);
}

}  // namespace accelerator
