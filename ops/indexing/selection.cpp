#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/ops/indexing/selection.h>

namespace keyway::inline v1::indexing {
namespace {

using Kind = TensorIndex::Kind;

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

// Of the dimensions of what is indexed.
std::int64_t dims_named(const Tensor& index) { return is_mask(index) ? index.dim() : 1; }

class Selector {
 public:
  explicit Selector(const Tensor& self) : self_(self) { made_.view = self; }

  Selection select(ArrayRef<TensorIndex> items) {
    count(items);
    for (const TensorIndex& item : items) take(item);
    if (made_.indices.empty() && made_.view.is_same(self_)) made_.view = alias(self_);
    return std::move(made_);
  }

 private:
  // How many dimensions of the tensor the items name: each ellipsis stands for the others, as in PyTorch.
  void count(ArrayRef<TensorIndex> items) {
    std::int64_t named = 0;
    for (const TensorIndex& item : items) {
      if (item.is_integer() || item.is_slice()) ++named;
      if (item.is_tensor()) named += dims_named(item.tensor());
    }
    KEYWAY_CHECK_AS(Index, named <= self_.dim(), "too many indices for a tensor of {} dimensions: {}", self_.dim(),
                    named);
    unnamed_ = self_.dim() - named;
  }

  void take(const TensorIndex& item) {
    switch (item.kind()) {
      case Kind::Integer: return take_integer(item.integer());
      case Kind::Slice: return take_slice(item.slice());
      case Kind::NewAxis:
        made_.view = made_.view.unsqueeze(dim_);
        ++dim_;
        return;
      case Kind::Dots:
        dim_ += unnamed_;
        self_dim_ += unnamed_;
        return;
      case Kind::Boolean: return take_truth(item.boolean());
      case Kind::Tensor: return take_elements(item.tensor());
    }
  }

  void take_integer(std::int64_t index) {
    KEYWAY_CHECK_AS(Index, dim_ < made_.view.dim(),
                    "after two ellipses (`...`) there is no dimension left for index {}", index);
    const std::int64_t size = made_.view.sizes()[static_cast<std::size_t>(dim_)];
    KEYWAY_CHECK_AS(Index, -size <= index && index < size, "index {} is out of range for dimension {} of size {}",
                    index, self_dim_, size);
    made_.view = made_.view.select(dim_, index);
    ++self_dim_;
  }

  void take_slice(const Slice& slice) {
    if (!slice.is_whole()) made_.view = made_.view.slice(dim_, slice.start(), slice.stop(), slice.step());
    ++dim_;
    ++self_dim_;
  }

  // A dimension of size 1 that is added for it, or of size 0.
  void take_truth(bool truth) {
    made_.view = made_.view.unsqueeze(dim_);
    add_index(zeros({truth ? 1 : 0}, TensorOptions().dtype(kLong).device(self_.device())), 1);
  }

  void take_elements(const Tensor& index) {
    const ScalarType dtype = index.dtype();
    if (index.dim() == 0 && is_mask(index)) return take_truth(index.item<bool>());
    // Within vmap an example's number is not known: it stays a tensor.
    const bool is_known = !index.key_set().has(Functionality::Batched);
    if (index.dim() == 0 && is_known && is_integral(dtype, false)) return take_integer(index.item<std::int64_t>());
    KEYWAY_CHECK_AS(Index, is_mask(index) || dtype == kLong || dtype == kInt,
                    "tensors that are indices must be int64, int32, bool or uint8, not {}", dtype);
    add_index(index, dims_named(index));
    self_dim_ += dims_named(index);
  }

  void add_index(const Tensor& index, std::int64_t dims) {
    for (; named_ < dim_; ++named_) made_.indices.emplace_back();
    const bool moves = index.is_cpu() && !self_.is_cpu();
    made_.indices.emplace_back(moves ? index.to(TensorOptions().device(self_.device())) : index);
    named_ += dims;
    dim_ += dims;
  }

  const Tensor& self_;
  Selection made_;
  std::int64_t dim_ = 0;       // of the view, that the next item is about
  std::int64_t self_dim_ = 0;  // the same of the tensor, for people
  std::int64_t named_ = 0;     // dimensions of the view that `indices` speaks of
  std::int64_t unnamed_ = 0;   // what the ellipsis stands for
};

}  // namespace

Selection select_items(const Tensor& self, ArrayRef<TensorIndex> items) {
  KEYWAY_CHECK_AS(Type, self.defined(), "an undefined tensor cannot be indexed");
  for (const TensorIndex& item : items)
    KEYWAY_CHECK_AS(Index, !item.is_tensor() || item.tensor().defined(), "an undefined tensor is no index");
  return Selector(self).select(items);
}

}  // namespace keyway::inline v1::indexing
