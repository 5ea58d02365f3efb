#include <keyway/core/base/error.h>
#include <keyway/ops/rules/joining.h>

namespace keyway::inline v1::rules {

OutputMeta cat(ArrayRef<TensorBase> tensors, std::int64_t dim) {
  const TensorBase* first = &tensors[0];  // of those that are not of shape [0]
  for (const TensorBase& tensor : tensors) {
    if (tensor.sizes() != IntArrayRef{0}) {
      first = &tensor;
      break;
    }
  }
  OutputMeta meta = meta_of(first->sizes());
  const auto at = static_cast<std::size_t>(wrap_dim(dim, first->dim()));
  std::int64_t& size = meta.sizes[at];
  size = 0;
  for (const TensorBase& tensor : tensors) {
    if (tensor.dim() != first->dim()) continue;
    KEYWAY_CHECK(!__builtin_add_overflow(size, tensor.sizes()[at], &size),
                 "the sizes along dimension {} add up to more than 2^63 - 1", at);
  }
  return meta;
}

}  // namespace keyway::inline v1::rules
