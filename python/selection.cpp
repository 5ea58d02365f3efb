#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/python/selection.h>

#include <limits>

namespace keyway::inline v1::python {
namespace {

using Kind = IndexItem::Kind;

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

class Selector {
 public:
  explicit Selector(const Tensor& self) : self_(self) { made_.view = self; }

  Selection select(const IndexItems& items) {
    count(items);
    for (const IndexItem& item : items) take(item);
    if (made_.indices.empty() && made_.view.is_same(self_)) made_.view = alias(self_);
    return std::move(made_);
  }

 private:
  // How many dimensions of the tensor the items name: each ellipsis stands for the others, as in PyTorch.
  void count(const IndexItems& items) {
    std::int64_t named = 0;
    for (const IndexItem& item : items) {
      if (item.kind == Kind::Integer || item.kind == Kind::Slice) ++named;
      if (item.kind == Kind::Elements) named += is_mask(item.elements) ? item.elements.dim() : 1;
    }
    KEYWAY_CHECK_AS(Index, named <= self_.dim(), "too many indices for a tensor of {} dimensions: {}", self_.dim(),
                    named);
    unnamed_ = self_.dim() - named;
  }

  void take(const IndexItem& item) {
    switch (item.kind) {
      case Kind::Integer: return take_integer(item.start);
      case Kind::Slice: return take_slice(item);
      case Kind::NewAxis:
        made_.view = made_.view.unsqueeze(dim_);
        ++dim_;
        return;
      case Kind::Ellipsis:
        dim_ += unnamed_;
        self_dim_ += unnamed_;
        return;
      case Kind::Truth: return take_truth(item.start != 0);
      case Kind::Elements: return take_elements(item.elements);
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

  void take_slice(const IndexItem& item) {
    const bool is_whole = item.start == 0 && item.stop == std::numeric_limits<std::int64_t>::max() && item.step == 1;
    if (!is_whole) made_.view = made_.view.slice(dim_, item.start, item.stop, item.step);
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
    const std::int64_t dims = is_mask(index) ? index.dim() : 1;
    add_index(index, dims);
    self_dim_ += dims;
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

Selection select_items(const Tensor& self, const IndexItems& items) { return Selector(self).select(items); }

}  // namespace keyway::inline v1::python
