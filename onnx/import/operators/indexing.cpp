// Elements at indices.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

// Indices that may count from the end.
Tensor from_start(const Tensor& indices, std::int64_t size) {
  const Tensor at = indices.to(kLong);
  return where(lt(at, Scalar(0)), add(at, Scalar(size)), at);
}

Results gather_slices(const Call& call) {
  const Tensor& indices = call.tensor(1);
  if (call.is_strings(0)) call.refuse("texts cannot be gathered");
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  const Tensor taken = index_select(x, axis, reshape(from_start(indices, x.size(axis)), {-1}));
  Sizes sizes(x.sizes().begin(), x.sizes().begin() + axis);
  sizes.insert(sizes.end(), indices.sizes().begin(), indices.sizes().end());
  sizes.insert(sizes.end(), x.sizes().begin() + axis + 1, x.sizes().end());
  return {reshape(taken, sizes)};
}

Results gather_elements(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  return {gather(x, axis, from_start(call.tensor(1), x.size(axis)))};
}

// The numbers of elements, from indices in the last dimension of a tensor, which are those of the dimensions from
// `first` on. Strides are those of the dimensions that they index.
Tensor flat_indices(const Call& call, const Tensor& indices, IntArrayRef sizes, std::size_t first) {
  call.check(indices.dim() >= 1, "the indices have no dimension");
  const auto depth = static_cast<std::size_t>(indices.size(-1));
  call.check(first + depth <= sizes.size(), "indices of {} dimensions for a tensor of {}", depth, sizes.size() - first);
  Sizes kept(indices.sizes().begin(), indices.sizes().end() - 1);
  Tensor flat = zeros(kept, kLong);
  for (std::size_t i = 0; i < depth; ++i) {
    const std::int64_t size = sizes[first + i];
    flat = add(mul(flat, Scalar(size)), from_start(select(indices, -1, static_cast<std::int64_t>(i)), size));
  }
  return flat;
}

std::int64_t product(IntArrayRef sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all *= size;
  return all;
}

Results gather_nd(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Tensor& indices = call.tensor(1);
  const auto batch = static_cast<std::size_t>(call.axis(call.attribute("batch_dims", 0), x.dim()));
  call.check(indices.dim() > static_cast<std::int64_t>(batch),
             "the indices have {} dimensions, of which {} are batches", indices.dim(), batch);
  Tensor flat = flat_indices(call, indices, x.sizes(), batch);
  const auto depth = batch + static_cast<std::size_t>(indices.size(-1));
  const IntArrayRef sizes = x.sizes();
  const std::int64_t batches = product({sizes.data(), batch});
  const std::int64_t indexed = product({sizes.data() + batch, depth - batch});
  const std::int64_t rest = product({sizes.data() + depth, sizes.size() - depth});
  // Each batch has elements of its own.
  if (batch > 0) {
    const Tensor offsets = mul(arange(Scalar(batches), kLong), Scalar(indexed)).unsqueeze(1);
    flat = add(reshape(flat, {batches, flat.numel() / std::max<std::int64_t>(batches, 1)}), offsets);
  }
  const Tensor taken = index_select(reshape(x, {batches * indexed, rest}), 0, reshape(flat, {-1}));
  Sizes result(indices.sizes().begin(), indices.sizes().end() - 1);
  result.insert(result.end(), sizes.begin() + static_cast<std::ptrdiff_t>(depth), sizes.end());
  return {reshape(taken, result)};
}

std::string reduction_word(const Call& call) {
  const std::string word = call.text_attribute("reduction", "none");
  if (word == "none" || word == "add" || word == "mul" || word == "max" || word == "min") {
    return word == "add" ? "sum" : word == "mul" ? "prod" : word == "max" ? "amax" : word == "min" ? "amin" : word;
  }
  call.refuse("there is no reduction '{}'", word);
}

Tensor scatter_by(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                  const std::string& word) {
  return word == "none" ? scatter(x, axis, index, source) : scatter_reduce(x, axis, index, source, word);
}

Results scatter_elements(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  return {scatter_by(x, axis, from_start(call.tensor(1), x.size(axis)), call.tensor(2), reduction_word(call))};
}

Results scatter_nd(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Tensor& indices = call.tensor(1);
  const Tensor flat = flat_indices(call, indices, x.sizes(), 0);
  const auto depth = static_cast<std::size_t>(indices.size(-1));
  const IntArrayRef sizes = x.sizes();
  const std::int64_t indexed = product({sizes.data(), depth});
  const std::int64_t rest = product({sizes.data() + depth, sizes.size() - depth});
  const Tensor source = reshape(call.tensor(2), {flat.numel(), rest});
  const Tensor index = reshape(flat, {-1, 1}).expand({flat.numel(), rest});
  return {reshape(scatter_by(reshape(x, {indexed, rest}), 0, index, source, reduction_word(call)), sizes)};
}

Results compressed(const Call& call) {
  Tensor x = call.tensor(0);
  const Tensor condition = call.tensor(1);
  call.check(condition.dim() == 1, "the condition must have 1 dimension, not {}", condition.dim());
  std::int64_t axis = 0;
  if (call.has_attribute("axis")) {
    axis = call.axis(call.attribute("axis"), x.dim());
  } else {
    x = reshape(x, {-1});
  }
  return {index_select(x, axis, squeeze(nonzero(condition), 1))};
}

Results nonzero_places(const Call& call) { return {nonzero(call.tensor(0)).transpose(0, 1)}; }

// Values, and where each comes first; sorted, or in the order in which they come first.
Results unique_values(const Call& call) {
  Tensor x = call.tensor(0);
  std::int64_t axis = 0;
  if (call.has_attribute("axis")) {
    axis = call.axis(call.attribute("axis"), x.dim());
  } else {
    x = reshape(x, {-1});
  }
  auto [values, inverse, counts] = unique_dim(x, axis, true, true, true);
  const std::int64_t size = x.size(axis);
  const Tensor first =
      scatter_reduce(full({values.size(axis)}, Scalar(size), kLong), 0, inverse, arange(Scalar(size), kLong), "amin");
  if (call.attribute("sorted", 1) != 0) return {values, first, inverse, counts};
  const Tensor order = argsort(first);
  const Tensor rank = argsort(order);
  return {index_select(values, axis, order), index_select(first, 0, order), index_select(rank, 0, inverse),
          index_select(counts, 0, order)};
}

Results one_hot_of(const Call& call) {
  const Tensor& values = call.tensor(2);
  const std::int64_t depth = call.integer(1);
  const Tensor indices = from_start(call.tensor(0), depth);
  const std::int64_t axis = call.axis(call.attribute("axis", -1), indices.dim() + 1);
  Sizes sizes(static_cast<std::size_t>(indices.dim() + 1), 1);
  sizes[static_cast<std::size_t>(axis)] = depth;
  const Tensor classes = reshape(arange(Scalar(depth), kLong), sizes);
  return {where(eq(indices.unsqueeze(axis), classes), select(values, 0, 1), select(values, 0, 0))};
}

constexpr Operator kIndexings[] = {
    {"Compress", 9, compressed, 2, "axis"},
    {"Gather", 1, gather_slices, 2, "axis"},
    {"GatherElements", 11, gather_elements, 2, "axis"},
    {"GatherND", 11, gather_nd, 2},
    {"GatherND", 12, gather_nd, 2, "batch_dims"},
    {"NonZero", 9, nonzero_places},
    {"OneHot", 9, one_hot_of, 3, "axis"},
    {"Scatter", 9, scatter_elements, 3, "axis"},
    {"ScatterElements", 11, scatter_elements, 3, "axis"},
    {"ScatterElements", 16, scatter_elements, 3, "axis reduction"},
    {"ScatterND", 11, scatter_nd, 3},
    {"ScatterND", 16, scatter_nd, 3, "reduction"},
    {"Unique", 11, unique_values, 1, "axis sorted", 4},
};

}  // namespace

Family indexing_family() { return kIndexings; }

}  // namespace keyway::inline v1::onnx
