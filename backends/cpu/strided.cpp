#include <keyway/backends/cpu/strided.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace keyway::inline v1 {

namespace {

// Whether dimension `inner` should stand inside `outer`: by the first operand that is broadcast in neither,
// then by the place in the shape.
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

struct Bytes16 {
  std::uint64_t words[2];
};

template <typename T>
void copy_strided(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    T x;
    std::memcpy(&x, from + i * from_stride, sizeof(T));
    std::memcpy(to + i * to_stride, &x, sizeof(T));
  }
}

template <typename T>
void fill(char* to, const char* from, std::int64_t n) {
  T x;
  std::memcpy(&x, from, sizeof(T));
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
}

template <typename T>
void pack_as(char* buffer, const char* from, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
             std::int64_t column_stride) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  if (row_stride == 0 && column_stride == 0) return fill<T>(buffer, from, rows * columns);
  for (std::int64_t r = 0; r < rows; ++r, from += row_stride, buffer += columns * kItem) {
    if (column_stride == kItem) {
      std::memcpy(buffer, from, static_cast<std::size_t>(columns * kItem));
    } else if (column_stride == 0) {
      fill<T>(buffer, from, columns);
    } else {
      copy_strided<T>(buffer, kItem, from, column_stride, columns);
    }
  }
}

template <typename T>
void unpack_as(char* to, const char* buffer, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = 0; r < rows; ++r, to += row_stride, buffer += columns * kItem) {
    if (column_stride == kItem) {
      std::memcpy(to, buffer, static_cast<std::size_t>(columns * kItem));
    } else {
      copy_strided<T>(to, column_stride, buffer, kItem, columns);
    }
  }
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

void pack(char* buffer, const char* from, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
          std::int64_t column_stride, std::int64_t itemsize) {
  switch (itemsize) {
    case 1: return pack_as<std::uint8_t>(buffer, from, rows, columns, row_stride, column_stride);
    case 2: return pack_as<std::uint16_t>(buffer, from, rows, columns, row_stride, column_stride);
    case 4: return pack_as<std::uint32_t>(buffer, from, rows, columns, row_stride, column_stride);
    case 8: return pack_as<std::uint64_t>(buffer, from, rows, columns, row_stride, column_stride);
    default: return pack_as<Bytes16>(buffer, from, rows, columns, row_stride, column_stride);
  }
}

void unpack(char* to, const char* buffer, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
            std::int64_t column_stride, std::int64_t itemsize) {
  switch (itemsize) {
    case 1: return unpack_as<std::uint8_t>(to, buffer, rows, columns, row_stride, column_stride);
    case 2: return unpack_as<std::uint16_t>(to, buffer, rows, columns, row_stride, column_stride);
    case 4: return unpack_as<std::uint32_t>(to, buffer, rows, columns, row_stride, column_stride);
    case 8: return unpack_as<std::uint64_t>(to, buffer, rows, columns, row_stride, column_stride);
    default: return unpack_as<Bytes16>(to, buffer, rows, columns, row_stride, column_stride);
  }
}

}  // namespace keyway::inline v1
