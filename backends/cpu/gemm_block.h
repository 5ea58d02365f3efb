// A block of a matrix product by our own loops: packs both operands into panels, sums tile by tile, and
// writes the block of the result once, so that it may be narrower than what the sums are kept in.
//
// A complex product is a real one of twice the size: with each element of b as the matrix [[re, im],
// [-im, re]], and rows of a and c as they lie in memory, re beside im.
#pragma once

#include <keyway/backends/cpu/gemm_parts.h>
#include <keyway/backends/cpu/gemm_tiles.h>
#include <keyway/backends/cpu/scratch.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace keyway::inline v1::detail {

// What the tiles compute in.
template <typename T>
struct TileTypeOf {
  using type = Opmath<T>;
};
template <typename T>
struct TileTypeOf<complex<T>> {
  using type = Opmath<T>;
};
template <IntegerElement T>
struct TileTypeOf<T> {
  using type = Wrapping<T>;
};
template <typename T>
using TileType = typename TileTypeOf<T>::type;

template <typename T>
inline constexpr std::int64_t kParts = kIsComplex<T> ? 2 : 1;
// Whether tiles can read an operand where it lies.
template <typename T>
inline constexpr bool kReadInPlace = !kIsComplex<T> && sizeof(T) == sizeof(TileType<T>);

// rows x k of a, as [k][rows], in parts.
template <typename T>
void pack_rows(const Matrix<const T>& a, TileType<T>* to) {
  using S = TileType<T>;
  if constexpr (kReadInPlace<T>) {
    constexpr auto item = static_cast<std::int64_t>(sizeof(S));
    return copy_tile({reinterpret_cast<char*>(to), item, a.rows * item}, tile_of(a), a.rows, a.columns, item);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const T* from = a.at(r, 0);
    S* out = to + r;
    for (std::int64_t p = 0; p < a.columns; ++p, from += a.column_stride) {
      if constexpr (kIsComplex<T>) {
        out[0] = static_cast<S>(from->real());
        out[a.rows] = static_cast<S>(from->imag());
      } else {
        *out = static_cast<S>(*from);
      }
      out += kParts<T> * a.rows;
    }
  }
}

// k x columns of b, as [k][width], in parts, with zeros on the right.
template <typename T>
void pack_columns(const Matrix<const T>& b, std::int64_t width, TileType<T>* to) {
  using S = TileType<T>;
  if constexpr (kReadInPlace<T>) {
    if (b.row_stride == 1 && b.column_stride != 1) {
      constexpr auto item = static_cast<std::int64_t>(sizeof(S));
      copy_tile({reinterpret_cast<char*>(to), width * item, item}, tile_of(b), b.rows, b.columns, item);
      for (std::int64_t p = 0; p < b.rows; ++p) std::fill(to + p * width + b.columns, to + (p + 1) * width, S(0));
      return;
    }
  }
  for (std::int64_t p = 0; p < b.rows; ++p, to += kParts<T> * width) {
    const T* from = b.at(p, 0);
    if constexpr (kIsComplex<T>) {
      S* second = to + width;
      for (std::int64_t j = 0; j < b.columns; ++j, from += b.column_stride) {
        to[2 * j] = static_cast<S>(from->real());
        to[2 * j + 1] = static_cast<S>(from->imag());
        second[2 * j] = -static_cast<S>(from->imag());
        second[2 * j + 1] = static_cast<S>(from->real());
      }
      std::fill(second + 2 * b.columns, second + width, S(0));
    } else {
      std::int64_t j = 0;
      if constexpr (kReadInPlace<T>) {
        constexpr std::int64_t kChunk = 16 / sizeof(T);  // a call of memcpy takes longer than most rows
        for (; b.column_stride == 1 && j + kChunk <= b.columns; j += kChunk) std::memcpy(to + j, from + j, 16);
      }
      for (; j < b.columns; ++j) to[j] = static_cast<S>(from[j * b.column_stride]);
    }
    for (std::int64_t x = kParts<T> * b.columns; x < width; ++x) to[x] = S(0);
  }
}

// One block. Requires: c is not empty.
template <typename T>
class BlockProduct {
  using S = TileType<T>;
  static constexpr std::int64_t kDepth = 128;  // of k: what the panels hold at a time

 public:
  explicit BlockProduct(const Product<T>& product)
      : product_(product),
        rows_(product.c.rows),
        parts_(product.c.columns * kParts<T>),
        k_(product.a.columns),
        tiles_(tiles_for(parts_)),
        rows_in_place_(kReadInPlace<T> && parts_ <= 4 * tiles_.lanes),
        columns_in_place_(kReadInPlace<T> && product.b.column_stride == 1 &&
                          (rows_ <= 2 * kMaxTileRows || k_ * parts_ <= 4096)),
        sums_in_place_(kReadInPlace<T> && product.alpha == Opmath<T>(1) && product.beta == Opmath<T>(0) &&
                       product.c.column_stride == 1) {}

  void run() {
    const std::int64_t depth = std::min(k_, kDepth) * kParts<T>;
    const std::int64_t lanes = tiles_.lanes;
    const std::int64_t sums = rows_ * ((parts_ + lanes - 1) / lanes * lanes);
    using Buffers = Scratch<16 * 1024>;
    Buffers buffers(scratch_bytes<S>(sums) + scratch_bytes<S>(rows_ * depth) + scratch_bytes<S>(2 * lanes * depth));
    sums_ = buffers.take<S>(sums);
    row_panels_ = buffers.take<S>(rows_ * depth);
    column_panel_ = buffers.take<S>(2 * lanes * depth);
    if (k_ == 0) std::fill_n(sums_, sums, S(0));
    for (std::int64_t p = 0; p < k_; p += kDepth) add_depth(p, std::min(kDepth, k_ - p));
    for (std::int64_t x = 0; x < parts_; x += width(x)) {
      if (!sums_lie_in_c(x)) write_panel(x);
    }
  }

 private:
  // Narrow results get narrow vectors, where those compute the same.
  static const Tiles<S>& tiles_for(std::int64_t parts) {
    const Level level = current_level();
    if (level == Level::Avx512 && parts <= tiles<S>(Level::Avx2).lanes) return tiles<S>(Level::Avx2);
    return tiles<S>(level);
  }
  // Of the panel that begins at part x of the columns: two vectors, or one where that is enough.
  std::int64_t width(std::int64_t x) const { return parts_ - x <= tiles_.lanes ? tiles_.lanes : 2 * tiles_.lanes; }
  std::int64_t columns(std::int64_t x) const { return std::min(width(x), parts_ - x) / kParts<T>; }

  // Whether tiles leave their sums of the panel at x where they belong.
  bool sums_lie_in_c(std::int64_t x) const { return sums_in_place_ && k_ > 0 && parts_ - x >= width(x); }

  // Calls f(first row, which of kTileRows) for tiles that together are all rows.
  template <typename F>
  void each_tile(const F& f) const {
    int height = tiles_.heights - 1;
    for (std::int64_t r = 0; r < rows_; r += kTileRows[height]) {
      while (kTileRows[height] > rows_ - r) --height;
      f(r, height);
    }
  }

  void add_depth(std::int64_t p, std::int64_t depth) {
    if (!rows_in_place_) {
      each_tile([&](std::int64_t r, int height) {
        pack_rows(product_.a.block(r, p, kTileRows[height], depth), row_panels_ + r * depth * kParts<T>);
      });
    }
    for (std::int64_t x = 0; x < parts_; x += width(x)) add_panel(p, depth, x);
  }

  void add_panel(std::int64_t p, std::int64_t depth, std::int64_t x) {
    const std::int64_t w = width(x);
    const S* b = column_panel_;
    std::int64_t b_step = w;
    if (columns_in_place_ && parts_ - x >= w) {
      b = reinterpret_cast<const S*>(product_.b.at(p, x));
      b_step = product_.b.row_stride;
    } else {
      pack_columns(product_.b.block(p, x / kParts<T>, depth, columns(x)), w, column_panel_);
    }
    const bool in_c = sums_lie_in_c(x);
    const std::int64_t sums_row = in_c ? product_.c.row_stride : w;
    each_tile([&](std::int64_t r, int height) {
      const Tile<S> tile = tiles_.at[height][w == tiles_.lanes ? 0 : 1];
      S* const sums = in_c ? reinterpret_cast<S*>(product_.c.at(r, x)) : sums_ + rows_ * x + r * w;
      if (rows_in_place_) {
        tile(depth, reinterpret_cast<const S*>(product_.a.at(r, p)), product_.a.row_stride, product_.a.column_stride, b,
             b_step, sums, sums_row, p == 0);
      } else {
        tile(depth * kParts<T>, row_panels_ + r * depth * kParts<T>, 1, kTileRows[height], b, b_step, sums, sums_row,
             p == 0);
      }
    });
  }

  // c = alpha * sums + beta * add, for a panel of columns.
  void write_panel(std::int64_t x) const {
    using Wide = std::conditional_t<kIsComplex<T>, Opmath<T>, S>;
    const Wide alpha = static_cast<Wide>(product_.alpha), beta = static_cast<Wide>(product_.beta);
    const std::int64_t w = width(x), first = x / kParts<T>, count = columns(x);
    const S* sums = sums_ + rows_ * x;
    for (std::int64_t i = 0; i < rows_; ++i, sums += w) {
      T* to = product_.c.at(i, first);
      if (sums_in_place_) {
        std::memcpy(static_cast<void*>(to), sums, static_cast<std::size_t>(count) * sizeof(T));
        continue;
      }
      for (std::int64_t j = 0; j < count; ++j, to += product_.c.column_stride) {
        Wide value = sum_at(sums, j);
        if (alpha != Wide(1)) value = alpha * value;
        if (beta != Wide(0)) value = value + beta * static_cast<Wide>(*product_.add.at(i, first + j));
        *to = static_cast<T>(value);
      }
    }
  }
  static auto sum_at(const S* sums, std::int64_t j) {
    if constexpr (kIsComplex<T>) {
      return Opmath<T>(sums[2 * j], sums[2 * j + 1]);
    } else {
      return sums[j];
    }
  }

  const Product<T>& product_;
  std::int64_t rows_;
  std::int64_t parts_;
  std::int64_t k_;
  const Tiles<S>& tiles_;
  bool rows_in_place_;
  bool columns_in_place_;
  bool sums_in_place_;
  S* sums_ = nullptr;
  S* row_panels_ = nullptr;    // [tile][k][rows of the tile]
  S* column_panel_ = nullptr;  // [k][width]
};

}  // namespace keyway::inline v1::detail
