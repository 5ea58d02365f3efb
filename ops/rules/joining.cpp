#include <keyway/core/base/error.h>
#include <keyway/ops/rules/joining.h>

namespace keyway::inline v1::rules {

namespace {

// That of all, if they have the same.
MemoryFormat common_format(ArrayRef<TensorBase> tensors) {
  const MemoryFormat format = tensors[0].suggest_memory_format();
  for (const TensorBase& tensor : tensors) {
    if (tensor.suggest_memory_format() != format) return MemoryFormat::Contiguous;
  }
  return format;
}

}  // namespace

OutputMeta cat(ArrayRef<TensorBase> tensors, std::int64_t dim) {
  const TensorBase* first = &tensors[0];  // of those that are not of shape [0]
  for (const TensorBase& tensor : tensors) {
    if (tensor.sizes() != IntArrayRef{0}) {
      first = &tensor;
      break;
    }
  }
  DimVector sizes(first->sizes());
  const auto at = static_cast<std::size_t>(wrap_dim(dim, first->dim()));
  std::int64_t& size = sizes[at];
  size = 0;
  for (const TensorBase& tensor : tensors) {
    if (tensor.dim() != first->dim()) continue;
    KEYWAY_CHECK(!__builtin_add_overflow(size, tensor.sizes()[at], &size),
                 "the sizes along dimension {} add up to more than 2^63 - 1", at);
  }
  return meta_of(sizes, common_format(tensors));
}

}  // namespace keyway::inline v1::rules
