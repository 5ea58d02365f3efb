// Sizes, and tensors of other sizes.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

constexpr int kSeveral = Operator::kAny;

IntArrayRef sizes_of(const Call& call) {
  return call.is_strings(0) ? IntArrayRef(call.strings(0).sizes) : call.tensor(0).sizes();
}

// Of a range of dimensions from version 15 on.
Results shape(const Call& call) {
  const IntArrayRef sizes = sizes_of(call);
  const auto dims = static_cast<std::int64_t>(sizes.size());
  const auto clipped = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + dims : at, 0, dims); };
  const std::int64_t start = clipped(call.attribute("start", 0));
  const std::int64_t end = std::max(start, clipped(call.attribute("end", dims)));
  return {tensor(Sizes(sizes.begin() + start, sizes.begin() + end))};
}

Results size(const Call& call) {
  const IntArrayRef sizes = sizes_of(call);
  return {
      scalar_tensor(Scalar(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies())), kLong)};
}

// 0 stands for the input's size, unless the attribute allowzero is set.
Results reshape_to(const Call& call) {
  const Tensor& x = call.tensor(0);
  Sizes sizes = call.integers_of(1, "shape");
  if (call.attribute("allowzero", 0) == 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 0) continue;
      call.check(i < static_cast<std::size_t>(x.dim()), "size {} is to be the input's, which has {} dimensions", i,
                 x.dim());
      sizes[i] = x.sizes()[i];
    }
  }
  return {reshape(x, sizes)};
}

Results flatten_at(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 1), x.dim(), true);
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < axis; ++i) rows *= x.size(i);
  std::int64_t columns = 1;
  for (std::int64_t i = axis; i < x.dim(); ++i) columns *= x.size(i);
  return {reshape(x, {rows, columns})};
}

Results squeeze_axes(const Call& call) {
  const Tensor& x = call.tensor(0);
  if (!call.has_either(1, "axes")) return {squeeze(x)};
  Sizes axes = call.integers_of(1, "axes");
  for (std::int64_t& axis : axes) {
    axis = call.axis(axis, x.dim());
    call.check(x.size(axis) == 1, "size {} of dimension {} is not 1", x.size(axis), axis);
  }
  return {squeeze(x, axes)};
}

Results unsqueeze_axes(const Call& call) {
  Tensor x = call.tensor(0);
  Sizes axes = call.integers_of(1, "axes");
  const auto dims = x.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = call.axis(axis, dims);
  std::ranges::sort(axes);
  call.check(std::ranges::adjacent_find(axes) == axes.end(), "an axis is named twice");
  for (const std::int64_t axis : axes) x = unsqueeze(x, axis);
  return {x};
}

Results transpose_to(const Call& call) {
  const Tensor& x = call.tensor(0);
  Sizes order = call.list_attribute("perm");
  if (!call.has_attribute("perm")) {
    for (std::int64_t i = x.dim() - 1; i >= 0; --i) order.push_back(i);
  }
  return {permute(x, order)};
}

Results concatenated(const Call& call) {
  const std::vector<Tensor> tensors = call.tensors();
  call.check(!tensors.empty(), "there is nothing to concatenate");
  for (const Tensor& tensor : tensors) {
    call.check(tensor.dtype() == tensors[0].dtype() && tensor.dim() == tensors[0].dim(),
               "the inputs must have one dtype and number of dimensions");
  }
  const std::int64_t axis = call.version() < 4 ? call.attribute("axis", 1) : call.attribute("axis");
  return {cat(tensors, axis)};
}

// Parts of given sizes; of equal ones, the last of which may be smaller from version 18 on.
Results split_parts(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  const auto count = call.attribute("num_outputs", static_cast<std::int64_t>(call.outputs()));
  call.check(count == static_cast<std::int64_t>(call.outputs()), "num_outputs is {}, and there are {} outputs", count,
             call.outputs());
  Sizes sizes = call.integers_of(1, "split");
  if (!call.has_either(1, "split")) {
    call.check(call.version() >= 18 || x.size(axis) % count == 0, "size {} cannot be split into {} equal parts",
               x.size(axis), count);
    const std::int64_t part = (x.size(axis) + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<std::int64_t>(x.size(axis) - i * part, 0, part));
  }
  Results results;
  for (Tensor& part : split_with_sizes(x, sizes, axis)) results.emplace_back(std::move(part));
  return results;
}

// One dimension, by a step that may be negative.
Tensor sliced(const Call& call, const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
              std::int64_t step) {
  const std::int64_t size = x.size(axis);
  call.check(step != 0, "a step is 0");
  if (step > 0) {
    start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
    end = std::clamp<std::int64_t>(end < 0 ? end + size : end, start, size);
    return slice(x, axis, start, end, step);
  }
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, -1, size - 1);
  end = std::clamp<std::int64_t>(end < 0 ? end + size : end, -1, size - 1);
  const std::int64_t back = -std::max(step, -size - 1);
  // Those from end + 1 to start, from the last one on.
  if (start <= end || size == 0) return slice(x, axis, 0, 0, 1);
  return slice(flip(slice(x, axis, end + 1, start + 1, 1), {axis}), axis, 0, std::nullopt, back);
}

Results slice_axes(const Call& call) {
  Tensor x = call.tensor(0);
  const Sizes starts = call.integers_of(1, "starts");
  const Sizes ends = call.integers_of(2, "ends");
  Sizes axes = call.integers_of(3, "axes");
  if (!call.has_either(3, "axes")) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const Sizes steps = call.has(4) ? call.integers(4) : Sizes(starts.size(), 1);
  call.check(starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
             "starts, ends, axes and steps must have one length, not {}, {}, {} and {}", starts.size(), ends.size(),
             axes.size(), steps.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    x = sliced(call, x, call.axis(axes[i], x.dim()), starts[i], ends[i], steps[i]);
  }
  return {x};
}

Results expand_to(const Call& call) {
  const Tensor& x = call.tensor(0);
  Sizes sizes = call.integers(1);
  const auto dims = std::max<std::int64_t>(x.dim(), static_cast<std::int64_t>(sizes.size()));
  sizes.insert(sizes.begin(), static_cast<std::size_t>(dims) - sizes.size(), 1);
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    std::int64_t& size = sizes[static_cast<std::size_t>(dims - x.dim() + i)];
    if (size == 1) size = x.size(i);
  }
  return {x.expand(sizes)};
}

Results tile_by(const Call& call) {
  const Tensor& x = call.tensor(0);
  if (call.version() < 6) {
    Sizes repeats(static_cast<std::size_t>(x.dim()), 1);
    repeats[static_cast<std::size_t>(call.axis(call.integer(2), x.dim()))] = call.integer(1);
    return {tile(x, repeats)};
  }
  const Sizes repeats = call.integers(1);
  call.check(static_cast<std::int64_t>(repeats.size()) == x.dim(), "{} numbers of repetitions for {} dimensions",
             repeats.size(), x.dim());
  return {tile(x, repeats)};
}

// Numbers of what comes before and behind each dimension, in PyTorch's order: the last dimension first.
Sizes padding_of(const Call& call, const Sizes& pads, const Sizes& axes, std::int64_t dims) {
  call.check(pads.size() == 2 * axes.size(), "{} numbers of padding for {} axes", pads.size(), axes.size());
  Sizes padding(2 * static_cast<std::size_t>(dims), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto at = 2 * static_cast<std::size_t>(dims - 1 - call.axis(axes[i], dims));
    padding[at] = pads[i];
    padding[at + 1] = pads[i + axes.size()];
  }
  return padding;
}

// What lies where an index of the padded tensor is, for each of its indices.
Tensor padded_indices(std::string_view mode, std::int64_t size, std::int64_t before, std::int64_t after) {
  Tensor at = arange(Scalar(-before), Scalar(size + after), kLong);
  if (mode == "edge") return clamp(at, Scalar(std::int64_t{0}), Scalar(size - 1));
  if (mode == "wrap") return remainder(at, Scalar(size));
  if (size == 1) return zeros_like(at);
  const std::int64_t period = 2 * (size - 1);  // reflect: 0 1 2 1 0 1 ...
  at = remainder(at, Scalar(period));
  return minimum(at, sub(full_like(at, Scalar(period)), at));
}

Results pad_with(const Call& call) {
  Tensor x = call.tensor(0);
  const std::string mode = call.text_attribute("mode", "constant");
  Sizes axes = call.has(3) ? call.integers(3) : Sizes();
  if (!call.has(3)) {
    axes.resize(static_cast<std::size_t>(x.dim()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const Sizes pads =
      call.has(1) ? call.integers(1) : call.list_attribute(call.has_attribute("pads") ? "pads" : "paddings");
  const Sizes padding = padding_of(call, pads, axes, x.dim());
  if (mode == "constant") {
    const Scalar value = call.has(2) ? Scalar(call.number(2)) : Scalar(call.single_attribute("value", 0));
    const bool as_integer = is_integral(x.dtype(), true);
    return {constant_pad_nd(x, padding, as_integer && call.has(2) ? Scalar(call.integer(2)) : value)};
  }
  call.check(mode == "edge" || mode == "reflect" || mode == "wrap", "mode '{}' is none of ONNX's", mode);
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) {
    const auto at = 2 * static_cast<std::size_t>(x.dim() - 1 - axis);
    if (padding[at] == 0 && padding[at + 1] == 0) continue;
    call.check(x.size(axis) > 0, "dimension {} has no elements to pad with", axis);
    x = index_select(x, axis, padded_indices(mode, x.size(axis), padding[at], padding[at + 1]));
  }
  return {x};
}

Results identity(const Call& call) { return {call.value(0)}; }

Results constant_of_shape(const Call& call) {
  if (!call.has_attribute("value")) return {zeros(call.integers(0), kFloat)};
  const auto* const value = std::get_if<Tensor>(&call.value_attribute("value"));
  call.check(value != nullptr && value->numel() == 1, "the attribute value must be a tensor with one element");
  return {reshape(*value, Sizes()).expand(call.integers(0)).clone(MemoryFormat::Contiguous)};
}

Results range_of(const Call& call) {
  const ScalarType dtype = call.tensor(0).dtype();
  const auto scalar = [&](std::size_t input) {
    return is_integral(dtype, false) ? Scalar(call.integer(input)) : Scalar(call.number(input));
  };
  const double count = std::ceil((call.number(1) - call.number(0)) / call.number(2));
  if (!(count > 0)) return {empty({0}, dtype)};
  // As the standard has it: start + i * delta.
  return {add(mul(arange(Scalar(static_cast<std::int64_t>(count)), dtype), scalar(2)), scalar(0))};
}

Results eye_like(const Call& call) {
  const Tensor& x = call.tensor(0);
  call.check(x.dim() == 2, "the input must have 2 dimensions, not {}", x.dim());
  const ScalarType dtype = call.has_attribute("dtype") ? dtype_of_element_type(call.attribute("dtype")) : x.dtype();
  const std::int64_t k = call.attribute("k", 0);
  const Tensor rows = arange(Scalar(x.size(0)), kLong).unsqueeze(1);
  const Tensor columns = arange(Scalar(x.size(1)), kLong).unsqueeze(0);
  return {eq(add(rows, Scalar(k)), columns).to(dtype)};
}

Results triangle(const Call& call) {
  const std::int64_t k = call.has(1) ? call.integer(1) : 0;
  return {call.attribute("upper", 1) != 0 ? triu(call.tensor(0), k) : tril(call.tensor(0), k)};
}

Results depth_to_space(const Call& call) {
  const Tensor& x = call.tensor(0);
  call.check(x.dim() == 4, "the input must have 4 dimensions, not {}", x.dim());
  const std::int64_t b = call.attribute("blocksize");
  call.check(b > 0 && x.size(1) % (b * b) == 0, "{} channels are no multiple of the square of {}", x.size(1), b);
  const std::int64_t n = x.size(0), c = x.size(1) / (b * b), h = x.size(2), w = x.size(3);
  const bool dcr = call.text_attribute("mode", "DCR") == "DCR";
  const Tensor blocks = dcr ? reshape(x, {n, b, b, c, h, w}).permute({0, 3, 4, 1, 5, 2})
                            : reshape(x, {n, c, b, b, h, w}).permute({0, 1, 4, 2, 5, 3});
  return {reshape(blocks, {n, c, h * b, w * b})};
}

Results space_to_depth(const Call& call) {
  const Tensor& x = call.tensor(0);
  call.check(x.dim() == 4, "the input must have 4 dimensions, not {}", x.dim());
  const std::int64_t b = call.attribute("blocksize");
  call.check(b > 0 && x.size(2) % b == 0 && x.size(3) % b == 0, "sizes {} are no multiples of {}", x.sizes(), b);
  const std::int64_t n = x.size(0), c = x.size(1), h = x.size(2) / b, w = x.size(3) / b;
  const Tensor blocks = reshape(x, {n, c, h, b, w, b});
  const bool dcr = call.text_attribute("mode", "DCR") == "DCR";
  return {reshape(dcr ? blocks.permute({0, 3, 5, 1, 2, 4}) : blocks.permute({0, 1, 3, 5, 2, 4}), {n, c * b * b, h, w})};
}

Results center_crop_pad(const Call& call) {
  Tensor x = call.tensor(0);
  const Sizes sizes = call.integers(1);
  Sizes axes = call.list_attribute("axes");
  if (!call.has_attribute("axes")) {
    axes.resize(sizes.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  call.check(axes.size() == sizes.size(), "{} sizes for {} axes", sizes.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = call.axis(axes[i], x.dim());
    const std::int64_t more = sizes[i] - x.size(axis);
    if (more <= 0) {
      x = slice(x, axis, -more / 2, -more / 2 + sizes[i], 1);
      continue;
    }
    x = constant_pad_nd(x, padding_of(call, {more / 2, more - more / 2}, {axis}, x.dim()));
  }
  return {x};
}

// Elements of each batch's sequence in reverse order, up to its length.
Results reverse_sequence(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t time = call.attribute("time_axis", 0);
  const std::int64_t batch = call.attribute("batch_axis", 1);
  call.check(x.dim() >= 2 && time + batch == 1 && (time == 0 || time == 1), "time_axis and batch_axis are 0 and 1");
  const Tensor lengths = call.tensor(1).to(kLong).unsqueeze(time);
  const Tensor steps = arange(Scalar(x.size(time)), kLong).unsqueeze(batch);
  Tensor at = where(lt(steps, lengths), sub(sub(lengths, steps), Scalar(std::int64_t{1})), steps);
  for (std::int64_t i = 2; i < x.dim(); ++i) at = unsqueeze(at, -1);
  return {gather(x, time, at.expand(x.sizes()))};
}

constexpr Operator kShapes[] = {
    {"CenterCropPad", 18, center_crop_pad, 2, "axes"},
    {"Concat", 1, concatenated, kSeveral, "axis"},
    {"ConstantOfShape", 9, constant_of_shape, 1, "value"},
    {"DepthToSpace", 1, depth_to_space, 1, "blocksize"},
    {"DepthToSpace", 11, depth_to_space, 1, "blocksize mode"},
    {"Expand", 8, expand_to, 2},
    {"EyeLike", 9, eye_like, 1, "dtype k"},
    {"Flatten", 1, flatten_at, 1, "axis"},
    {"Identity", 1, identity},
    {"Pad", 1, pad_with, 1, "paddings mode value"},
    {"Pad", 2, pad_with, 1, "pads mode value"},
    {"Pad", 11, pad_with, 3, "mode"},
    {"Pad", 18, pad_with, 4, "mode"},
    {"Range", 11, range_of, 3},
    {"Reshape", 1, reshape_to, 1, "shape consumed_inputs"},
    {"Reshape", 5, reshape_to, 2},
    {"Reshape", 14, reshape_to, 2, "allowzero"},
    {"ReverseSequence", 10, reverse_sequence, 2, "batch_axis time_axis"},
    {"Shape", 1, shape, 1, "", 1, Operator::Sort::Sizes},
    {"Shape", 15, shape, 1, "start end", 1, Operator::Sort::Sizes},
    {"Size", 1, size, 1, "", 1, Operator::Sort::Sizes},
    {"Slice", 1, slice_axes, 1, "axes ends starts"},
    {"Slice", 10, slice_axes, 5},
    {"SpaceToDepth", 1, space_to_depth, 1, "blocksize"},
    {"SpaceToDepth", 28, space_to_depth, 1, "blocksize mode"},
    {"Split", 1, split_parts, 2, "axis split", kSeveral},
    {"Split", 2, split_parts, 1, "axis split", kSeveral},
    {"Split", 13, split_parts, 2, "axis", kSeveral},
    {"Split", 18, split_parts, 2, "axis num_outputs", kSeveral},
    {"Squeeze", 1, squeeze_axes, 1, "axes"},
    {"Squeeze", 13, squeeze_axes, 2},
    {"Tile", 1, tile_by, 3},
    {"Tile", 6, tile_by, 2},
    {"Transpose", 1, transpose_to, 1, "perm"},
    {"Trilu", 14, triangle, 2, "upper"},
    {"Unsqueeze", 1, unsqueeze_axes, 1, "axes"},
    {"Unsqueeze", 13, unsqueeze_axes, 2},
};

}  // namespace

Family shape_family() { return kShapes; }

}  // namespace keyway::inline v1::onnx
