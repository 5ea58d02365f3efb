// A block of a matrix product on one thread, tile by tile. Operands are read where they lie if tiles can read them
// there and caches bear it, else they are packed into panels, a depth of k at a time. Sums are kept in the result, if
// it can hold them, or beside it.
//
// Kazushige Goto, Robert van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).
//
// What an element of the result is does not depend on the block that it is in: of each depth the products are added up
// in the order of k, and depths in their order to what the sum begins with.
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
  using Wide = std::conditional_t<kIsComplex<T>, Opmath<T>, S>;
  static constexpr std::int64_t kDepth = 256 / kParts<T>;  // of k: what the panels hold at a time
  // Rows whose panels stay in a second-level cache while columns go by, and columns that are packed once for all rows.
  static constexpr std::int64_t kRows = 256;
  static constexpr std::int64_t kColumns = 2048;
  // Columns packed at a time if all rows are packed at once: several panels, since memory is read in long runs.
  static constexpr int kPanelsOfRun = 4;
  // Operands of so many bytes are read where they lie.
  static constexpr std::int64_t kBytesInPlace = 1 << 20;
  // From so many elements on they are fetched ahead of their use.
  static constexpr std::int64_t kFetched = 1 << 15;

 public:
  explicit BlockProduct(const Product<T>& product)
      : product_(product),
        rows_(product.c.rows),
        parts_(product.c.columns * kParts<T>),
        k_(product.a.columns),
        tiles_(tiles_for(parts_)),
        panel_(2 * tiles_.lanes),
        rows_in_place_(kReadInPlace<T> && (parts_ <= 2 * panel_ || (is_dense(product.a) && is_small(rows_)))),
        columns_in_place_(kReadInPlace<T> && product.b.column_stride == 1 &&
                          (rows_ <= 2 * kMaxTileRows || (is_small(parts_) && !shares_sets(product.b.row_stride)))),
        sums_in_place_(can_sum_in_place(product)),
        begins_with_add_(product.alpha == Opmath<T>(1) && product.beta != Opmath<T>(0)) {}

  // Whether sums can be kept in c.
  static bool can_sum_in_place(const Product<T>& product) {
    return kReadInPlace<T> && product.alpha == Opmath<T>(1) && product.c.column_stride == 1;
  }

  void run() {
    const std::int64_t depth = std::min(k_, kDepth) * kParts<T>, padded = in_vectors(parts_);
    first_of_sums_ = sums_in_place_ ? parts_ / panel_ * panel_ : 0;
    if (sums_in_place_ && parts_ - first_of_sums_ == tiles_.lanes) first_of_sums_ = parts_;
    const std::int64_t sums = rows_ * (padded - in_vectors(first_of_sums_));
    const std::int64_t row_panels = rows_in_place_ ? 0 : std::min(rows_, kRows) * depth;
    run_ = std::min(padded, columns_in_place_ ? panel_ : rows_ <= kRows ? kPanelsOfRun * panel_ : kColumns);
    Scratch<32 * 1024> buffers(scratch_bytes<S>(sums) + scratch_bytes<S>(row_panels) + scratch_bytes<S>(run_ * depth));
    sums_ = buffers.template take<S>(sums);
    row_panels_ = buffers.template take<S>(row_panels);
    column_panels_ = buffers.template take<S>(run_ * depth);
    if (begins_with_add_ || k_ == 0) begin_sums();
    for (std::int64_t x = 0; x < parts_; x += kColumns) {
      const std::int64_t end = std::min(parts_, x + kColumns);
      for (std::int64_t p = 0; p < k_; p += kDepth) add_depth(p, std::min(kDepth, k_ - p), x, end);
    }
    for (std::int64_t x = first_of_sums_; x < parts_; x += width(x)) write_panel(x);
  }

 private:
  // Narrow results get narrow vectors.
  static const Tiles<S>& tiles_for(std::int64_t parts) {
    const SimdLevel level = current_level();
    if (level == SimdLevel::Avx512 && parts <= tiles<S>(SimdLevel::Avx2).lanes) return tiles<S>(SimdLevel::Avx2);
    return tiles<S>(level);
  }
  static bool is_dense(const Matrix<const T>& matrix) { return matrix.column_stride == 1 || matrix.row_stride == 1; }
  bool is_small(std::int64_t length) const {
    return k_ <= kBytesInPlace / static_cast<std::int64_t>(sizeof(T)) / length;
  }

  // Whether lines so far apart share few sets in a first-level cache.
  static bool shares_sets(std::int64_t stride) { return stride * static_cast<std::int64_t>(sizeof(T)) % 8192 == 0; }

  std::int64_t in_vectors(std::int64_t parts) const { return (parts + tiles_.lanes - 1) / tiles_.lanes * tiles_.lanes; }
  // Of the panel that begins at part x of the columns: two vectors, or one where that is enough.
  std::int64_t width(std::int64_t x) const { return parts_ - x <= tiles_.lanes ? tiles_.lanes : panel_; }
  std::int64_t columns(std::int64_t x) const { return std::min(width(x), parts_ - x) / kParts<T>; }
  S* sums_of(std::int64_t x) const { return sums_ + rows_ * (x - first_of_sums_); }

  // Calls f(first row, rows) for tiles that together are the rows [begin, end).
  template <typename F>
  void each_tile(std::int64_t begin, std::int64_t end, const F& f) const {
    for (std::int64_t r = begin; r < end; r += tiles_.rows) {
      f(r, static_cast<int>(std::min<std::int64_t>(tiles_.rows, end - r)));
    }
  }

  // Sums begin with beta * add, or with zeros.
  void begin_sums() const {
    const bool is_there = product_.beta == Opmath<T>(1) && product_.add.data == product_.c.data &&
                          product_.add.row_stride == product_.c.row_stride && product_.add.column_stride == 1;
    for (std::int64_t i = 0; i < rows_ && first_of_sums_ > 0 && !is_there; ++i) {
      begin_row(reinterpret_cast<S*>(product_.c.at(i, 0)), i, 0, first_of_sums_);
    }
    for (std::int64_t x = first_of_sums_; x < parts_; x += width(x)) {
      for (std::int64_t i = 0; i < rows_; ++i) begin_row(sums_of(x) + i * width(x), i, x / kParts<T>, columns(x));
    }
  }
  void begin_row(S* to, std::int64_t i, std::int64_t first, std::int64_t count) const {
    if (!begins_with_add_) {
      std::fill_n(to, count * kParts<T>, S(0));
      return;
    }
    const Wide beta = static_cast<Wide>(product_.beta);
    const T* from = product_.add.at(i, first);
    const std::int64_t step = product_.add.column_stride;
    if (step == 1 && !kIsComplex<T>) {
      for (std::int64_t j = 0; j < count; ++j) set(to, j, beta * static_cast<Wide>(from[j]));
    } else {
      for (std::int64_t j = 0; j < count; ++j) set(to, j, beta * static_cast<Wide>(from[j * step]));
    }
  }

  // To the columns [first, last) of parts.
  void add_depth(std::int64_t p, std::int64_t depth, std::int64_t first, std::int64_t last) {
    for (std::int64_t x = first; x < last; x += run_) {
      const std::int64_t end = std::min(last, x + run_);
      fill_column_panels(p, depth, x, end);
      for (std::int64_t r = 0; r < rows_; r += kRows) {
        const std::int64_t bottom = std::min(rows_, r + kRows);
        if (!rows_in_place_ && (x == first || rows_ > kRows)) fill_row_panels(p, depth, r, bottom);
        for (std::int64_t y = x; y < end; y += width(y)) {
          add_panel(p, depth, r, bottom, y, column_panels_ + (y - x) * depth * kParts<T>);
        }
      }
    }
  }

  // Panels of the tallest tiles are filled by vectors.
  void fill_row_panels(std::int64_t p, std::int64_t depth, std::int64_t begin, std::int64_t end) const {
    std::int64_t filled = 0;
    if constexpr (kReadInPlace<T>) {
      const int height = tiles_.rows;
      const std::int64_t full = (end - begin) / height;
      const Matrix<const T>& a = product_.a;
      const S* const from = reinterpret_cast<const S*>(a.at(begin, p));
      if (a.row_stride == 1) {
        constexpr std::int64_t kTogether = 2;  // a cache line, mostly
        for (std::int64_t i = 0; i < full; i += kTogether) {
          tiles_.copy_panels(depth, std::min(kTogether, full - i), height, from + i * height, a.column_stride,
                             row_panels_ + i * height * depth);
        }
        filled = full * height;
      } else if (a.column_stride == 1 && height == kMaxTileRows) {
        for (std::int64_t i = 0; i < full; ++i) {
          tiles_.turn_rows(depth, height, from + i * height * a.row_stride, a.row_stride,
                           row_panels_ + i * height * depth);
        }
        filled = full * height;
      }
    }
    each_tile(begin + filled, end, [&](std::int64_t r, int height) {
      pack_rows(product_.a.block(r, p, height, depth), row_panels_ + (r - begin) * depth * kParts<T>);
    });
  }

  // Those that are not read where they lie: full ones by vectors.
  void fill_column_panels(std::int64_t p, std::int64_t depth, std::int64_t begin, std::int64_t end) const {
    S* to = column_panels_;
    if constexpr (kReadInPlace<T>) {
      const Matrix<const T>& b = product_.b;
      const std::int64_t full = (end - begin) / panel_;
      const S* const from = reinterpret_cast<const S*>(b.at(p, begin));
      const int width = static_cast<int>(panel_);
      std::int64_t filled = columns_in_place_ ? full : 0;
      if (b.column_stride == 1 && filled < full) {
        for (; filled < full; filled += kPanelsOfRun) {
          tiles_.copy_panels(depth, std::min<std::int64_t>(kPanelsOfRun, full - filled), width, from + filled * panel_,
                             b.row_stride, to + filled * panel_ * depth);
        }
        filled = full;
      } else if (b.row_stride == 1) {
        for (; filled < full; ++filled) {
          tiles_.turn_columns(depth, width, from + filled * panel_ * b.column_stride, b.column_stride,
                              to + filled * panel_ * depth);
        }
      }
      begin += filled * panel_;
      to += filled * panel_ * depth;
      if (columns_in_place_ && end - begin == tiles_.lanes) return;
    }
    for (std::int64_t x = begin; x < end; x += width(x)) {
      pack_columns(product_.b.block(p, x / kParts<T>, depth, columns(x)), width(x), to);
      to += width(x) * depth * kParts<T>;
    }
  }

  // `packed` is the panel at x of the columns, if it was packed.
  void add_panel(std::int64_t p, std::int64_t depth, std::int64_t begin, std::int64_t end, std::int64_t x,
                 const S* packed) const {
    const std::int64_t w = width(x);
    const bool b_in_place = columns_in_place_ && parts_ - x >= w, in_c = x < first_of_sums_;
    const S* const b = b_in_place ? reinterpret_cast<const S*>(product_.b.at(p, x)) : packed;
    const std::int64_t b_step = b_in_place ? product_.b.row_stride : w;
    const std::int64_t sums_row = in_c ? product_.c.row_stride : w;
    // The next panel of what lies apart is fetched once, by the first tile of rows.
    const std::int64_t next = b_in_place && k_ * parts_ > kFetched && x + 2 * w <= parts_ ? w : 0;
    const bool is_fresh = p == 0 && !begins_with_add_;
    each_tile(begin, end, [&](std::int64_t r, int height) {
      const Tile<S> tile = tiles_.at[height - 1][w == tiles_.lanes ? 0 : 1];
      S* const sums = in_c ? reinterpret_cast<S*>(product_.c.at(r, x)) : sums_of(x) + r * w;
      const std::int64_t ahead = r == 0 ? next : 0;
      if (rows_in_place_) {
        tile(depth, reinterpret_cast<const S*>(product_.a.at(r, p)), product_.a.row_stride, product_.a.column_stride, b,
             b_step, ahead, sums, sums_row, is_fresh);
      } else {
        tile(depth * kParts<T>, row_panels_ + (r - begin) * depth * kParts<T>, 1, height, b, b_step, ahead, sums,
             sums_row, is_fresh);
      }
    });
  }

  // c = sums, or alpha * sums + beta * add where they did not begin with that, for a panel of columns.
  void write_panel(std::int64_t x) const {
    const Wide alpha = static_cast<Wide>(product_.alpha), beta = static_cast<Wide>(product_.beta);
    const bool adds = beta != Wide(0) && !begins_with_add_;
    const std::int64_t w = width(x), first = x / kParts<T>, count = columns(x);
    const S* sums = sums_of(x);
    for (std::int64_t i = 0; i < rows_; ++i, sums += w) {
      T* to = product_.c.at(i, first);
      if (sums_in_place_) {
        std::memcpy(static_cast<void*>(to), sums, static_cast<std::size_t>(count) * sizeof(T));
        continue;
      }
      for (std::int64_t j = 0; j < count; ++j, to += product_.c.column_stride) {
        Wide value = sum_at(sums, j);
        if (alpha != Wide(1)) value = alpha * value;
        if (adds) value = value + beta * static_cast<Wide>(*product_.add.at(i, first + j));
        *to = static_cast<T>(value);
      }
    }
  }

  static Wide sum_at(const S* sums, std::int64_t j) {
    if constexpr (kIsComplex<T>) {
      return Wide(sums[2 * j], sums[2 * j + 1]);
    } else {
      return sums[j];
    }
  }
  static void set(S* sums, std::int64_t j, Wide value) {
    if constexpr (kIsComplex<T>) {
      sums[2 * j] = value.real();
      sums[2 * j + 1] = value.imag();
    } else {
      sums[j] = value;
    }
  }

  const Product<T>& product_;
  std::int64_t rows_;
  std::int64_t parts_;
  std::int64_t k_;
  const Tiles<S>& tiles_;
  std::int64_t panel_;  // parts of a full panel of columns
  bool rows_in_place_;
  bool columns_in_place_;
  bool sums_in_place_;
  bool begins_with_add_;
  std::int64_t run_ = 0;            // parts whose panels exist at a time
  std::int64_t first_of_sums_ = 0;  // from this part on sums lie in sums_, before it in c
  S* sums_ = nullptr;
  S* row_panels_ = nullptr;     // [tile][k][rows of the tile]
  S* column_panels_ = nullptr;  // [panel][k][width]
};

}  // namespace keyway::inline v1::detail
