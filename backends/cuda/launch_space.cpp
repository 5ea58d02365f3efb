#include <keyway/backends/cuda/launch_space.h>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::int64_t kPartLimit = (std::int64_t{1} << 31) - 1;

std::int64_t numel(const IterationSpace& space) {
  std::int64_t n = 1;
  for (int d = 0; d < space.rank; ++d) n *= space.sizes[d];
  return n;
}

// Dimensions [first, rank) of a space.
LaunchSpace from_dim(const IterationSpace& space, int first) {
  LaunchSpace out;
  for (int k = 0; k < space.operands; ++k) out.data[k] = space.data[k];
  for (int d = first; d < space.rank; ++d) {
    const int at = out.rank++;
    out.sizes[at] = Divisor(static_cast<std::uint32_t>(space.sizes[d]));
    out.numel *= out.sizes[at].value;
    for (int k = 0; k < space.operands; ++k) out.strides[at][k] = space.strides[k][d];
  }
  return out;
}

int cut_dim(const IterationSpace& space) {
  int cut = space.rank - 1;
  if (space.rank <= LaunchSpace::kMaxRank) return cut;
  for (int d = cut - 1; d > 0; --d) {
    if (space.sizes[d] < space.sizes[cut]) cut = d;
  }
  return cut;
}

void remove_dim(IterationSpace& space, int dim) {
  --space.rank;
  for (int d = dim; d < space.rank; ++d) {
    space.sizes[d] = space.sizes[d + 1];
    for (int k = 0; k < space.operands; ++k) space.strides[k][d] = space.strides[k][d + 1];
  }
}

bool is_aligned(const IterationSpace& space, int operand, std::int64_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(space.data[operand]) % static_cast<std::uintptr_t>(bytes) != 0) return false;
  for (int d = 1; d < space.rank; ++d) {
    if (space.strides[operand][d] % bytes != 0) return false;
  }
  return true;
}

}  // namespace

LaunchSpace launch_space(const IterationSpace& space) { return from_dim(space, 0); }

std::optional<VectorSpace> vector_space(const IterationSpace& space, const std::int16_t* itemsize, int width) {
  if (space.rank == 0 || space.sizes[0] < width) return std::nullopt;
  VectorSpace out;
  for (int k = 0; k < space.operands; ++k) {
    out.scalar[k] = space.strides[k][0] == 0;
    out.step[k] = static_cast<std::int32_t>(space.strides[k][0]);
    if (out.scalar[k] ? k == 0 : space.strides[k][0] != itemsize[k] || !is_aligned(space, k, width * itemsize[k]))
      return std::nullopt;
  }
  out.rows = from_dim(space, 1);
  out.columns = static_cast<std::uint32_t>(space.sizes[0]);
  out.vectors_per_row = Divisor((out.columns - 1) / static_cast<std::uint32_t>(width) + 1);
  out.vectors = out.rows.numel * out.vectors_per_row.value;
  return out;
}

bool is_part(const IterationSpace& space) { return space.rank <= LaunchSpace::kMaxRank && numel(space) <= kPartLimit; }

void halve(const IterationSpace& space, IterationSpace& first, IterationSpace& second) {
  first = second = space;
  const int d = cut_dim(space);
  first.sizes[d] = space.sizes[d] / 2;
  second.sizes[d] = space.sizes[d] - first.sizes[d];
  for (int k = 0; k < space.operands; ++k) second.data[k] += first.sizes[d] * space.strides[k][d];
  // A dimension of one element is none.
  for (IterationSpace* half : {&first, &second}) {
    if (half->sizes[d] == 1) remove_dim(*half, d);
  }
}

}  // namespace keyway::inline v1::cuda
