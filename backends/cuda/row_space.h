// RowSpace: the rows along one dimension of some tensors, for kernels in which threads work at a row together.
#pragma once

#include <keyway/backends/cuda/element_space.h>
#include <keyway/backends/cuda/teams.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// What a kernel is told of its rows.
struct RowLaunch {
  LaunchSpace rows;  // where each row of each operand begins
  Teams teams;
  std::int64_t n = 0;                               // elements of a row
  std::int64_t stretch = 0;                         // of those, how many a team has; several have the others
  std::uint32_t stretches = 1;                      // of a row
  std::uint32_t width = 1;                          // neighbours that one thread has
  std::int64_t step[IterationSpace::kMaxOperands];  // bytes from an element of a row to the next
  const char* origin = nullptr;                     // what numbers count from
};

// Operands in the order they are added, at most IterationSpace::kMaxOperands. `sizes` are those of all of them, but
// that they may have 1 there or lack outer dimensions; none is 0 but for that of `dim`. Requires: 0 <= dim <
// sizes.size().
class RowSpace {
 public:
  RowSpace(IntArrayRef sizes, std::int64_t dim);
  RowSpace(const RowSpace&) = delete;
  RowSpace& operator=(const RowSpace&) = delete;

  RowSpace& tensor(const TensorBase& tensor);
  // No tensor: the row's number, in row-major order of the other dimensions.
  RowSpace& number();
  // What the functor finds by that number lies beside what it finds by the next. Requires: no tensor was added.
  RowSpace& side_by_side();

  // No operand: an array with an element for each of a row, which the functor finds by their index.
  RowSpace& array(const void* data, std::int64_t itemsize);

  // Rows are gone through in pieces of `width` neighbours if they are whole ones, which are read at once where they lie
  // together, and begin at multiples of their size, in every operand; and of many rows a thread has more elements.
  // Returns how many it has at most. Requires: all operands and arrays were added; share() was not called, or gave 1.
  std::int64_t pieces(int width);
  // Whether they are read at once. Requires: pieces() was called.
  bool in_pieces() const { return launch_.width > 1 && together_ && begins_ % launch_.width == 0; }

  // Rows that are few and long are shared out, so that there are enough threads: every team has a stretch of a row, and
  // the functor sees to what the stretches of a row have to do with each other. Returns how many there are of a row.
  // Requires: all operands were added.
  std::int64_t share();

  // Calls f(RowLaunch) for parts that a kernel takes.
  template <typename F>
  void each_part(const F& f) const {
    const IterationSpace all = elements_.space();
    for_each_part(all, [&](const IterationSpace& part) {
      RowLaunch launch = launch_;
      launch.rows = launch_space(part);
      launch.origin = all.data[0];
      f(launch);
    });
  }

 private:
  std::int64_t rows() const;

  DimVector rows_;  // the sizes, with 1 for `dim`
  std::int64_t dim_;
  int count_ = 0;
  ElementSpace elements_;
  RowLaunch launch_;
  bool together_ = true;       // elements of a row are neighbours in each operand
  std::uintptr_t begins_ = 0;  // addresses of rows, in elements: bits that any of them has
};

}  // namespace keyway::inline v1::cuda
