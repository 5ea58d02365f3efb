#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/ops/indexing/get_item.h>
#include <keyway/ops/indexing/selection.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1 {
namespace indexing {
namespace {

// The elements that index tensors name. Whatever is wrong with those, an index out of range or shapes that do not fit,
// is an error of the index.
Tensor named_elements(const Selection& picked) {
  try {
    return picked.view.index(picked.indices);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Value) throw;
    throw Error(ErrorKind::Index, error.what(), error.file(), error.line());
  }
}

void set_named_elements(const Selection& picked, const Tensor& value) {
  try {
    picked.view.index_put_(picked.indices, value);
  } catch (const Error&) {
    (void)named_elements(picked);  // throws if it is not the value that is wrong
    throw;
  }
}

}  // namespace

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const Selection picked = select_items(self, indices);
  return picked.indices.empty() ? picked.view : named_elements(picked);
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  const Selection picked = select_items(self, indices);
  const Tensor& view = picked.view;
  if (picked.indices.empty()) {
    view.fill_(value);
    return;
  }
  const std::optional<Tensor>& first = picked.indices[0];
  if (picked.indices.size() == 1 && first && first->dtype() == kBool && first->sizes() == view.sizes()) {
    view.masked_fill_(*first, value);
    return;
  }
  set_named_elements(picked, full({}, value, view.options()));
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& source) {
  KEYWAY_CHECK_AS(Type, source.defined(), "set_item: argument 'value' is an undefined tensor");
  const Selection picked = select_items(self, indices);
  const Tensor& view = picked.view;
  Tensor value = source;
  while (value.dim() > 0 && value.sizes()[0] == 1) value = value.squeeze(0);
  if (picked.indices.empty()) {
    view.copy_(value);
    return;
  }
  // PyTorch fills what masks pick, so that one element may be of another dtype.
  const bool fills = std::ranges::all_of(
      picked.indices, [](const std::optional<Tensor>& index) { return !index || index->dtype() == kBool; });
  if (fills && value.dim() == 0 && !is_complex(value.dtype())) value = value.to(view.dtype());
  if (value.dim() == 0 && value.device() != view.device()) value = value.to(TensorOptions().device(view.device()));
  set_named_elements(picked, value);
}

}  // namespace indexing

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const { return indexing::get_item(*this, indices); }
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, indices);
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value) const {
  indexing::set_item(*this, indices, value);
  return mutable_self();
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const {
  indexing::set_item(*this, indices, value);
  return mutable_self();
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value) const {
  return index_put_(ArrayRef(indices), value);
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) const {
  return index_put_(ArrayRef(indices), value);
}
Tensor Tensor::operator[](const Tensor& index) const { return indexing::get_item(*this, {index}); }

}  // namespace keyway::inline v1
