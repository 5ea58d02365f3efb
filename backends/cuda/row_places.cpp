#include <keyway/backends/cuda/row_places.h>

#include <algorithm>
#include <cstdlib>

namespace keyway::inline v1::cuda {

namespace {

// Threads that keep a device busy, and elements of a stretch for each thread that are worth starting it for. A row that
// long has a team of 8 threads at least, so it has no more than 2^15 stretches; a launch has room for twice that.
constexpr std::int64_t kEnoughThreads = 1 << 18;
constexpr std::int64_t kWorthwhile = 32;

DimVector with_one(IntArrayRef sizes, std::int64_t dim) {
  DimVector rows(sizes.begin(), sizes.end());
  rows[static_cast<std::size_t>(dim)] = 1;
  return rows;
}

}  // namespace

RowPlaces::RowPlaces(IntArrayRef sizes, std::int64_t dim) : rows_(with_one(sizes, dim)), dim_(dim), places_(rows_) {
  launch_.n = sizes[static_cast<std::size_t>(dim)];
  launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), false);
  launch_.stretch = launch_.n;
}

RowPlaces& RowPlaces::tensor(const TensorBase& tensor) {
  places_.line(tensor, dim_);
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
  return *this;
}

RowPlaces& RowPlaces::number() {
  places_.number();
  launch_.step[count_++] = 0;
  return *this;
}

RowPlaces& RowPlaces::side_by_side() {
  launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), true);
  return *this;
}

std::int64_t RowPlaces::share() {
  const std::int64_t size = launch_.teams.size;
  std::int64_t threads = size;
  for (const std::int64_t rows : rows_) threads *= rows;
  const std::int64_t wanted = std::min(kEnoughThreads / threads, launch_.n / (kWorthwhile * size));
  if (wanted <= 1) return 1;
  launch_.stretch = (launch_.n - 1) / wanted + 1;
  launch_.stretches = static_cast<std::uint32_t>((launch_.n - 1) / launch_.stretch + 1);
  return launch_.stretches;
}

}  // namespace keyway::inline v1::cuda
