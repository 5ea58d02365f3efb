#include <keyway/tools/keyway/conform/spread_elements.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::tools {

namespace {

struct Range {
  double low = INFINITY, high = -INFINITY;
  bool is_real = true;  // and finite
};
Range range_of(const TensorRecipe& recipe) {
  Range range;
  for (const Scalar& element : recipe.elements) {
    if (element.is_complex() || !std::isfinite(element.to<double>())) {
      range.is_real = false;
      continue;
    }
    range.low = std::min(range.low, element.to<double>());
    range.high = std::max(range.high, element.to<double>());
  }
  return range;
}

// `count` numbers that all differ, in no order.
std::vector<Scalar> spread(double low, double high, int count) {
  std::vector<Scalar> numbers;
  for (int i = 0; i < count; ++i) numbers.emplace_back(low + (high - low) * (i * 23 % count) / count);
  return numbers;
}

template <typename Change>
std::vector<Value> with_tensors(std::vector<Value> values, Change change) {
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      if (recipe.defined) change(recipe);
    }
  }
  return values;
}

}  // namespace

std::vector<Value> with_spread_elements(std::vector<Value> values) {
  return with_tensors(std::move(values), [](TensorRecipe& recipe) {
    if (recipe.elements.size() < 2 || !is_floating_point(recipe.dtype)) return;
    const Range range = range_of(recipe);
    if (range.is_real) recipe.elements = spread(range.low, range.high, 61);  // no size of the plan is a multiple
  });
}

std::vector<Value> with_many_elements(std::vector<Value> values) {
  constexpr int kCount = 509;
  return with_tensors(std::move(values), [](TensorRecipe& recipe) {
    recipe.sizes = {kCount};
    recipe.strides.clear();
    recipe.offset = 0;
    recipe.sharing = Sharing::None;
    recipe.requires_grad = false;
    if (is_integral(recipe.dtype, false)) recipe.dtype = ScalarType::Float;  // what functions compute integers in
    if (is_floating_point(recipe.dtype)) recipe.elements = spread(-3, 3, kCount);
  });
}

}  // namespace keyway::inline v1::tools
