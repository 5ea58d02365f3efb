// What repeats tensors: whole, by slices, and to the shape or the grid of others.
#include <keyway/ops/all.h>
#include <keyway/ops/joining_composites.h>
#include <keyway/ops/rules/broadcast.h>

#include <utility>
#include <vector>

namespace keyway::inline v1::composite {

std::vector<Tensor> broadcast_tensors(ArrayRef<Tensor> tensors) {
  DimVector sizes;
  for (const Tensor& tensor : tensors) sizes = broadcast_sizes(sizes, tensor.sizes());
  std::vector<Tensor> expanded;
  expanded.reserve(tensors.size());
  for (const Tensor& tensor : tensors) expanded.push_back(tensor.expand(sizes));
  return expanded;
}

Tensor cartesian_prod(ArrayRef<Tensor> tensors) {
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = keyway::meshgrid(tensors, "ij");
  for (Tensor& column : columns) column = column.reshape({column.numel()});
  return keyway::stack(columns, 1);
}

std::vector<Tensor> meshgrid(ArrayRef<Tensor> tensors, std::string_view indexing) {
  const bool exchanged = indexing == "xy" && tensors.size() > 1;
  std::vector<Tensor> axes(tensors.begin(), tensors.end());
  for (const Tensor& axis : axes) {
    KEYWAY_CHECK_AS(Type, axis.dtype() == axes[0].dtype(), "the tensors are of one dtype, not {} and {}",
                    axes[0].dtype(), axis.dtype());
  }
  if (exchanged) std::swap(axes[0], axes[1]);
  DimVector sizes;
  for (const Tensor& axis : axes) sizes.push_back(axis.numel());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    DimVector apart(sizes.size(), 1);
    apart[i] = sizes[i];
    axes[i] = axes[i].reshape(apart).expand(sizes);
  }
  if (exchanged) std::swap(axes[0], axes[1]);
  return axes;
}

// Each dimension becomes two, the first of which is expanded.
Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const std::size_t added = repeats.size() - self.sizes().size();
  DimVector apart, expanded, sizes;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t size = d < added ? 1 : self.sizes()[d - added];
    apart.push_back(1);
    apart.push_back(size);
    expanded.push_back(repeats[d]);
    expanded.push_back(size);
    sizes.push_back(checked_numel({repeats[d], size}));
  }
  checked_numel(sizes);
  const Tensor result = self.reshape(apart).expand(expanded).reshape(sizes);
  return result.is_alias_of(self) ? result.clone() : result;
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  const Tensor source = dim && self.dim() > 0 ? self : self.reshape({self.numel()});
  const std::int64_t at = dim.value_or(0), size = source.size(at);
  KEYWAY_CHECK(repeats.numel() == 1 || repeats.numel() == size,
               "repeats has {} elements, but must have one, or {} as the dimension", repeats.numel(), size);
  return source.index_select(at, keyway::repeat_interleave(repeats.reshape({-1}).expand({size}), output_size));
}

// An element begins where the repetitions of all before it end; one that is not repeated begins nowhere.
Tensor repeat_interleave_indices(const Tensor& repeats, std::optional<std::int64_t> output_size) {
  const Tensor ends = repeats.to(kLong).cumsum(0);
  if (ends.numel() > 0 && !ends.is_meta() && (!output_size || ends.is_cpu())) {
    KEYWAY_CHECK(repeats.min().item().to<std::int64_t>() >= 0, "repeats must not be negative");
    // The first sum that is too large wraps to a number below 0.
    KEYWAY_CHECK(ends.min().item().to<std::int64_t>() >= 0, "repeats add up to more elements than a tensor can have");
    const auto sum = ends.select(0, -1).item().to<std::int64_t>();
    KEYWAY_CHECK(output_size.value_or(sum) == sum, "output_size is {}, but repeats add up to {}", *output_size, sum);
    output_size = sum;
  }
  KEYWAY_CHECK(output_size || ends.numel() == 0, "on Meta the size of the result is not known: give output_size");
  const std::int64_t total = ends.numel() == 0 ? 0 : *output_size;
  KEYWAY_CHECK(total < INT64_MAX, "repeats add up to {}, which is more elements than a tensor can have", total);
  const Tensor begins = keyway::zeros({total + 1}, ends.options()).index_add(0, ends, keyway::ones_like(ends));
  return begins.cumsum(0).narrow(0, 0, total).to(repeats.dtype());
}

Tensor repeat_interleave_int(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim,
                             std::optional<std::int64_t> output_size) {
  const Tensor source = dim && self.dim() > 0 ? self : self.reshape({self.numel()});
  const std::int64_t at = wrap_dim(dim.value_or(0), source.dim()), size = checked_numel({source.size(at), repeats});
  KEYWAY_CHECK(output_size.value_or(size) == size, "output_size is {}, but repeats add up to {}", *output_size, size);
  DimVector apart(source.sizes()), sizes(source.sizes());
  apart.insert(static_cast<std::size_t>(at) + 1, repeats);
  sizes[static_cast<std::size_t>(at)] = size;
  const Tensor result = source.unsqueeze(at + 1).expand(apart).reshape(sizes);
  return result.is_alias_of(self) ? result.clone() : result;
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(dims);
  while (repeats.size() < self.sizes().size()) repeats.insert(0, 1);
  return self.repeat(repeats);
}

}  // namespace keyway::inline v1::composite
