#include <keyway/core/base/error.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/rules/scatter.h>

namespace keyway::inline v1::rules {

namespace {

// Sizes of `index` must not exceed those of `tensor`, but for dimension `dim`, if there is one. Without dimensions
// either counts as a row of one element.
void check_covers(const char* name, const TensorBase& tensor, const TensorBase& index, std::int64_t dim) {
  if (index.numel() == 0) return;
  const std::int64_t one[] = {1};
  const IntArrayRef wanted = index.dim() == 0 ? IntArrayRef(one) : index.sizes();
  const IntArrayRef sizes = tensor.dim() == 0 ? IntArrayRef(one) : tensor.sizes();
  for (std::size_t d = 0; d < wanted.size() && d < sizes.size(); ++d) {
    KEYWAY_CHECK(static_cast<std::int64_t>(d) == dim || wanted[d] <= sizes[d],
                 "index has shape {}, but {} has size {} in dimension {}", index.sizes(), name, sizes[d], d);
  }
}

constexpr std::int64_t kNone = -1;

}  // namespace

OutputMeta gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool) {
  check_covers("self", self, index, dim);
  return meta_of(index.sizes());
}

OutputMeta scatter(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src) {
  check_covers("self", self, index, dim);
  check_covers("src", src, index, kNone);
  return meta_like(self);
}

OutputMeta scatter(const TensorBase& self, std::int64_t dim, const TensorBase& index, const Scalar&) {
  check_covers("self", self, index, dim);
  return meta_like(self);
}

OutputMeta scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src) {
  return scatter(self, dim, index, src);
}

OutputMeta scatter_reduce(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                          std::string_view, bool) {
  return scatter(self, dim, index, src);
}

}  // namespace keyway::inline v1::rules
