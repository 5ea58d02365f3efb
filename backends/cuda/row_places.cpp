#include <keyway/backends/cuda/row_places.h>

#include <cstdlib>

namespace keyway::inline v1::cuda {

namespace {

DimVector with_one(IntArrayRef sizes, std::int64_t dim) {
  DimVector rows(sizes.begin(), sizes.end());
  rows[static_cast<std::size_t>(dim)] = 1;
  return rows;
}

}  // namespace

RowPlaces::RowPlaces(IntArrayRef sizes, std::int64_t dim) : rows_(with_one(sizes, dim)), dim_(dim), places_(rows_) {
  launch_.n = sizes[static_cast<std::size_t>(dim)];
  launch_.teams = teams_for(static_cast<std::uint64_t>(launch_.n), false);
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

}  // namespace keyway::inline v1::cuda
