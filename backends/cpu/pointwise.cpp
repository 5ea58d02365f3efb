#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/tiling.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <atomic>

namespace keyway::inline v1::detail {

namespace {

constexpr int kMaxOperands = Strided::kMaxOperands;
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
  Strided space;
  Tiling tiling;
  bool direct[kMaxOperands];  // a full tile of the operand is contiguous
  bool stream = false;        // the output goes past the caches

  void make_tiles(const Task& task) {
    const auto row_contiguous = [&](int k) { return space.stride(k, 0) == task.itemsize[k]; };
    bool all_direct = true;
    for (int k = 0; k < task.operands; ++k) all_direct = all_direct && row_contiguous(k);
    // Rows that need no buffer may be longer than one; several of them are not contiguous, and would need it.
    const bool long_rows = all_direct && !stream && space.size(0) >= task.block() / 2;
    tiling = Tiling::make(space, long_rows ? std::min(kElementGrain, space.size(0)) : task.block());
    for (int k = 0; k < task.operands; ++k) {
      direct[k] = row_contiguous(k) && (tiling.rows == 1 || space.stride(k, 1) == tiling.columns * task.itemsize[k]);
    }
  }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / (tiling.columns * tiling.rows)); }
};

void run_tiles(const Task& task, const Plan& plan, std::int64_t begin, std::int64_t end) {
  Buffer buffers[kMaxOperands];
  const Strided& space = plan.space;
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
        pack(buffer, {at[k], space.stride(k, 1), space.stride(k, 0)}, rows, columns, task.itemsize[k]);
      }
      at[k] = buffer;
    }
    task.loop(task.context, at, rows * columns);
    if (!task.writes || at[0] != buffers[0].bytes) continue;
    if (plan.stream && plan.direct[0] && (rows == 1 || columns == plan.tiling.columns)) {
      stream_bytes(cursor.data(0), at[0], rows * columns * task.itemsize[0]);
    } else {
      unpack({cursor.data(0), space.stride(0, 1), space.stride(0, 0)}, at[0], rows, columns, task.itemsize[0]);
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
  make_strided(plan.space, operands[0]->sizes(), operands, task.operands);
  plan.stream = worth_streaming(task, operands[0]->numel(), plan.space.data);
  plan.make_tiles(task);
  parallel_for(0, plan.tiling.tiles, plan.grain(),
               [&](std::int64_t begin, std::int64_t end) { run_tiles(task, plan, begin, end); });
}

// Runs the check of a functor over the inputs. Each range has a flag of its own, and they meet in one.
[[gnu::noinline]] void run_check(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  Plan plan;
  Strided& space = plan.space;
  make_strided(space, operands[0]->sizes(), operands, op.inputs + 1);
  // Without the output, which has decided the order of dimensions.
  --space.operands;
  for (int k = 0; k < space.operands; ++k) {
    space.data[k] = space.data[k + 1];
    std::copy_n(space.strides[k + 1], space.rank, space.strides[k]);
  }
  const Task task{op.check[current_level()], nullptr, space.operands, false, op.itemsize + 1};
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
  KEYWAY_CHECK(!refused.load(std::memory_order_relaxed), "{}", op.refusal);
}

[[gnu::noinline]] void run_long(const Task& task, Flat& flat, std::int64_t n) {
  flat.stream = worth_streaming(task, n, flat.data);
  parallel_for(0, n, kElementGrain, [&](std::int64_t begin, std::int64_t end) { run_flat(task, flat, begin, end); });
}

}  // namespace

void run_pointwise(const PointwiseOp& op, const void* functor, const TensorBase* const* operands) {
  const TensorImpl& out = *operands[0]->impl();
  const std::int64_t n = out.numel();
  if (n == 0) return;
  if (op.check[Level::Baseline] != nullptr) [[unlikely]]
    run_check(op, functor, operands);
  const Task task{op.loop[current_level()], functor, op.inputs + 1, true, op.itemsize};

  Flat flat;
  bool is_flat = out.known_contiguous() || n == 1;
  flat.data[0] = static_cast<char*>(out.data());
  flat.scalar[0] = false;
  for (int k = 1; k <= op.inputs; ++k) {
    const TensorImpl& input = *operands[k]->impl();
    flat.data[k] = static_cast<char*>(input.data());
    flat.scalar[k] = input.numel() != n;
    flat.any_scalar |= flat.scalar[k];
    is_flat = is_flat && (input.numel() == 1 || (input.known_contiguous() && input.numel() == n));
  }
  if (!is_flat) return run_strided(task, operands);
  if (!flat.any_scalar && n <= kElementGrain) [[likely]]
    return task.loop(functor, flat.data, n);
  run_long(task, flat, n);
}

}  // namespace keyway::inline v1::detail
