// RowPlaces: the rows along one dimension of some tensors, for kernels in which threads work at a row together.
#pragma once

#include <keyway/backends/cuda/places.h>
#include <keyway/backends/cuda/teams.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// What a kernel is told of its rows.
struct RowLaunch {
  LaunchSpace rows;  // where each row of each operand begins
  Teams teams;
  std::int64_t n = 0;                        // elements of a row
  std::int64_t stretch = 0;                  // of those, how many a team has; several have the others
  std::uint32_t stretches = 1;               // of a row
  std::int64_t step[Strided::kMaxOperands];  // bytes from an element of a row to the next
  const char* origin = nullptr;              // what numbers count from
};

// Operands in the order they are added, at most Strided::kMaxOperands. `sizes` are those of all of them, but that they
// may have 1 there or lack outer dimensions; none is 0 but for that of `dim`. Requires: 0 <= dim < sizes.size().
class RowPlaces {
 public:
  RowPlaces(IntArrayRef sizes, std::int64_t dim);
  RowPlaces(const RowPlaces&) = delete;
  RowPlaces& operator=(const RowPlaces&) = delete;

  RowPlaces& tensor(const TensorBase& tensor);
  // No tensor: the row's number, in row-major order of the other dimensions.
  RowPlaces& number();
  // What the functor finds by that number lies beside what it finds by the next. Requires: no tensor was added.
  RowPlaces& side_by_side();

  // Rows that are few and long are shared out, so that there are enough threads: every team has a stretch of a row, and
  // the functor sees to what the stretches of a row have to do with each other. Returns how many there are of a row.
  // Requires: all operands were added.
  std::int64_t share();

  // Elements of a row that a thread has, at most. Requires: as for share(), which was not called.
  std::int64_t per_thread() const { return (launch_.n - 1) / launch_.teams.size + 1; }

  // Calls f(RowLaunch) for parts that a kernel takes.
  template <typename F>
  void each_part(const F& f) const {
    const Strided all = places_.space();
    for_each_part(all, [&](const Strided& part) {
      RowLaunch launch = launch_;
      launch.rows = launch_space(part);
      launch.origin = all.data[0];
      f(launch);
    });
  }

 private:
  DimVector rows_;  // the sizes, with 1 for `dim`
  std::int64_t dim_;
  int count_ = 0;
  Places places_;
  RowLaunch launch_;
};

}  // namespace keyway::inline v1::cuda
