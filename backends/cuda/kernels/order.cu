// The stable order of keys, by merging. A block sorts a tile of keys in shared memory: each thread its own few, then
// runs of them are merged to runs of twice the length, until the tile is one, or each of the short rows that share it.
// Longer rows go on in passes over global memory, which merge neighbouring runs; a block writes one tile of the result.
// Where a thread's, or a block's, part of a merged run begins in both of its halves is found by bisection, so each
// element that comes of a merge is taken by one thread from addresses that it alone knows: nothing is shared but what
// was sorted before. Keys are integers of 32 or 64 bits, so there are two kernels for each of two widths.
//
// A pass reads and writes every key and index once, coalesced, and that bounds it: n log2(n / tile) elements in all. If
// only the first of each row are wanted, runs are cut off there, and passes get shorter as runs get fewer.
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/kernels/order.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

constexpr unsigned kSorters = 256;  // threads of a block
constexpr unsigned kOwn = 8;        // elements of a thread
constexpr unsigned kTile = kSorters * kOwn;

// Of the first `count` elements of the merge of two sorted runs, how many are of the first run; its elements come
// before those of the second one that equal them.
template <typename Key, typename Size>
__device__ Size taken(const Key* first, Size first_size, const Key* second, Size second_size, Size count) {
  Size low = count > second_size ? count - second_size : 0;
  Size high = count < first_size ? count : first_size;
  while (low < high) {
    const Size middle = low + (high - low) / 2;
    if (second[count - 1 - middle] < first[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Where the next kOwn elements of the merge of [a, a_end) and [b, b_end) are. Beyond both ends they are nowhere.
template <typename Key>
__device__ void merge_own(const Key* keys, unsigned a, unsigned a_end, unsigned b, unsigned b_end,
                          unsigned (&from)[kOwn]) {
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    const bool first = b >= b_end || (a < a_end && !(keys[b] < keys[a]));
    from[i] = first ? a++ : b++;
  }
}

// The tiles of all rows, in pieces that are sorted by themselves: short rows share a tile, long ones have several.
struct Tiles {
  std::int64_t rows, n;
  std::uint32_t span;     // of a piece, in a tile: a power of two from kOwn to kTile
  std::uint32_t per_row;  // pieces; one unless a piece is a tile

  struct Piece {
    std::int64_t row, begin;  // the first of its elements in the row
    std::uint32_t count;      // of its elements, which may be none
  };
  __device__ Piece piece(std::uint32_t slot) const {
    if (per_row > 1) {
      const std::uint32_t row = blockIdx.x / per_row;
      const std::int64_t begin = std::int64_t{blockIdx.x - row * per_row} * kTile;
      return {row, begin, n - begin < kTile ? static_cast<std::uint32_t>(n - begin) : kTile};
    }
    const std::int64_t row = std::int64_t{blockIdx.x} * (kTile / span) + slot / span;
    return {row, 0, row < rows ? static_cast<std::uint32_t>(n) : 0};
  }
};

// A thread's own elements, of which there are `count`: neighbours are exchanged until all are in order.
template <typename Key>
__device__ void sort_own(Key* keys, std::uint16_t* indices, std::uint32_t count, std::uint32_t first) {
  Key key[kOwn];
  std::uint32_t at[kOwn];
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    key[i] = i < count ? keys[i] : Key{};
    at[i] = first + i;
  }
#pragma unroll
  for (unsigned round = 0; round < kOwn; ++round) {
#pragma unroll
    for (unsigned i = round % 2; i + 1 < kOwn; i += 2) {
      if (i + 1 >= count || !(key[i + 1] < key[i])) continue;
      const Key greater = key[i];
      key[i] = key[i + 1];
      key[i + 1] = greater;
      const std::uint32_t later = at[i];
      at[i] = at[i + 1];
      at[i + 1] = later;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    if (i >= count) break;
    keys[i] = key[i];
    indices[i] = static_cast<std::uint16_t>(at[i]);
  }
}

// Runs of `width` that begin where the piece does, which ends at `end`, are merged to runs of twice that. Every thread
// calls it; its own part of the result begins at `first`.
template <typename Key>
__device__ void merge_in_tile(Key* keys, std::uint16_t* indices, unsigned width, unsigned first, unsigned end) {
  const unsigned begin = first & ~(2 * width - 1);
  const unsigned middle = begin + width < end ? begin + width : end;
  const unsigned last = begin + 2 * width < end ? begin + 2 * width : end;
  Key key[kOwn];
  std::uint16_t index[kOwn];
  if (first < last) {
    const unsigned count = first - begin;
    const unsigned a = taken(keys + begin, middle - begin, keys + middle, last - middle, count);
    unsigned from[kOwn];
    merge_own(keys, begin + a, middle, middle + count - a, last, from);
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
      if (first + i >= last) break;
      key[i] = keys[from[i]];
      index[i] = indices[from[i]];
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kOwn; ++i) {
    if (first + i >= last) break;
    keys[first + i] = key[i];
    indices[first + i] = index[i];
  }
  __syncthreads();
}

// `sorted` may be null.
template <typename Key>
__global__ void __launch_bounds__(kSorters) sort_tiles(const Key* const unsorted, Key* const sorted,
                                                       std::int64_t* const order, const __grid_constant__ Tiles tiles) {
  __shared__ Key keys[kTile];
  __shared__ std::uint16_t indices[kTile];  // in the piece
  for (unsigned slot = threadIdx.x; slot < kTile; slot += kSorters) {
    const Tiles::Piece piece = tiles.piece(slot);
    const unsigned at = slot % tiles.span;
    if (at < piece.count) keys[slot] = unsorted[piece.row * tiles.n + piece.begin + at];
  }
  __syncthreads();
  const unsigned first = threadIdx.x * kOwn;
  const unsigned at = first % tiles.span, count = tiles.piece(first).count;
  sort_own(keys + first, indices + first, count > at ? count - at : 0, at);
  __syncthreads();
  for (unsigned width = kOwn; width < tiles.span; width *= 2) {
    merge_in_tile(keys, indices, width, first, first - at + count);
  }
  for (unsigned slot = threadIdx.x; slot < kTile; slot += kSorters) {
    const Tiles::Piece piece = tiles.piece(slot);
    if (slot % tiles.span >= piece.count) continue;
    const std::int64_t to = piece.row * tiles.n + piece.begin + slot % tiles.span;
    if (sorted != nullptr) sorted[to] = keys[slot];
    order[to] = piece.begin + indices[slot];
  }
}

// One pass over rows of sorted runs of `width`, which are merged in pairs. Of a run the first `kept` are wanted, and so
// there: no element after them is looked at.
struct Pass {
  std::int64_t n, width, kept;
  std::uint32_t pairs;    // of a row
  std::uint32_t windows;  // of a pair: tiles of its result

  // What a block has to do: elements [first, first + count) of the merge of two runs. There may be none.
  struct Window {
    std::int64_t begin;                    // of the pair, in all rows
    std::int64_t first_size, second_size;  // of its runs
    std::int64_t first, count;
  };
  __device__ Window window() const {
    const std::uint32_t pair = blockIdx.x / windows, row = pair / pairs;
    const std::int64_t in_row = std::int64_t{pair - row * pairs} * 2 * width;
    const std::int64_t both = least(2 * width, n - in_row), first_size = least(width, both);
    const std::int64_t first = std::int64_t{blockIdx.x - pair * windows} * kTile;
    return {row * n + in_row, first_size, both - first_size, first, least(least(both, kept) - first, kTile)};
  }
  __device__ static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
};

// `merged` may be null.
template <typename Key>
__global__ void __launch_bounds__(kSorters)
    merge_runs(const Key* const sorted, const std::int64_t* const order, Key* const merged,
               std::int64_t* const merged_order, const __grid_constant__ Pass pass) {
  __shared__ Key keys[kTile];
  __shared__ std::uint16_t source[kTile];
  __shared__ std::int64_t split[2];  // how many of the first run come before the window, and before its end
  const Pass::Window window = pass.window();
  if (window.count <= 0) return;  // all threads of the block
  const std::int64_t second = window.begin + pass.width;
  if (threadIdx.x < 2) {
    split[threadIdx.x] = taken(sorted + window.begin, window.first_size, sorted + second, window.second_size,
                               window.first + threadIdx.x * window.count);
  }
  __syncthreads();
  // The window's elements of the first run, and after them those of the second.
  const std::int64_t a = window.begin + split[0], b = second + window.first - split[0];
  const auto a_size = static_cast<unsigned>(split[1] - split[0]), size = static_cast<unsigned>(window.count);
  const auto origin = [&](unsigned slot) { return slot < a_size ? a + slot : b + (slot - a_size); };
  for (unsigned slot = threadIdx.x; slot < size; slot += kSorters) keys[slot] = sorted[origin(slot)];
  __syncthreads();
  const unsigned first = threadIdx.x * kOwn;
  if (first < size) {
    const unsigned own_a = taken<Key, unsigned>(keys, a_size, keys + a_size, size - a_size, first);
    unsigned from[kOwn];
    merge_own(keys, own_a, a_size, a_size + first - own_a, size, from);
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
      if (first + i < size) source[first + i] = static_cast<std::uint16_t>(from[i]);
    }
  }
  __syncthreads();
  for (unsigned slot = threadIdx.x; slot < size; slot += kSorters) {
    const std::int64_t to = window.begin + window.first + slot;
    if (merged != nullptr) merged[to] = keys[source[slot]];
    merged_order[to] = order[origin(source[slot])];
  }
}

// Keys and indices, of which each pass reads some and writes others.
template <typename Key>
struct Sorted {
  TensorBase keys, order;

  Key* key_data() const { return keys.defined() ? keys.data_ptr<Key>() : nullptr; }
  std::int64_t* order_data() const { return order.data_ptr<std::int64_t>(); }
};

// Requires: there are rows; n >= 1.
template <typename Key>
TensorBase order_of_rows(const TensorBase& keys, std::int64_t rows, std::int64_t n, std::int64_t kept) {
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(keys.device()));
  const auto room = [&](ScalarType dtype) { return make_tensor(keys.sizes(), dtype, keys.device()); };
  const auto pieces = [](std::int64_t items, std::int64_t size) {
    return static_cast<std::uint32_t>((items + size - 1) / size);
  };
  Sorted<Key> now{n > kTile ? room(keys.dtype()) : TensorBase(), room(kLong)}, next;
  const auto power = std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(n, kTile)));
  const auto span = std::max(kOwn, static_cast<unsigned>(power));
  const Tiles tiles{rows, n, span, pieces(n, span)};
  const std::uint32_t blocks =
      tiles.per_row > 1 ? static_cast<std::uint32_t>(rows * tiles.per_row) : pieces(rows, kTile / span);
  launch(&sort_tiles<Key>, dim3(blocks), kSorters, stream, keys.data_ptr<Key>(), now.key_data(), now.order_data(),
         tiles);
  for (std::int64_t width = kTile; width < n; width *= 2) {
    const bool last = 2 * width >= n;
    if (!next.order.defined()) next.order = room(kLong);
    if (!last && !next.keys.defined()) next.keys = room(keys.dtype());
    const Pass pass{n, width, kept, pieces(n, 2 * width), pieces(std::min({2 * width, kept, n}), kTile)};
    launch(&merge_runs<Key>, dim3(static_cast<unsigned>(rows * pass.pairs * pass.windows)), kSorters, stream,
           now.key_data(), now.order_data(), last ? nullptr : next.key_data(), next.order_data(), pass);
    std::swap(now, next);
  }
  return now.order;
}

}  // namespace

TensorBase stable_row_order(const TensorBase& keys, std::int64_t count) {
  if (keys.numel() == 0) return make_tensor(keys.sizes(), kLong, keys.device());
  const std::int64_t n = keys.sizes()[static_cast<std::size_t>(keys.dim() - 1)], rows = keys.numel() / n;
  if (keys.dtype() == kInt) return order_of_rows<std::int32_t>(keys, rows, n, count);
  return order_of_rows<std::int64_t>(keys, rows, n, count);
}

TensorBase stable_order(const TensorBase& keys) {
  const std::int64_t n = keys.numel();
  return stable_row_order(make_view(keys, {n}, {1}, keys.storage_offset()), n > 0 ? n : 1);
}

}  // namespace keyway::inline v1::cuda
