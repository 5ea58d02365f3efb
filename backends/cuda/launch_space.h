// What a kernel is told of an IterationSpace, so that each of its threads finds the elements that are its own by
// 32-bit arithmetic; and how a space that is too large for that is cut into parts.
#pragma once

#include <keyway/backends/cuda/divisor.h>
#include <keyway/core/tensor/iteration_space.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1::cuda {

// Elements one by one, in the order of the space.
struct LaunchSpace {
  static constexpr int kMaxRank = 6;

  int rank = 0;
  std::uint32_t numel = 1;  // less than 2^31
  Divisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank][IterationSpace::kMaxOperands];  // in bytes
  char* data[IterationSpace::kMaxOperands];

  // How far M elements of each of the first N operands are from their data. All of them go through the dimensions
  // together, so that a thread waits for none alone.
  template <int N, int M>
  KEYWAY_HD void locate(const std::uint32_t (&elements)[M], std::int64_t (&offset)[M][N]) const {
    std::uint32_t index[M];
    for (int m = 0; m < M; ++m) {
      index[m] = elements[m];
      for (int k = 0; k < N; ++k) offset[m][k] = 0;
    }
    for (int d = 0; d < rank; ++d) {
      for (int m = 0; m < M; ++m) {
        // What is left when all others are taken off is the index in the last one.
        const std::uint32_t next = d + 1 < rank ? sizes[d].quotient(index[m]) : 0;
        const std::uint32_t here = index[m] - next * sizes[d].value;
        for (int k = 0; k < N; ++k) offset[m][k] += here * strides[d][k];
        index[m] = next;
      }
    }
  }
  // The same of one.
  template <int N>
  KEYWAY_HD void locate(std::uint32_t element, std::int64_t (&offset)[N]) const {
    std::int64_t at[1][N];
    locate({element}, at);
    for (int k = 0; k < N; ++k) offset[k] = at[0][k];
  }
  // Where it is.
  template <int N>
  KEYWAY_HD void find(std::uint32_t index, char* (&at)[N]) const {
    std::int64_t offset[N];
    locate(index, offset);
    for (int k = 0; k < N; ++k) at[k] = data[k] + offset[k];
  }
};

// Vectors of `width` neighbours along the innermost dimension, where each operand is contiguous or one element. The
// last of a row may have fewer.
struct VectorSpace {
  LaunchSpace rows;         // of their first elements
  std::uint32_t columns;    // elements of a row
  Divisor vectors_per_row;  // and there are less than 2^31 in all
  std::uint32_t vectors;
  bool scalar[IterationSpace::kMaxOperands];        // one element for all of a row
  std::int32_t step[IterationSpace::kMaxOperands];  // bytes from an element to the next in its row; 0 where it is one

  // The row of a vector, and the first of its columns.
  struct Position {
    std::uint32_t row, column;
  };
  KEYWAY_HD Position position(std::uint32_t vector, std::uint32_t width) const {
    const std::uint32_t row = vectors_per_row.quotient(vector);
    return {row, (vector - row * vectors_per_row.value) * width};
  }
};

// Requires: is_part(space).
LaunchSpace launch_space(const IterationSpace& space);
// Nothing if an operand is neither contiguous along the innermost dimension nor constant there, if the first one is
// constant, if a row is shorter than a vector, or if vectors of an operand do not all begin at a multiple of their
// size, which accesses of so many bytes need.
std::optional<VectorSpace> vector_space(const IterationSpace& space, const std::int16_t* itemsize, int width);

// Whether a kernel takes the space at once.
bool is_part(const IterationSpace& space);
// Two halves: of the outermost dimension, or, where there are too many dimensions, of the smallest one that is not the
// innermost, so that few parts are without it. Requires: it is no part.
void halve(const IterationSpace& space, IterationSpace& first, IterationSpace& second);

// Calls f with parts that a kernel takes, which together are the space.
template <typename F>
void for_each_part(const IterationSpace& space, const F& f) {
  if (is_part(space)) return f(space);
  IterationSpace first, second;
  halve(space, first, second);
  for_each_part(first, f);
  for_each_part(second, f);
}

}  // namespace keyway::inline v1::cuda
