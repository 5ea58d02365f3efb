#include <keyway/tools/keyway/conform/moderate_numbers.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

bool is_moderate(double x, double most) {
  const double size = std::abs(x);
  return size == 0 || !std::isfinite(x) || (size <= most && size >= 1 / most);
}

bool is_moderate(const IValue& plain, double most) {
  if (plain.is(ValueTag::Double)) return std::isfinite(plain.to_double()) && is_moderate(plain.to_double(), most);
  if (plain.is(ValueTag::Int)) return is_moderate(static_cast<double>(plain.to_int()), most);
  return true;
}

}  // namespace

bool is_moderate(const std::vector<Value>& values, double most) {
  return std::all_of(values.begin(), values.end(), [&](const Value& value) {
    return is_moderate(value.plain, most) &&
           std::all_of(value.tensors.begin(), value.tensors.end(), [&](const TensorRecipe& recipe) {
             return std::all_of(recipe.elements.begin(), recipe.elements.end(), [&](const Scalar& element) {
               return element.is_complex() || is_moderate(element.to<double>(), most);
             });
           });
  });
}

void make_integers_small(std::vector<Value>& values) {
  constexpr std::int64_t kMost = 64;
  const auto is_small = [](std::int64_t x) { return x > -kMost && x < kMost; };
  for (Value& value : values) {
    IValue& plain = value.plain;
    if (plain.is(ValueTag::Int) && !is_small(plain.to_int())) plain = IValue(plain.to_int() % kMost);
    if (!plain.is(ValueTag::IntList)) continue;
    std::vector<std::int64_t> list = plain.to_int_list();
    for (std::int64_t& each : list) each = is_small(each) ? each : each % kMost;
    plain = IValue(std::move(list));
  }
}

}  // namespace keyway::inline v1::tools
