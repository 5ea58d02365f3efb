#include <keyway/core/base/hash.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/moderate_numbers.h>
#include <keyway/tools/keyway/fuzz/boundary_values.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>
#include <keyway/tools/keyway/fuzz/tensor_mutations.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

using Values = std::vector<Value>;
using Sizes = std::vector<std::int64_t>;

template <typename Item>
const Item& one_of(const std::vector<Item>& items, Random& random) {
  return items[random.below(items.size())];
}

template <typename F>
void each_tensor(Values& values, F f) {
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      if (recipe.defined) f(recipe);
    }
  }
}

void change_sizes(Values& values, Random& random) {
  // Shapes that broadcast to each other.
  static const std::vector<std::vector<Sizes>> kBroadcast = {
      {{3, 1}, {1, 4}, {4}},
      {{}, {2, 3}, {3}},
      {{2, 3}, {}, {1}},
      {{1}, {3, 2}, {1, 2}},
      {{2, 3}, {1, 1}, {2, 1}},
      {{2, 1, 2}, {3, 1}, {}},
      {{4, 5}, {5}, {4, 1}},
      {{17}, {1}, {}},
      {{1, 2, 1, 3, 2}, {2}, {1, 2, 1, 3, 1}},
      {{2, 2, 1, 3, 2}, {2, 2, 1, 3, 2}, {2, 2, 1, 3, 2}},
  };
  switch (random.below(8)) {
    case 0: return;
    case 1:
    case 2: return rename_sizes(values, random);
    case 3:
    case 4: return same_shape(values, random);
    case 5: {  // one size is none
      std::int64_t gone = -1;
      each_tensor(values, [&](const TensorRecipe& recipe) {
        if (!recipe.sizes.empty() && (gone < 0 || random.percent(30))) gone = one_of(recipe.sizes, random);
      });
      each_tensor(values, [&](TensorRecipe& recipe) {
        std::replace(recipe.sizes.begin(), recipe.sizes.end(), gone, std::int64_t{0});
      });
      return;
    }
    default: {
      const std::vector<Sizes>& shapes = one_of(kBroadcast, random);
      std::size_t i = random.below(shapes.size());
      each_tensor(values, [&](TensorRecipe& recipe) { recipe.sizes = shapes[i++ % shapes.size()]; });
    }
  }
}

// Tensors for results of the sizes of the first tensor, which many results have: so that their strides count.
void give_results_sizes(const FunctionSchema& schema, Values& values) {
  const Sizes* first = nullptr;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (TensorRecipe& recipe : values[i].tensors) {
      if (first == nullptr) first = &recipe.sizes;
      if (schema.arguments()[i].is_out()) recipe.sizes = *first;
    }
  }
}

// Of a pointwise operator integers are numbers, and of others as often as not indices.
void change_dtypes(Values& values, bool is_pointwise, Random& random) {
  static const std::vector<ScalarType> kFloats = {kFloat, kFloat, kFloat, kHalf, kBFloat16, kDouble, kComplexFloat};
  static const std::vector<ScalarType> kAll = {kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble,
                                               kBool, kByte,     kChar,  kShort,  kInt,          kLong};
  if (random.percent(25)) return;
  std::vector<ScalarType> there;
  each_tensor(values, [&](const TensorRecipe& recipe) { there.push_back(recipe.dtype); });
  if (there.empty()) return;
  const ScalarType from = one_of(there, random);
  const std::size_t floats = is_pointwise ? 80 : is_integral(from, true) ? 50 : 70;
  const ScalarType to = one_of(random.percent(floats) ? kFloats : kAll, random);
  // Those that have one dtype need not belong together: an index is one of integers, too.
  const std::size_t part = random.percent(is_pointwise ? 80 : 50) ? 100 : 50;
  each_tensor(values, [&](TensorRecipe& recipe) {
    if (recipe.dtype == from && random.percent(part)) recipe.dtype = to;
  });
}

// Numbers that all differ, between two.
std::vector<Scalar> spread(double low, double high) {
  constexpr int kCount = 61;  // which no usual size is a multiple of
  std::vector<Scalar> numbers;
  for (int i = 0; i < kCount; ++i) numbers.emplace_back(low + (high - low) * (i * 23 % kCount) / kCount);
  return numbers;
}
std::vector<Scalar> integers(std::initializer_list<std::int64_t> list) { return {list.begin(), list.end()}; }

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// Where many are added up, sums of numbers that are near the greatest overflow in one order and not in another.
constexpr double kGreat = 3e38, kGreatTerm = 3e18;

std::vector<Scalar> special_numbers(std::size_t count, double great, Random& random) {
  const std::vector<double> special = {kNaN, kNaN, kInf, -kInf, -0.0, 0.0, 1e-40, -1e-40, great, 100, -100, 0.5, 1};
  std::vector<Scalar> numbers;
  while (numbers.size() < count) numbers.emplace_back(one_of(special, random));
  return numbers;
}

// What the tensors of a call have in common, if they do: NaN is to meet NaN.
struct Pattern {
  static constexpr std::size_t kCount = 11;
  std::size_t number;
  double great;
  std::vector<Scalar> special;
};

void change_elements(TensorRecipe& recipe, const Pattern& pattern, Random& random) {
  if (recipe.dtype == kByte && random.percent(50)) {
    recipe.elements = integers({255, 128, 7, 200, 129, 64, 254});
    return;
  }
  if (is_integral(recipe.dtype, true)) {
    // As often as not they are indices.
    switch (random.below(6)) {
      case 0: recipe.elements = integers({-7, 5, -3, 0, 2, 6, -1, 4, -5, 3}); return;
      case 1:
        recipe.elements = integers({255, 128, 200, 2147483647, -2147483648, 9007199254740993, -9007199254740993, 1});
        return;
      case 2: recipe.elements = integers({2, 1, 2, 2, 1}); return;
      default: return;
    }
  }
  double low = kInf, high = -kInf;
  for (const Scalar& element : recipe.elements) {
    if (element.is_complex()) return;
    low = std::min(low, element.to<double>());
    high = std::max(high, element.to<double>());
  }
  switch (pattern.number) {
    case 0: recipe.elements = spread(-3, 3); return;
    case 1: recipe.elements = spread(0.05, 0.95); return;
    case 2: recipe.elements = special_numbers(1, pattern.great, random); return;
    case 3: recipe.elements = special_numbers(7, pattern.great, random); return;
    case 8:
    case 9:
    case 10: recipe.elements = pattern.special; return;
    case 4: recipe.elements = {Scalar(2.0), Scalar(1.0), Scalar(2.0), Scalar(2.0), Scalar(-1.0)}; return;
    case 5: return;
    default:
      if (std::isfinite(low) && low < high) recipe.elements = spread(low, high);
  }
}

void change_layout(TensorRecipe& recipe, Random& random) {
  const std::size_t rank = recipe.sizes.size();
  recipe.offset = random.percent(40) ? static_cast<std::int64_t>(1 + random.below(13)) : 0;
  const DimVector row = contiguous_strides(recipe.sizes);
  recipe.strides.assign(row.begin(), row.end());
  if (rank == 0) return;
  switch (random.below(4)) {
    case 0: return;
    case 1: {  // as a transposed tensor lies
      std::int64_t stride = 1;
      for (std::size_t d = 0; d < rank; ++d) {
        recipe.strides[d] = stride;
        stride *= std::max<std::int64_t>(recipe.sizes[d], 1);
      }
      return;
    }
    case 2: {  // with gaps
      const std::size_t d = random.below(rank);
      for (std::size_t i = 0; i <= d; ++i) recipe.strides[i] = 2 * recipe.strides[i] + 1;
      return;
    }
    default: recipe.strides[random.below(rank)] = 0;  // expanded
  }
}

}  // namespace

ConformPlan::ConformPlan(const OperatorHandle& op, std::uint64_t seed, std::vector<Value> example, bool is_modest)
    : op_(op),
      seed_(seed ^ fnv1a(op.name())),
      boundary_calls_(op, seed, example),
      example_(std::move(example)),
      is_modest_(is_modest) {
  for (std::size_t i = 0; i < example_.size(); ++i) {
    const bool is_plain = example_[i].kind == Value::Kind::Plain && !example_[i].plain.is(ValueTag::Generator);
    plain_values_.push_back(is_plain ? boundary_values(op.schema().arguments()[i].type(), example_[i]) : Values());
    if (!plain_values_.back().empty()) plain_.push_back(i);
  }
}

void ConformPlan::change_plain_arguments(std::vector<Value>& values, Random& random) const {
  for (const std::size_t argument : plain_) {
    IValue& plain = values[argument].plain;
    if (plain.is(ValueTag::Bool) && random.percent(30)) plain = IValue(!plain.to_bool());
    if (!plain.is(ValueTag::IntList) || !random.percent(15)) continue;
    Sizes small(plain.to_int_list().size());
    for (std::int64_t& each : small) each = static_cast<std::int64_t>(random.below(3));
    plain = IValue(std::move(small));
  }
  if (plain_.empty() || random.percent(40)) return;
  for (std::size_t changes = 1 + random.below(3); changes > 0; --changes) {
    const std::size_t argument = one_of(plain_, random);
    values[argument] = one_of(plain_values_[argument], random);
  }
}

std::vector<Value> ConformPlan::composed(Random random) const {
  Values values = example_;
  change_sizes(values, random);
  if (op_.schema().is_out() && random.percent(30)) give_results_sizes(op_.schema(), values);
  change_dtypes(values, op_.entry().has_tag("pointwise"), random);
  const double great = op_.entry().has_tag("pointwise") ? kGreat : kGreatTerm;
  const auto draw_pattern = [&] {
    return Pattern{random.below(Pattern::kCount), great, special_numbers(7, great, random)};
  };
  const Pattern pattern = draw_pattern();
  const bool changes_elements = random.percent(70), changes_layouts = random.percent(50);
  each_tensor(values, [&](TensorRecipe& recipe) {
    if (changes_elements) change_elements(recipe, random.percent(75) ? pattern : draw_pattern(), random);
    if (changes_layouts && random.percent(70)) change_layout(recipe, random);
    recipe.requires_grad = random.percent(15);
  });
  change_plain_arguments(values, random);
  return values;
}

std::vector<Value> ConformPlan::call(std::size_t index) const {
  Values values = any_call(index);
  if (is_modest_) make_modest(values);
  return values;
}

void ConformPlan::make_modest(Values& values) const {
  make_integers_small(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SchemaType type = op_.schema().arguments()[i].type();
    Value& value = values[i];
    if (type.is(TypeKind::Tensor)) {
      const bool is_tensor = value.kind == Value::Kind::Tensor;
      if (is_tensor ? !value.tensors[0].defined : value.plain.is_none()) value = example_[i];
    } else if (value.kind == Value::Kind::Tensors && !type.element().is(TypeKind::Optional)) {
      std::erase_if(value.tensors, [](const TensorRecipe& recipe) { return !recipe.defined; });
    }
  }
}

std::vector<Value> ConformPlan::any_call(std::size_t index) const {
  if (index == 0) return example_;
  if (index % 3 == 0) return boundary_calls_.call(index / 3);
  return composed(Random(seed_ + 0x9e3779b97f4a7c15u * (index + 1)));
}

std::string ConformPlan::text(std::size_t index) const {
  return to_text(op_.entry().short_name(), argument_names(op_), call(index));
}

}  // namespace keyway::inline v1::tools
