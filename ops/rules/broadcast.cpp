#include <keyway/ops/rules/broadcast.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1 {

DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  const std::size_t rank = std::max(a.size(), b.size());
  DimVector sizes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    KEYWAY_CHECK(x == y || x == 1 || y == 1, "shapes {} and {} do not broadcast: dimension {} is {} and {}", a, b,
                 rank - 1 - i, x, y);
    sizes[rank - 1 - i] = x == 1 ? y : x;
  }
  return sizes;
}

bool broadcasts_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t size = from[from.size() - 1 - i];
    if (size != 1 && size != to[to.size() - 1 - i]) return false;
  }
  return true;
}

namespace {

// Stride of an operand in a dimension of the common shape; 0 where it is expanded.
std::int64_t operand_stride(const TensorBase& operand, std::size_t dim, std::size_t rank) {
  const std::size_t missing = rank - operand.sizes().size();
  if (dim < missing || operand.sizes()[dim - missing] == 1) return 0;
  return operand.strides()[dim - missing];
}

// Whether dimension `a` lies further in than `b` for the first operand that can tell: a smaller stride,
// neither of them expanded. Operands that have equal strides, or none, leave it to the next one.
bool lies_inside(ArrayRef<const TensorBase*> operands, std::size_t a, std::size_t b, std::size_t rank) {
  for (const TensorBase* operand : operands) {
    const std::int64_t x = operand_stride(*operand, a, rank);
    const std::int64_t y = operand_stride(*operand, b, rank);
    if (x == 0 || y == 0 || x == y) continue;
    return x < y;
  }
  return a > b;
}

}  // namespace

namespace detail {

OutputMeta pointwise_meta_slowly(ArrayRef<const TensorBase*> given) {
  SmallVector<const TensorBase*, 6> operands;
  for (const TensorBase* operand : given)
    if (operand->defined()) operands.push_back(operand);
  OutputMeta meta = meta_of(operands[0]->sizes());
  for (const TensorBase* operand : operands) meta.sizes = broadcast_sizes(meta.sizes, operand->sizes());
  const std::int64_t numel = checked_numel(meta.sizes);
  const std::size_t rank = meta.sizes.size();
  if (rank < 2 || numel == 0) return meta;

  // Insertion sort, innermost first: the order is partial (expanded dimensions compare with none), so it must
  // not rely on transitivity.
  DimVector order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(rank - 1 - i);
  for (std::size_t i = 1; i < rank; ++i) {
    for (std::size_t j = i; j > 0; --j) {
      if (!lies_inside(operands, static_cast<std::size_t>(order[j]), static_cast<std::size_t>(order[j - 1]), rank)) {
        break;
      }
      std::swap(order[j], order[j - 1]);
    }
  }
  bool row_major = true;
  for (std::size_t i = 0; i < rank; ++i) row_major = row_major && order[i] == static_cast<std::int64_t>(rank - 1 - i);
  if (row_major) return meta;
  meta.strides.resize(rank);
  std::int64_t stride = 1;
  for (std::int64_t dim : order) {
    meta.strides[static_cast<std::size_t>(dim)] = stride;
    stride *= std::max<std::int64_t>(meta.sizes[static_cast<std::size_t>(dim)], 1);
  }
  return meta;
}

}  // namespace detail

}  // namespace keyway::inline v1
