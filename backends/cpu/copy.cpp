#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/tiling.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace keyway::inline v1 {

namespace {

constexpr std::int64_t kGrainBytes = 131072;

void move_bytes(char* to, const char* from, std::int64_t bytes) {
  const bool stream = bytes >= stream_threshold();
  parallel_for(0, bytes, kGrainBytes, [&](std::int64_t begin, std::int64_t end) {
    if (stream) {
      stream_bytes(to + begin, from + begin, end - begin);
      stream_fence();
    } else {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    }
  });
}

// Tile by tile, straight from one to the other.
void move_tiles(const TensorBase& src, const TensorBase& dst) {
  IterationSpace space;
  const TensorBase* const operands[] = {&dst, &src};
  make_iteration_space(space, dst.sizes(), operands, 2);
  const auto itemsize = static_cast<std::int64_t>(dst.itemsize());
  // A tile that is transposed has eight rows: rows that lie a power of two apart share one set of the first-level
  // cache, which holds eight lines there.
  const Tiling tiling = Tiling::make(space, runs_across(space, 1) ? 256 : 1024);
  const std::int64_t tile_bytes = tiling.columns * tiling.rows * itemsize;
  parallel_for(0, tiling.tiles, std::max<std::int64_t>(1, kGrainBytes / tile_bytes),
               [&](std::int64_t begin, std::int64_t end) {
                 TileCursor cursor(space, tiling, begin);
                 for (std::int64_t tile = begin; tile < end; ++tile, cursor.advance()) {
                   copy_tile({cursor.data(0), space.stride(0, 1), space.stride(0, 0)},
                             {cursor.data(1), space.stride(1, 1), space.stride(1, 0)}, cursor.rows(), cursor.columns(),
                             itemsize);
                 }
               });
}

// Equal dtypes are moved as bits, whatever they mean.
void move_elements(const TensorBase& src, const TensorBase& dst) {
  const bool flat = src.impl()->known_contiguous() && dst.impl()->known_contiguous() && src.numel() == dst.numel();
  if (dst.numel() == 0 || (flat && src.data_ptr() == dst.data_ptr())) return;
  if (!flat) return move_tiles(src, dst);
  move_bytes(static_cast<char*>(dst.data_ptr()), static_cast<const char*>(src.data_ptr()),
             static_cast<std::int64_t>(dst.nbytes()));
}

}  // namespace

void copy_elements(const TensorBase& src, const TensorBase& dst) {
  if (src.dtype() == dst.dtype()) return move_elements(src, dst);
  const detail::ElementCast cast(dst.dtype(), src.dtype(), current_level());
  constexpr detail::Loop loop = detail::ElementCast::loop;
  const auto itemsize = [](const TensorBase& x) { return static_cast<std::int16_t>(x.itemsize()); };
  const detail::PointwiseOp op{
      .loop = {loop, loop, loop},
      .check = {},
      .element_error = nullptr,
      .inputs = 1,
      .itemsize = {itemsize(dst), itemsize(src)},
      .element = {dst.dtype(), src.dtype()},
  };
  const TensorBase* const operands[] = {&dst, &src};
  detail::run_pointwise(op, &cast, operands);
}

}  // namespace keyway::inline v1
