#include <keyway/core/tensor/strided.h>

#include <utility>

namespace keyway::inline v1 {

namespace {

// Whether dimension `inner` should stand inside `outer`: by the first operand that is broadcast in neither,
// then by the position in the shape.
bool belongs_inside(const Strided& space, int inner, int outer) {
  for (int k = 0; k < space.operands; ++k) {
    const std::int64_t a = space.strides[k][inner], b = space.strides[k][outer];
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b;
    if (space.sizes[inner] != space.sizes[outer]) return space.sizes[inner] < space.sizes[outer];
  }
  return inner < outer;
}

void swap_dims(Strided& space, int a, int b) {
  std::swap(space.sizes[a], space.sizes[b]);
  for (int k = 0; k < space.operands; ++k) std::swap(space.strides[k][a], space.strides[k][b]);
}

// Insertion, since the order is partial: it keeps what it cannot compare as it is.
void sort_dims(Strided& space) {
  for (int i = 1; i < space.rank; ++i) {
    for (int d = i; d > 0 && belongs_inside(space, d, d - 1); --d) swap_dims(space, d, d - 1);
  }
}

bool continues(const Strided& space, int inner, int outer) {
  for (int k = 0; k < space.operands; ++k) {
    if (space.strides[k][outer] != space.strides[k][inner] * space.sizes[inner]) return false;
  }
  return true;
}

void merge_dims(Strided& space) {
  int last = 0;
  for (int d = 1; d < space.rank; ++d) {
    if (continues(space, last, d)) {
      space.sizes[last] *= space.sizes[d];
      continue;
    }
    ++last;
    space.sizes[last] = space.sizes[d];
    for (int k = 0; k < space.operands; ++k) space.strides[k][last] = space.strides[k][d];
  }
  space.rank = space.rank == 0 ? 0 : last + 1;
}

}  // namespace

void make_strided(Strided& space, IntArrayRef sizes, const TensorBase* const* operands, int count) {
  space.rank = 0;
  space.operands = count;
  for (int k = 0; k < count; ++k) space.data[k] = static_cast<char*>(operands[k]->data_ptr());
  const auto rank = static_cast<std::int64_t>(sizes.size());
  for (std::int64_t i = rank - 1; i >= 0; --i) {
    if (sizes[static_cast<std::size_t>(i)] == 1) continue;
    const int d = space.rank++;
    space.sizes[d] = sizes[static_cast<std::size_t>(i)];
    for (int k = 0; k < count; ++k) {
      const TensorBase& tensor = *operands[k];
      const std::int64_t own = i - (rank - tensor.dim());
      const bool broadcast = own < 0 || tensor.sizes()[static_cast<std::size_t>(own)] == 1;
      space.strides[k][d] =
          broadcast ? 0
                    : tensor.strides()[static_cast<std::size_t>(own)] * static_cast<std::int64_t>(tensor.itemsize());
    }
  }
  simplify(space);
}

void simplify(Strided& space) {
  sort_dims(space);
  merge_dims(space);
}

TensorBase expanded_to(const TensorBase& tensor, IntArrayRef sizes) {
  const IntArrayRef own = tensor.sizes();
  bool fits = own.size() <= sizes.size();
  const std::size_t front = fits ? sizes.size() - own.size() : 0;
  DimVector strides(sizes.size(), 0);
  for (std::size_t d = 0; fits && d < own.size(); ++d) {
    fits = own[d] == sizes[front + d] || own[d] == 1;
    if (own[d] == sizes[front + d]) strides[front + d] = tensor.strides()[d];
  }
  KEYWAY_CHECK(fits, "a tensor of shape {} does not broadcast to {}", own, sizes);
  return make_view(tensor, sizes, strides, tensor.storage_offset());
}

}  // namespace keyway::inline v1
