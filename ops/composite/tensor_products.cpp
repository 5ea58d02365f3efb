// Products of tensors with more freedom than matmul has: over chosen dimensions, of all pairs, of chains.
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/linalg_composites.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

// The dimensions that are not among `dims`.
DimVector others(const Tensor& tensor, IntArrayRef dims) {
  DimVector left;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    const bool is_one =
        std::any_of(dims.begin(), dims.end(), [&](std::int64_t dim) { return wrap_dim(dim, tensor.dim()) == d; });
    if (!is_one) left.push_back(d);
  }
  return left;
}

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector all(a);
  for (const std::int64_t item : b) all.push_back(item);
  return all;
}

DimVector sizes_at(const Tensor& tensor, IntArrayRef dims) {
  DimVector sizes;
  for (const std::int64_t dim : dims) sizes.push_back(tensor.size(dim));
  return sizes;
}

// The two components that follow along `dim`, which has three.
Tensor following(const Tensor& tensor, std::int64_t dim, std::int64_t shift) { return tensor.roll(-shift, dim); }

// Where to cut the chain of matrices of sizes[i] x sizes[i + 1], so that the fewest multiplications are left: entry
// [first][last] for the chain of these.
std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& sizes) {
  const std::size_t count = sizes.size() - 1;
  std::vector<std::vector<double>> cost(count, std::vector<double>(count, 0));
  std::vector<std::vector<std::size_t>> cuts(count, std::vector<std::size_t>(count, 0));
  for (std::size_t length = 1; length < count; ++length) {
    for (std::size_t first = 0; first + length < count; ++first) {
      const std::size_t last = first + length;
      for (std::size_t cut = first; cut < last; ++cut) {
        const double all = cost[first][cut] + cost[cut + 1][last] + sizes[first] * sizes[cut + 1] * sizes[last + 1];
        if (cut != first && all >= cost[first][last]) continue;
        cost[first][last] = all;
        cuts[first][last] = cut;
      }
    }
  }
  return cuts;
}

Tensor chain_product(const std::vector<Tensor>& matrices, const std::vector<std::vector<std::size_t>>& cuts,
                     std::size_t first, std::size_t last) {
  if (first == last) return matrices[first];
  const std::size_t cut = cuts[first][last];
  return keyway::mm(chain_product(matrices, cuts, first, cut), chain_product(matrices, cuts, cut + 1, last));
}

}  // namespace

Tensor cross(const Tensor& self, const Tensor& other, std::optional<std::int64_t> dim) {
  for (std::int64_t d = 0; d < self.dim() && !dim; ++d) {
    if (self.size(d) == 3) dim = d;
  }
  KEYWAY_CHECK(dim, "no dimension has size 3: the shape is {}", self.sizes());
  return keyway::linalg_cross(self, other, *dim);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return self * other;
  return keyway::tensordot(self, other, {-1}, {-1});
}

// Each dimension becomes one of `self` and one of `other`, which broadcast.
Tensor kron(const Tensor& self, const Tensor& other) {
  const std::size_t dims = std::max(self.sizes().size(), other.sizes().size());
  const auto size = [&](const Tensor& tensor, std::size_t d) {
    const std::size_t missing = dims - tensor.sizes().size();
    return d < missing ? 1 : tensor.sizes()[d - missing];
  };
  DimVector mine, its, sizes;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t a = size(self, d), b = size(other, d);
    mine.push_back(a);
    mine.push_back(1);
    its.push_back(1);
    its.push_back(b);
    sizes.push_back(checked_numel({a, b}));
  }
  return (self.reshape(mine) * other.reshape(its)).reshape(sizes);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, std::int64_t dim) {
  KEYWAY_CHECK(self.size(dim) == 3 && other.size(dim) == 3, "dimension {} has to have size 3 in both", dim);
  return following(self, dim, 1) * following(other, dim, 2) - following(self, dim, 2) * following(other, dim, 1);
}

Tensor linalg_multi_dot(ArrayRef<Tensor> tensors) {
  const std::size_t last = tensors.size() - 1;
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  const bool row = matrices[0].dim() == 1, column = matrices[last].dim() == 1;
  if (row) matrices[0] = matrices[0].unsqueeze(0);
  if (column) matrices[last] = matrices[last].unsqueeze(1);
  std::vector<double> sizes;
  for (std::size_t i = 0; i <= last; ++i) {
    KEYWAY_CHECK(matrices[i].dim() == 2, "tensor {} has {} dimensions, but must be a matrix{}", i, matrices[i].dim(),
                 i == 0 || i == last ? " or a vector" : "");
    KEYWAY_CHECK(i == 0 || matrices[i - 1].size(1) == matrices[i].size(0),
                 "tensors {} and {} cannot be multiplied: their shapes are {} and {}", i - 1, i, tensors[i - 1].sizes(),
                 tensors[i].sizes());
    sizes.push_back(static_cast<double>(matrices[i].size(0)));
  }
  sizes.push_back(static_cast<double>(matrices[last].size(1)));
  Tensor result = chain_product(matrices, best_cuts(sizes), 0, last);
  if (column) result = result.squeeze(1);
  return row ? result.squeeze(0) : result;
}

Tensor outer(const Tensor& self, const Tensor& vec2) { return self.unsqueeze(1) * vec2; }

// A dimension of size 1 stands for all indices of the other tensor's, which are summed over first.
Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  Tensor a = self, b = other;
  for (std::size_t i = 0; i < dims_self.size(); ++i) {
    const std::int64_t mine = self.size(dims_self[i]), its = other.size(dims_other[i]);
    KEYWAY_CHECK(mine == its || mine == 1 || its == 1,
                 "dimension {} of self has size {}, but dimension {} of other has size {}", dims_self[i], mine,
                 dims_other[i], its);
    if (mine != its && its == 1) a = a.sum(dims_self[i], true, a.dtype());
    if (mine != its && mine == 1) b = b.sum(dims_other[i], true, b.dtype());
  }
  const DimVector rows = others(a, dims_self), columns = others(b, dims_other);
  const DimVector height = sizes_at(a, rows), width = sizes_at(b, columns);
  const std::int64_t depth = checked_numel(sizes_at(a, dims_self));
  const Tensor left = a.permute(joined(rows, dims_self)).reshape({checked_numel(height), depth});
  const Tensor right = b.permute(joined(dims_other, columns)).reshape({depth, checked_numel(width)});
  return keyway::mm(left, right).reshape(joined(height, width));
}

}  // namespace keyway::inline v1::composite
