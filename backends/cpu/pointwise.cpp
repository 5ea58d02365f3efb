#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/strided.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <atomic>

namespace keyway::inline v1::detail {

namespace {

constexpr int kMaxOperands = Strided::kMaxOperands;
// Below this many elements one thread is faster than two.
constexpr std::int64_t kGrain = 32768;
// A buffer holds a block of one operand; all of them together stay well inside a first-level cache of 32 KiB.
constexpr std::int64_t kBlockBytes = 4096;
constexpr std::int64_t kMaxBlock = 1024;

struct alignas(64) Buffer {
  char bytes[kBlockBytes];
};

// A loop and its operands, be it the functor's or its check.
struct Task {
  Loop loop;
  const void* context;
  int operands;
  bool writes;  // operand 0 is the output
  const std::int16_t* itemsize;

  std::int64_t block() const {
    std::int64_t widest = 1;
    for (int k = 0; k < operands; ++k) widest = std::max<std::int64_t>(widest, itemsize[k]);
    return std::min(kMaxBlock, kBlockBytes / widest);
  }
};

// All operands contiguous or one element.
void run_flat(const Task& task, char* const* data, const bool* scalar, std::int64_t begin, std::int64_t end) {
  char* at[kMaxOperands];
  Buffer buffers[kMaxOperands];
  std::int64_t block = end - begin;
  for (int k = 0; k < task.operands; ++k) {
    at[k] = data[k] + begin * task.itemsize[k];
    if (!scalar[k]) continue;
    block = std::min(block, task.block());
    at[k] = buffers[k].bytes;
    pack(at[k], data[k], 1, block, 0, 0, task.itemsize[k]);
  }
  for (std::int64_t i = begin; i < end; i += block) {
    const std::int64_t n = std::min(block, end - i);
    task.loop(task.context, at, n);
    for (int k = 0; k < task.operands; ++k) {
      if (!scalar[k]) at[k] += n * task.itemsize[k];
    }
  }
}

// The space cut into tiles of rows x columns elements: its two inner dimensions, or parts of them.
struct Tiling {
  std::int64_t columns;
  std::int64_t rows;
  std::int64_t column_tiles;
  std::int64_t row_tiles;
  std::int64_t tiles;
  bool direct[kMaxOperands];  // a full tile of the operand is contiguous
};

bool is_row_contiguous(const Task& task, const Strided& space, int k) { return space.stride(k, 0) == task.itemsize[k]; }

// Whether an operand runs the other way, so that square tiles use each of its cache lines more than once.
bool is_transposed(const Strided& space) {
  for (int k = 0; k < space.operands && space.rank > 1; ++k) {
    if (space.strides[k][1] != 0 && space.strides[k][1] < space.strides[k][0]) return true;
  }
  return false;
}

Tiling make_tiling(const Task& task, const Strided& space) {
  Tiling tiling;
  const std::int64_t block = task.block();
  const std::int64_t n0 = space.size(0), n1 = space.size(1);
  bool all_direct = true;
  for (int k = 0; k < task.operands; ++k) all_direct = all_direct && is_row_contiguous(task, space, k);
  if (is_transposed(space)) {
    tiling.columns = std::min<std::int64_t>(n0, 32);
    tiling.rows = std::min(n1, block / tiling.columns);
  } else if (n0 >= block / 2) {
    tiling.columns = std::min(n0, all_direct ? kGrain : block);
    tiling.rows = 1;
  } else {
    tiling.columns = n0;
    tiling.rows = std::min(n1, block / n0);
  }
  for (int k = 0; k < task.operands; ++k) {
    tiling.direct[k] = is_row_contiguous(task, space, k) &&
                       (tiling.rows == 1 || space.stride(k, 1) == tiling.columns * task.itemsize[k]);
  }
  tiling.column_tiles = (n0 - 1) / tiling.columns + 1;
  tiling.row_tiles = (n1 - 1) / tiling.rows + 1;
  tiling.tiles = tiling.column_tiles * tiling.row_tiles;
  for (int d = 2; d < space.rank; ++d) tiling.tiles *= space.sizes[d];
  return tiling;
}

// Where a tile begins, counted through tile by tile: columns first, then rows, then the outer dimensions.
class TileCursor {
 public:
  TileCursor(const Strided& space, const Tiling& tiling, std::int64_t tile) : space_(space), tiling_(tiling) {
    column_ = tile % tiling.column_tiles;
    tile /= tiling.column_tiles;
    row_ = tile % tiling.row_tiles;
    tile /= tiling.row_tiles;
    for (int d = 2; d < space.rank; ++d) {
      index_[d] = tile % space.sizes[d];
      tile /= space.sizes[d];
    }
    place_outer();
  }

  char* data(int k) const {
    return outer_[k] + column_ * tiling_.columns * space_.stride(k, 0) + row_ * tiling_.rows * space_.stride(k, 1);
  }
  std::int64_t columns() const { return std::min(tiling_.columns, space_.size(0) - column_ * tiling_.columns); }
  std::int64_t rows() const { return std::min(tiling_.rows, space_.size(1) - row_ * tiling_.rows); }

  void advance() {
    if (++column_ < tiling_.column_tiles) return;
    column_ = 0;
    if (++row_ < tiling_.row_tiles) return;
    row_ = 0;
    for (int d = 2; d < space_.rank; ++d) {
      if (++index_[d] < space_.sizes[d]) break;
      index_[d] = 0;
    }
    place_outer();
  }

 private:
  void place_outer() {
    for (int k = 0; k < space_.operands; ++k) {
      outer_[k] = space_.data[k];
      for (int d = 2; d < space_.rank; ++d) outer_[k] += index_[d] * space_.strides[k][d];
    }
  }

  const Strided& space_;
  const Tiling& tiling_;
  std::int64_t column_;
  std::int64_t row_;
  std::int64_t index_[kMaxDims];
  char* outer_[kMaxOperands];
};

void run_tiles(const Task& task, const Strided& space, const Tiling& tiling, std::int64_t begin, std::int64_t end) {
  Buffer buffers[kMaxOperands];
  TileCursor cursor(space, tiling, begin);
  for (std::int64_t tile = begin; tile < end; ++tile, cursor.advance()) {
    const std::int64_t rows = cursor.rows(), columns = cursor.columns();
    char* at[kMaxOperands];
    for (int k = 0; k < task.operands; ++k) {
      at[k] = cursor.data(k);
      if (tiling.direct[k] && (rows == 1 || columns == tiling.columns)) continue;
      char* const buffer = buffers[k].bytes;
      if (k > 0 || !task.writes) {
        pack(buffer, at[k], rows, columns, space.stride(k, 1), space.stride(k, 0), task.itemsize[k]);
      }
      at[k] = buffer;
    }
    task.loop(task.context, at, rows * columns);
    if (task.writes && at[0] == buffers[0].bytes) {
      unpack(cursor.data(0), at[0], rows, columns, space.stride(0, 1), space.stride(0, 0), task.itemsize[0]);
    }
  }
}

void run_strided(const Task& task, const Strided& space) {
  const Tiling tiling = make_tiling(task, space);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (tiling.columns * tiling.rows));
  parallel_for(0, tiling.tiles, grain,
               [&](std::int64_t begin, std::int64_t end) { run_tiles(task, space, tiling, begin, end); });
}

// Runs the check of a functor over the inputs. Threads set one flag, each its own copy of it first.
[[gnu::noinline]] void run_check(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  std::atomic<bool> refused{false};
  Strided space;
  make_strided(space, operands[0]->sizes(), operands, op.inputs + 1);
  // Without the output, which has decided the order of dimensions.
  --space.operands;
  for (int k = 0; k < space.operands; ++k) {
    space.data[k] = space.data[k + 1];
    std::copy_n(space.strides[k + 1], space.rank, space.strides[k]);
  }
  Task task{op.check[current_level()], nullptr, space.operands, false, op.itemsize + 1};
  const Tiling tiling = make_tiling(task, space);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (tiling.columns * tiling.rows));
  parallel_for(0, tiling.tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    bool mine = false;
    const CheckContext context{functor, &mine};
    Task part = task;
    part.context = &context;
    run_tiles(part, space, tiling, begin, end);
    if (mine) refused.store(true, std::memory_order_relaxed);
  });
  KEYWAY_CHECK(!refused.load(std::memory_order_relaxed), "{}", op.refusal);
}

}  // namespace

void run_pointwise(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  const TensorImpl& out = *operands[0]->impl();
  const std::int64_t n = out.numel();
  if (n == 0) return;
  if (op.check[Level::Baseline] != nullptr) [[unlikely]]
    run_check(op, functor, operands);
  const Task task{op.loop[current_level()], functor, op.inputs + 1, true, op.itemsize};

  bool flat = out.known_contiguous() || n == 1;
  bool any_scalar = false;
  bool scalar[kMaxOperands] = {};
  char* data[kMaxOperands] = {static_cast<char*>(out.data())};
  for (int k = 1; k <= op.inputs; ++k) {
    const TensorImpl& input = *operands[k]->impl();
    data[k] = static_cast<char*>(input.data());
    scalar[k] = input.numel() != n;
    any_scalar |= scalar[k];
    flat = flat && (input.numel() == 1 || (input.known_contiguous() && input.numel() == n));
  }
  if (flat && !any_scalar && n <= kGrain) [[likely]] {
    task.loop(functor, data, n);
  } else if (flat) {
    parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) { run_flat(task, data, scalar, begin, end); });
  } else {
    Strided space;
    make_strided(space, operands[0]->sizes(), operands, op.inputs + 1);
    run_strided(task, space);
  }
}

}  // namespace keyway::inline v1::detail
