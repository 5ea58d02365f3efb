// run_rows: kernels over rows of neighbours, by one function per instruction-set level.
//
// `Rows` is a struct with
//   std::int64_t width;        elements of a row
//   std::int64_t begin, end;   the rows of a piece
//   void row(std::int64_t r) const;
// whose body is always inlined.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/parallel.h>

#include <algorithm>
#include <cstdint>

namespace keyway::inline v1 {

namespace detail {

template <SimdLevel level, typename Rows>
struct RowsBody {
  [[gnu::always_inline]] static void run(const void* context, char* const*, std::int64_t) {
    const Rows rows = *static_cast<const Rows*>(context);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) rows.row(r);
  }
};

}  // namespace detail

// Calls f(begin, end) for pieces of rows 0 to count - 1, of whole multiples of `unit`.
template <typename F>
void parallel_for_rows(std::int64_t width, std::int64_t count, std::int64_t unit, const F& f) {
  const std::int64_t work = std::max<std::int64_t>(1, width) * unit;
  parallel_for(0, (count + unit - 1) / unit, std::max<std::int64_t>(1, kElementGrain / work),
               [&](std::int64_t begin, std::int64_t end) { f(begin * unit, std::min(count, end * unit)); });
}

// Rows 0 to count - 1, in pieces of whole multiples of `unit`.
template <typename Rows>
void run_rows(const Rows& rows, std::int64_t count, std::int64_t unit = 1) {
  const detail::Loop loop = detail::kLoopsOf<detail::RowsBody, Rows>[current_level()];
  parallel_for_rows(rows.width, count, unit, [&](std::int64_t begin, std::int64_t end) {
    Rows part = rows;
    part.begin = begin;
    part.end = end;
    loop(&part, nullptr, 0);
  });
}

}  // namespace keyway::inline v1
