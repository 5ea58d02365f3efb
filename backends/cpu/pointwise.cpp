#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/tile_cast.h>
#include <keyway/backends/cpu/tiling.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <atomic>

namespace keyway::inline v1::detail {

namespace {

constexpr int kMaxOperands = IterationSpace::kMaxOperands;
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
  const TileCast* casts = nullptr;  // of the operands, where one has another dtype than the loop

  bool casts_operand(int k) const { return casts != nullptr && casts[k].needed(); }

  std::int64_t block() const {
    std::int64_t widest = 1;
    for (int k = 0; k < operands; ++k) widest = std::max<std::int64_t>(widest, itemsize[k]);
    return std::min(kMaxBlock, kBlockBytes / widest);
  }
};

// Operands that are contiguous or one element.
struct Flat {
  char* data[kMaxOperands];
  bool scalar[kMaxOperands];
  bool any_scalar = false;
  bool stream = false;  // the output goes past the caches
};

void run_flat(const Task& task, const Flat& flat, std::int64_t begin, std::int64_t end) {
  char* at[kMaxOperands];
  Buffer buffers[kMaxOperands];
  const std::int64_t block = flat.any_scalar || flat.stream ? task.block() : end - begin;
  for (int k = 0; k < task.operands; ++k) {
    at[k] = flat.data[k] + begin * task.itemsize[k];
    if (!flat.scalar[k]) continue;
    at[k] = buffers[k].bytes;
    pack(at[k], {flat.data[k], 0, 0}, 1, std::min(block, end - begin), task.itemsize[k]);
  }
  char* out = at[0];
  if (flat.stream) at[0] = buffers[0].bytes;
  for (std::int64_t i = begin; i < end; i += block) {
    const std::int64_t n = std::min(block, end - i);
    task.loop(task.context, at, n);
    if (flat.stream) {
      stream_bytes(out, at[0], n * task.itemsize[0]);
      out += n * task.itemsize[0];
    }
    for (int k = flat.stream ? 1 : 0; k < task.operands; ++k) {
      if (!flat.scalar[k]) at[k] += n * task.itemsize[k];
    }
  }
  if (flat.stream) stream_fence();
}

// The space of a task, and how it is gone through.
struct Plan {
  IterationSpace space;
  Tiling tiling;
  bool direct[kMaxOperands];  // a full tile of the operand is contiguous
  bool stream = false;        // the output goes past the caches

  void make_tiles(const Task& task) {
    const auto row_contiguous = [&](int k) { return space.stride(k, 0) == task.itemsize[k] && !task.casts_operand(k); };
    bool all_direct = true;
    for (int k = 0; k < task.operands; ++k) all_direct = all_direct && row_contiguous(k);
    // Rows that need no buffer may be longer than one; several of them are not contiguous, and would need it.
    const bool long_rows = all_direct && !stream && space.size(0) >= task.block() / 2;
    // A row that all rows meet needs no buffer if it is met by one at a time.
    const bool single_rows = space.size(0) >= kLeastRow && meets_all_rows(task);
    const std::int64_t block = single_rows ? std::min(task.block(), space.size(0)) : task.block();
    tiling = Tiling::make(space, long_rows ? std::min(kElementGrain, space.size(0)) : block);
    for (int k = 0; k < task.operands; ++k) {
      direct[k] = row_contiguous(k) && (tiling.rows == 1 || space.stride(k, 1) == tiling.columns * task.itemsize[k]);
    }
  }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / (tiling.columns * tiling.rows)); }

 private:
  static constexpr std::int64_t kLeastRow = 128;

  // Whether the elements of an operand lie in one row, which needs no conversion.
  bool meets_all_rows(const Task& task) const {
    for (int k = 1; k < task.operands; ++k) {
      if (space.stride(k, 1) == 0 && space.stride(k, 0) == task.itemsize[k] && !task.casts_operand(k)) return true;
    }
    return false;
  }
};

void load_tile(const Task& task, int k, char* buffer, const TileFrom& from, std::int64_t rows, std::int64_t columns) {
  if (task.casts_operand(k)) return task.casts[k].load(buffer, from, rows, columns);
  pack(buffer, from, rows, columns, task.itemsize[k]);
}
void store_tile(const Task& task, const TileTo& to, const char* buffer, std::int64_t rows, std::int64_t columns) {
  if (task.casts_operand(0)) return task.casts[0].store(to, buffer, rows, columns);
  unpack(to, buffer, rows, columns, task.itemsize[0]);
}

void run_tiles(const Task& task, const Plan& plan, std::int64_t begin, std::int64_t end) {
  Buffer buffers[kMaxOperands];
  const IterationSpace& space = plan.space;
  TileCursor cursor(space, plan.tiling, begin);
  for (std::int64_t tile = begin; tile < end; ++tile, cursor.advance()) {
    const std::int64_t rows = cursor.rows(), columns = cursor.columns();
    char* at[kMaxOperands];
    for (int k = 0; k < task.operands; ++k) {
      at[k] = cursor.data(k);
      const bool direct = plan.direct[k] && (rows == 1 || columns == plan.tiling.columns);
      if (direct && !(k == 0 && plan.stream)) continue;
      char* const buffer = buffers[k].bytes;
      if (k > 0 || !task.writes) {
        load_tile(task, k, buffer, {at[k], space.stride(k, 1), space.stride(k, 0)}, rows, columns);
      }
      at[k] = buffer;
    }
    task.loop(task.context, at, rows * columns);
    if (!task.writes || at[0] != buffers[0].bytes) continue;
    if (plan.stream && plan.direct[0] && (rows == 1 || columns == plan.tiling.columns)) {
      stream_bytes(cursor.data(0), at[0], rows * columns * task.itemsize[0]);
    } else {
      store_tile(task, {cursor.data(0), space.stride(0, 1), space.stride(0, 0)}, at[0], rows, columns);
    }
  }
  if (plan.stream) stream_fence();
}

// An output that is also read would only be read again.
bool worth_streaming(const Task& task, std::int64_t numel, char* const* data) {
  if (numel * task.itemsize[0] < stream_threshold()) return false;
  return std::none_of(data + 1, data + task.operands, [&](const char* input) { return input == data[0]; });
}

void run_strided(const Task& task, const TensorBase* const* operands) {
  Plan plan;
  make_iteration_space(plan.space, operands[0]->sizes(), operands, task.operands);
  plan.stream = worth_streaming(task, operands[0]->numel(), plan.space.data);
  plan.make_tiles(task);
  parallel_for(0, plan.tiling.tiles, plan.grain(),
               [&](std::int64_t begin, std::int64_t end) { run_tiles(task, plan, begin, end); });
}

// Runs the check of a functor over the inputs. Each range has a flag of its own, and they meet in one.
[[gnu::noinline]] void run_check(const PointwiseOp& op, const void* functor, const TensorBase* const* operands,
                                 const TileCast* casts) {
  Plan plan;
  IterationSpace& space = plan.space;
  make_iteration_space(space, operands[0]->sizes(), operands, op.inputs + 1);
  // Without the output, which has decided the order of dimensions.
  --space.operands;
  for (int k = 0; k < space.operands; ++k) {
    space.data[k] = space.data[k + 1];
    std::copy_n(space.strides[k + 1], space.rank, space.strides[k]);
  }
  const Task task{op.check[current_level()],
                  nullptr,
                  space.operands,
                  false,
                  op.itemsize + 1,
                  casts != nullptr ? casts + 1 : nullptr};
  plan.make_tiles(task);
  std::atomic<bool> refused{false};
  parallel_for(0, plan.tiling.tiles, plan.grain(), [&](std::int64_t begin, std::int64_t end) {
    bool mine = false;
    const CheckContext context{functor, &mine};
    Task part = task;
    part.context = &context;
    run_tiles(part, plan, begin, end);
    if (mine) refused.store(true, std::memory_order_relaxed);
  });
  KEYWAY_CHECK(!refused.load(std::memory_order_relaxed), "{}", op.element_error);
}

[[gnu::noinline]] void run_long(const Task& task, Flat& flat, std::int64_t n) {
  flat.stream = worth_streaming(task, n, flat.data);
  parallel_for(0, n, kElementGrain, [&](std::int64_t begin, std::int64_t end) { run_flat(task, flat, begin, end); });
}

// Contiguous operands of one block.
void run_block(const Task& task, const TensorBase* const* operands, std::int64_t n) {
  Buffer buffers[kMaxOperands];
  char* at[kMaxOperands];
  for (int k = 0; k < task.operands; ++k) {
    char* const data = static_cast<char*>(operands[k]->data_ptr());
    const TileCast& cast = task.casts[k];
    at[k] = cast.needed() ? buffers[k].bytes : data;
    if (k > 0 && cast.needed()) cast.load(at[k], {data, 0, cast.itemsize()}, 1, n);
  }
  task.loop(task.context, at, n);
  const TileCast& cast = task.casts[0];
  if (cast.needed()) cast.store({static_cast<char*>(operands[0]->data_ptr()), 0, cast.itemsize()}, at[0], 1, n);
}

// Operands that have other dtypes than the loop.
[[gnu::noinline]] void run_converted(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  const SimdLevel level = current_level();
  TileCast casts[kMaxOperands];
  for (int k = 0; k <= op.inputs; ++k) casts[k] = TileCast(op.element[k], operands[k]->dtype(), level);
  if (op.check[level] != nullptr) run_check(op, functor, operands, casts);
  const Task task{op.loop[level], functor, op.inputs + 1, true, op.itemsize, casts};
  const std::int64_t n = operands[0]->numel();
  const bool one_block = n <= task.block() && std::all_of(operands, operands + task.operands, [&](const TensorBase* x) {
                           return x->numel() == n && x->impl()->known_contiguous();
                         });
  if (one_block) return run_block(task, operands, n);
  run_strided(task, operands);
}

}  // namespace

void run_pointwise(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  const TensorImpl& out = *operands[0]->impl();
  const std::int64_t n = out.numel();
  if (n == 0) return;
  Flat flat;
  bool is_flat = out.known_contiguous() || n == 1;
  bool converts = out.dtype() != op.element[0];
  flat.data[0] = static_cast<char*>(out.data());
  flat.scalar[0] = false;
  for (int k = 1; k <= op.inputs; ++k) {
    const TensorImpl& input = *operands[k]->impl();
    flat.data[k] = static_cast<char*>(input.data());
    flat.scalar[k] = input.numel() != n;
    flat.any_scalar |= flat.scalar[k];
    is_flat = is_flat && (input.numel() == 1 || (input.known_contiguous() && input.numel() == n));
    converts |= input.dtype() != op.element[k];
  }
  if (converts) return run_converted(op, functor, operands);
  if (op.check[SimdLevel::Baseline] != nullptr) [[unlikely]]
    run_check(op, functor, operands, nullptr);
  const Task task{op.loop[current_level()], functor, op.inputs + 1, true, op.itemsize};
  if (!is_flat) return run_strided(task, operands);
  if (!flat.any_scalar && n <= kElementGrain) [[likely]]
    return task.loop(functor, flat.data, n);
  run_long(task, flat, n);
}

}  // namespace keyway::inline v1::detail
