// Normalisation.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

namespace {

using Axes = std::vector<std::int64_t>;

// A vector of channels as it broadcasts with x: [C, 1, 1].
Tensor per_channel(const Tensor& vector, const Tensor& x) {
  Axes sizes(static_cast<std::size_t>(std::max<std::int64_t>(x.dim() - 1, 1)), 1);
  sizes[0] = vector.numel();
  return reshape(vector, sizes);
}

// Of all dimensions but that of channels.
Axes other_dims(const Tensor& x) {
  Axes axes = {0};
  for (std::int64_t i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

Tensor normalized(const Tensor& x, const Tensor& center, const Tensor& variance, double epsilon) {
  return mul(sub(x, center), rsqrt(add(variance, Scalar(epsilon))));
}

Results batch_normalization(const Call& call) {
  const Tensor& x = call.tensor(0);
  const double epsilon = call.single_attribute("epsilon", 1e-5);
  call.check(call.attribute("spatial", 1) != 0, "only the spatial form is there");
  const Tensor scale = per_channel(call.tensor(1), x);
  const Tensor shift = per_channel(call.tensor(2), x);
  const bool training = call.version() >= 14 ? call.attribute("training_mode", 0) != 0
                                             : call.version() < 7 && call.attribute("is_test", 0) == 0;
  if (!training) {
    const Tensor y = normalized(x.to(call.tensor(3).dtype()), per_channel(call.tensor(3), x),
                                per_channel(call.tensor(4), x), epsilon);
    return {add(mul(y, scale), shift).to(x.dtype())};
  }
  const Axes axes = other_dims(x);
  const Tensor center = mean(x, OptionalIntArrayRef(axes));
  const Tensor variance = var(x, OptionalIntArrayRef(axes), /*unbiased=*/false);
  const Tensor y = normalized(x, per_channel(center, x), per_channel(variance, x), epsilon);
  const double momentum = call.single_attribute("momentum", 0.9);
  const auto running = [&](std::size_t input, const Tensor& now) {
    return add(mul(call.tensor(input), Scalar(momentum)), mul(now, Scalar(1 - momentum)))
        .to(call.tensor(input).dtype());
  };
  Results results = {add(mul(y, scale), shift).to(x.dtype()), running(3, center), running(4, variance)};
  if (call.version() < 14) {
    results.emplace_back(center);
    results.emplace_back(variance);
  }
  return results;
}

Results instance_normalization(const Call& call) {
  const Tensor& x = call.tensor(0);
  Axes axes;
  for (std::int64_t i = 2; i < x.dim(); ++i) axes.push_back(i);
  const Tensor y = normalized(x, mean(x, OptionalIntArrayRef(axes), true),
                              var(x, OptionalIntArrayRef(axes), false, true), call.single_attribute("epsilon", 1e-5));
  return {add(mul(y, per_channel(call.tensor(1), x)), per_channel(call.tensor(2), x))};
}

// Computed in float32 at least, as stash_type asks for.
Tensor stashed(const Call& call, const Tensor& x) {
  const std::int64_t type = call.attribute("stash_type", 1);
  return type == 1 && element_size(x.dtype()) < 4 ? x.to(kFloat) : x;
}

Axes from_axis(const Call& call, const Tensor& x) {
  Axes axes;
  for (std::int64_t i = call.axis(call.attribute("axis", -1), x.dim()); i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

Results layer_normalization(const Call& call) {
  const Tensor x = stashed(call, call.tensor(0));
  const Axes axes = from_axis(call, x);
  const Tensor center = mean(x, OptionalIntArrayRef(axes), true);
  const Tensor scale =
      rsqrt(add(var(x, OptionalIntArrayRef(axes), false, true), Scalar(call.single_attribute("epsilon", 1e-5))));
  Tensor y = mul(mul(sub(x, center), scale).to(call.tensor(0).dtype()), call.tensor(1));
  if (call.has(2)) y = add(y, call.tensor(2));
  return {y, center, scale};
}

Results rms_normalization(const Call& call) {
  const Tensor x = stashed(call, call.tensor(0));
  const Axes axes = from_axis(call, x);
  const Tensor squares = mean(mul(x, x), OptionalIntArrayRef(axes), true);
  const Tensor y = mul(x, rsqrt(add(squares, Scalar(call.single_attribute("epsilon", 1e-5)))));
  return {mul(y.to(call.tensor(0).dtype()), call.tensor(1))};
}

// Before version 21 scale and bias are those of groups, then those of channels.
Results group_normalization(const Call& call) {
  const Tensor x = stashed(call, call.tensor(0));
  const std::int64_t groups = call.attribute("num_groups");
  call.check(x.dim() >= 2 && groups > 0 && x.size(1) % groups == 0, "{} channels are no multiple of {} groups",
             x.dim() >= 2 ? x.size(1) : 0, groups);
  const auto parameter = [&](std::size_t input) {
    const Tensor& given = call.tensor(input);
    return call.version() >= 21 ? given : repeat_interleave(given, x.size(1) / groups);
  };
  const Tensor rows = reshape(x, {x.size(0), groups, -1});
  const Axes last = {2};
  const Tensor y =
      normalized(rows, mean(rows, OptionalIntArrayRef(last), true), var(rows, OptionalIntArrayRef(last), false, true),
                 call.single_attribute("epsilon", 1e-5));
  const Tensor plain = reshape(y, x.sizes()).to(call.tensor(0).dtype());
  return {add(mul(plain, per_channel(parameter(1), x)), per_channel(parameter(2), x))};
}

Results local_response(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t size = call.attribute("size");
  call.check(x.dim() >= 2 && size > 0, "size is {}, and the input has {} dimensions", size, x.dim());
  Axes padding(2 * static_cast<std::size_t>(x.dim() - 1), 0);
  padding[padding.size() - 2] = (size - 1) / 2;
  padding[padding.size() - 1] = size - 1 - (size - 1) / 2;
  const Tensor windows = constant_pad_nd(mul(x, x), padding).unfold(1, size, 1);
  const Axes last = {-1};
  const Tensor sums = sum(windows, OptionalIntArrayRef(last));
  const double alpha = call.single_attribute("alpha", 0.0001);
  const Tensor base =
      add(mul(sums, Scalar(alpha / static_cast<double>(size))), Scalar(call.single_attribute("bias", 1)));
  return {div(x, pow(base, Scalar(call.single_attribute("beta", 0.75))))};
}

Results lp_normalization(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t p = call.attribute("p", 2);
  call.check(p == 1 || p == 2, "p is 1 or 2, not {}", p);
  const Axes axes = {call.axis(call.attribute("axis", -1), x.dim())};
  const Tensor norm = linalg_vector_norm(x, Scalar(p), OptionalIntArrayRef(axes), true);
  return {where(eq(norm, Scalar(0)), zeros_like(x), div(x, norm))};
}

Results mean_variance(const Call& call) {
  const Tensor& x = call.tensor(0);
  Axes axes = call.list_attribute("axes");
  if (!call.has_attribute("axes")) axes = {0, 2, 3};
  const Tensor center = mean(x, OptionalIntArrayRef(axes), true);
  const Tensor deviation = sqrt(var(x, OptionalIntArrayRef(axes), false, true));
  return {div(sub(x, center), add(deviation, Scalar(1e-9)))};
}

constexpr Operator kNormalizations[] = {
    {"BatchNormalization", 1, batch_normalization, 5, "consumed_inputs epsilon is_test momentum spatial", 5},
    {"BatchNormalization", 7, batch_normalization, 5, "epsilon momentum spatial", 5},
    {"BatchNormalization", 9, batch_normalization, 5, "epsilon momentum", 5},
    {"BatchNormalization", 14, batch_normalization, 5, "epsilon momentum training_mode", 3},
    {"GroupNormalization", 18, group_normalization, 3, "epsilon num_groups"},
    {"GroupNormalization", 21, group_normalization, 3, "epsilon num_groups stash_type"},
    {"InstanceNormalization", 1, instance_normalization, 3, "consumed_inputs epsilon"},
    {"LRN", 1, local_response, 1, "alpha beta bias size"},
    {"LayerNormalization", 17, layer_normalization, 3, "axis epsilon stash_type", 3},
    {"LpNormalization", 1, lp_normalization, 1, "axis p"},
    {"MeanVarianceNormalization", 9, mean_variance, 1, "axes"},
    {"RMSNormalization", 23, rms_normalization, 2, "axis epsilon stash_type"},
};

}  // namespace

Family normalization_family() { return kNormalizations; }

}  // namespace keyway::inline v1::onnx
