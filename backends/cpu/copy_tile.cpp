#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/loop.h>

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace keyway::inline v1 {

namespace {

struct Bytes16 {
  std::uint64_t words[2];
};

template <typename T>
T load_item(const char* from) {
  T x;
  std::memcpy(&x, from, sizeof(T));
  return x;
}
template <typename T>
void store_item(char* to, T x) {
  std::memcpy(to, &x, sizeof(T));
}

// The element that the context is, n times.
template <SimdLevel level, typename T>
struct RepeatBody {
  KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    char* const to = data[0];
    const T x = load_item<T>(static_cast<const char*>(context));
    for (std::int64_t i = 0; i < n; ++i) store_item(to + i * kItem, x);
  }
};

// n elements, of which the last is read first.
template <SimdLevel level, typename T>
struct ReverseBody {
  KEYWAY_INLINE static void run(const void*, char* const* data, std::int64_t n) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    char* const to = data[0];
    const char* const from = data[1];
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) store_item(to + i * kItem, load_item<T>(from - i * kItem));
  }
};

// One row, or one column.
template <typename T>
void copy_line(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t n) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  if (to_step == kItem && from_step == kItem) {
    std::memcpy(to, from, static_cast<std::size_t>(n * kItem));
  } else if (to_step == kItem && from_step == 0) {
    detail::kLoopsOf<RepeatBody, T>[current_level()](from, &to, n);
  } else if (to_step == kItem && from_step == -kItem) {
    char* const data[] = {to, const_cast<char*>(from)};
    detail::kLoopsOf<ReverseBody, T>[current_level()](nullptr, data, n);
  } else if (to_step == kItem) {
    for (std::int64_t i = 0; i < n; ++i) store_item(to + i * kItem, load_item<T>(from + i * from_step));
  } else {
    for (std::int64_t i = 0; i < n; ++i) store_item(to + i * to_step, load_item<T>(from + i * from_step));
  }
}

// A square of 16-byte vectors.
template <typename T>
struct Square {
  static constexpr int kSide = 16 / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(16)));

  // The elements of a and b in turns; of their first or second halves.
  template <int half, int... i>
  static Vector interleave(Vector a, Vector b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (half * kSide / 2 + i / 2 + (i % 2) * kSide)...);
  }

  // Interleaving vector i with vector i + side / 2 moves each element's vector number one bit towards its lane number,
  // and its lane number towards its vector number; log2(side) times exchange them.
  static void transpose(char* to, std::int64_t to_row, const char* from, std::int64_t from_row) {
    Vector v[kSide], w[kSide];
    for (int i = 0; i < kSide; ++i) std::memcpy(&v[i], from + i * from_row, 16);
    for (int stage = 1; stage < kSide; stage *= 2) {
      for (int i = 0; i < kSide / 2; ++i) {
        w[2 * i] = interleave<0>(v[i], v[i + kSide / 2], std::make_integer_sequence<int, kSide>());
        w[2 * i + 1] = interleave<1>(v[i], v[i + kSide / 2], std::make_integer_sequence<int, kSide>());
      }
      std::swap(v, w);
    }
    for (int i = 0; i < kSide; ++i) std::memcpy(to + i * to_row, &v[i], 16);
  }
};

// `from` is contiguous along columns of the rectangle, `to` along rows. Goes along what is contiguous in `from`, so
// that a cache line of it is used up at once.
template <typename T>
void transpose_tile(const TileTo& to, const TileFrom& from, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = Square<T>::kSide;
  const std::int64_t full_rows = rows / kSide * kSide, full_columns = columns / kSide * kSide;
  for (std::int64_t c = 0; c < full_columns; c += kSide) {
    for (std::int64_t r = 0; r < full_rows; r += kSide) {
      Square<T>::transpose(to.data + r * to.row + c * to.column, to.row, from.data + r * from.row + c * from.column,
                           from.column);
    }
  }
  for (std::int64_t r = full_rows; r < rows; ++r) {
    copy_line<T>(to.data + r * to.row, to.column, from.data + r * from.row, from.column, columns);
  }
  for (std::int64_t c = full_columns; c < columns; ++c) {
    copy_line<T>(to.data + c * to.column, to.row, from.data + c * from.column, from.row, full_rows);
  }
}

// Elements of a line that is filled faster by itself than as a part of squares.
constexpr std::int64_t kLongLine = 32;

template <typename T>
void copy_tile_as(const TileTo& to, const TileFrom& from, std::int64_t rows, std::int64_t columns) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  if (to.column == kItem && to.row == columns * kItem) {
    if (from.column == 0 && from.row == 0) return copy_line<T>(to.data, kItem, from.data, 0, rows * columns);
    if (from.column == kItem && from.row == to.row) {
      return copy_line<T>(to.data, kItem, from.data, kItem, rows * columns);
    }
  }
  if constexpr (sizeof(T) < 16) {
    const bool repeats = from.column == 0 && columns >= kLongLine;
    if (to.column == kItem && from.row == kItem && from.column != kItem && !repeats) {
      return transpose_tile<T>(to, from, rows, columns);
    }
    if (to.row == kItem && from.column == kItem && to.column != kItem) {
      return transpose_tile<T>({to.data, to.column, to.row}, {from.data, from.column, from.row}, columns, rows);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    copy_line<T>(to.data + r * to.row, to.column, from.data + r * from.row, from.column, columns);
  }
}

}  // namespace

void copy_tile(const TileTo& to, const TileFrom& from, std::int64_t rows, std::int64_t columns, std::int64_t itemsize) {
  switch (itemsize) {
    case 1: return copy_tile_as<std::uint8_t>(to, from, rows, columns);
    case 2: return copy_tile_as<std::uint16_t>(to, from, rows, columns);
    case 4: return copy_tile_as<std::uint32_t>(to, from, rows, columns);
    case 8: return copy_tile_as<std::uint64_t>(to, from, rows, columns);
    default: return copy_tile_as<Bytes16>(to, from, rows, columns);
  }
}

void stream_bytes(char* to, const char* from, std::int64_t bytes) {
#if defined(__SSE2__)
  constexpr std::int64_t kLine = 64;
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLine);
  const std::int64_t head = std::min(bytes, (kLine - misaligned) % kLine);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    for (std::int64_t k = 0; k < kLine; k += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k)));
    }
  }
  std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

std::int64_t stream_threshold() {
  static const std::int64_t threshold = [] {
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 ? static_cast<std::int64_t>(cache) / 2 : std::int64_t{16} << 20;
  }();
  return threshold;
}

}  // namespace keyway::inline v1
