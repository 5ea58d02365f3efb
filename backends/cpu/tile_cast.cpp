#include <keyway/backends/cpu/tile_cast.h>

namespace keyway::inline v1::detail {

namespace {

// Whether a rectangle is one run of elements.
bool is_run(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, std::int64_t itemsize) {
  return column == itemsize && (rows == 1 || row == columns * itemsize);
}

}  // namespace

TileCast::TileCast(ScalarType loop, ScalarType memory, SimdLevel level)
    : load_(loop == memory ? ElementCast() : ElementCast(loop, memory, level)),
      store_(loop == memory ? ElementCast() : ElementCast(memory, loop, level)),
      itemsize_(static_cast<std::int64_t>(element_size(memory))) {}

void TileCast::load(char* buffer, const TileFrom& from, std::int64_t rows, std::int64_t columns) const {
  if (is_run(from.row, from.column, rows, columns, itemsize_)) return load_.run(buffer, from.data, rows * columns);
  alignas(64) char packed[kMaxBytes];
  pack(packed, from, rows, columns, itemsize_);
  load_.run(buffer, packed, rows * columns);
}

void TileCast::store(const TileTo& to, const char* buffer, std::int64_t rows, std::int64_t columns) const {
  if (is_run(to.row, to.column, rows, columns, itemsize_)) return store_.run(to.data, buffer, rows * columns);
  alignas(64) char packed[kMaxBytes];
  store_.run(packed, buffer, rows * columns);
  unpack(to, packed, rows, columns, itemsize_);
}

}  // namespace keyway::inline v1::detail
