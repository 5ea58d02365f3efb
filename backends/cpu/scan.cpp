#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scan.h>
#include <keyway/core/tensor/iteration_space.h>

#include <algorithm>

namespace keyway::inline v1::detail {

namespace {

constexpr std::int64_t kAccBytes = 4096;

// The dimensions across which lines stand, and the line itself.
struct ScanSpace {
  IterationSpace across;
  std::int64_t length = 1;
  std::int64_t step[3] = {};
};

void make_space(ScanSpace& space, const TensorBase* const* tensors, std::int64_t dim) {
  const TensorBase& self = *tensors[0];
  IterationSpace& across = space.across;
  across.operands = 3;
  for (int k = 0; k < 3; ++k) across.data[k] = static_cast<char*>(tensors[k]->data_ptr());
  for (std::int64_t i = self.dim() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_line = i == dim;
    if (is_line) space.length = self.sizes()[at];
    if (!is_line && self.sizes()[at] == 1) continue;
    const int d = is_line ? 0 : across.rank++;
    if (!is_line) across.sizes[d] = self.sizes()[at];
    for (int k = 0; k < 3; ++k) {
      const std::int64_t stride = tensors[k]->strides()[at] * static_cast<std::int64_t>(tensors[k]->itemsize());
      (is_line ? space.step[k] : across.strides[k][d]) = stride;
    }
  }
  simplify(across);
}

// A tile: up to `tile` lines along the innermost dimension across.
void run_tile(const ScanOp& op, const void* functor, const ScanSpace& space, std::int64_t tile, std::int64_t i) {
  const IterationSpace& across = space.across;
  const std::int64_t inner = across.size(0), row_tiles = (inner - 1) / tile + 1;
  const std::int64_t first = i % row_tiles * tile;
  Lines lines;
  lines.length = space.length;
  lines.lines = std::min(tile, inner - first);
  for (int k = 0; k < 3; ++k) {
    lines.step[k] = space.step[k];
    lines.next[k] = across.stride(k, 0);
    lines.data[k] = across.data[k] + first * across.stride(k, 0);
    std::int64_t outer = i / row_tiles;
    for (int d = 1; d < across.rank; ++d) {
      lines.data[k] += outer % across.sizes[d] * across.strides[k][d];
      outer /= across.sizes[d];
    }
  }
  alignas(64) char acc[kAccBytes];
  op.run[current_level()](functor, lines, acc);
}

}  // namespace

void run_scan(const ScanOp& op, const void* functor, const TensorBase& out, const TensorBase* second,
              const TensorBase& self, std::int64_t dim) {
  if (self.numel() == 0) return;
  const TensorBase* const tensors[] = {&self, &out, second != nullptr ? second : &out};
  ScanSpace space;
  make_space(space, tensors, dim);
  // Many lines at once where they lie side by side; a few where they are the innermost dimension.
  const bool side_by_side = space.length == 1 || space.across.stride(0, 0) <= space.step[0];
  const std::int64_t tile = side_by_side ? kAccBytes / op.acc_bytes : 4;
  std::int64_t tiles = (space.across.size(0) - 1) / tile + 1;
  for (int d = 1; d < space.across.rank; ++d) tiles *= space.across.sizes[d];
  const std::int64_t work = std::min(tile, space.across.size(0)) * space.length;
  parallel_for(0, tiles, std::max<std::int64_t>(1, kElementGrain / work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run_tile(op, functor, space, tile, i);
  });
}

}  // namespace keyway::inline v1::detail
