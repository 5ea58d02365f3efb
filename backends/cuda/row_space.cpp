#include <keyway/backends/cuda/row_space.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace keyway::inline v1::cuda {

namespace {

// Threads that keep a device busy, and elements of a stretch for each thread that are worth starting it for. A row that
// long has a team of 8 threads at least, so it has no more than 2^15 stretches; a launch has room for twice that.
constexpr std::int64_t kEnoughThreads = 1 << 18;
constexpr std::int64_t kWorthwhile = 32;

// A thread of a team has so many elements of a row whose values are held, where rows are many; and so many threads at
// least read neighbours: pieces of 16 bytes, or single elements.
constexpr std::int64_t kHeldOfMany = 32;
constexpr std::int64_t kPiecesOfLine = 8, kElementsOfLine = 32;

std::uintptr_t in_elements(const void* address, std::int64_t itemsize) {
  return reinterpret_cast<std::uintptr_t>(address) / static_cast<std::uintptr_t>(itemsize);
}

DimVector with_one(IntArrayRef sizes, std::int64_t dim) {
  DimVector rows(sizes.begin(), sizes.end());
  rows[static_cast<std::size_t>(dim)] = 1;
  return rows;
}

}  // namespace

RowSpace::RowSpace(IntArrayRef sizes, std::int64_t dim) : rows_(with_one(sizes, dim)), dim_(dim), elements_(rows_) {
  launch_.n = sizes[static_cast<std::size_t>(dim)];
  launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), false);
  launch_.stretch = launch_.n;
}

RowSpace& RowSpace::tensor(const TensorBase& tensor) {
  elements_.line(tensor, dim_);
  const std::int64_t own = dim_ - (static_cast<std::int64_t>(rows_.size()) - tensor.dim());
  const auto d = static_cast<std::size_t>(own);
  const bool still = own < 0 || tensor.sizes()[d] == 1;
  const auto item = static_cast<std::int64_t>(tensor.itemsize());
  launch_.step[count_] = still ? 0 : tensor.strides()[d] * item;
  // The first operand tells how memory lies.
  if (count_ == 0) {
    const bool columns = !still && std::abs(launch_.step[0]) > item;
    launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), columns);
  }
  ++count_;
  if (still) return *this;
  together_ = together_ && tensor.strides()[d] == 1;
  begins_ |= in_elements(tensor.data_ptr(), item);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.dim()); ++i) {
    if (i != d && tensor.sizes()[i] > 1) begins_ |= static_cast<std::uintptr_t>(tensor.strides()[i]);
  }
  return *this;
}

RowSpace& RowSpace::number() {
  elements_.number();
  launch_.step[count_++] = 0;
  return *this;
}

RowSpace& RowSpace::side_by_side() {
  launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), true);
  return *this;
}

RowSpace& RowSpace::array(const void* data, std::int64_t itemsize) {
  begins_ |= in_elements(data, itemsize);
  return *this;
}

std::int64_t RowSpace::pieces(int width) {
  const std::int64_t n = launch_.n;
  if (n % width == 0) launch_.width = static_cast<std::uint32_t>(width);
  const auto power = [](std::int64_t x) {
    return std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(x, 1)));
  };
  const auto few = static_cast<std::int64_t>(power((n + kHeldOfMany - 1) / kHeldOfMany));
  if (!launch_.teams.columns && few <= kTeamThreads && rows() * few >= kEnoughThreads) {
    const std::int64_t line = launch_.width > 1 ? kPiecesOfLine : kElementsOfLine;
    launch_.teams.size =
        static_cast<std::uint32_t>(std::max(few, std::min<std::int64_t>(power(n / launch_.width), line)));
  }
  const std::int64_t groups = (n - 1) / launch_.width + 1;
  return ((groups - 1) / launch_.teams.size + 1) * launch_.width;
}

std::int64_t RowSpace::rows() const {
  std::int64_t all = 1;
  for (const std::int64_t rows : rows_) all *= rows;
  return all;
}

std::int64_t RowSpace::share() {
  const std::int64_t size = launch_.teams.size;
  const std::int64_t threads = size * rows();
  const std::int64_t wanted = std::min(kEnoughThreads / threads, launch_.n / (kWorthwhile * size));
  if (wanted <= 1) return 1;
  launch_.stretch = (launch_.n - 1) / wanted + 1;
  launch_.stretches = static_cast<std::uint32_t>((launch_.n - 1) / launch_.stretch + 1);
  return launch_.stretches;
}

}  // namespace keyway::inline v1::cuda
