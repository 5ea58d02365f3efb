#include <keyway/tools/keyway/fuzz/boundary_values.h>
#include <keyway/tools/keyway/fuzz/tensor_mutations.h>

#include <algorithm>
#include <limits>
#include <map>

namespace keyway::inline v1::tools {

namespace {

// Tensors of more elements cost time and find nothing more.
constexpr std::int64_t kMaxElements = 4096;
// Sizes that loops of whole vectors, of halves and of rests meet.
constexpr std::int64_t kSizes[] = {0, 1, 2, 3, 7, 13, 17, 31, 33, 63, 65, 127, 129};

bool is_small(const TensorRecipe& recipe) {
  std::int64_t count = 1;
  for (const std::int64_t size : recipe.sizes)
    count = count > kMaxElements ? count : count * std::max<std::int64_t>(size, 1);
  return count <= kMaxElements && recipe.sizes.size() <= 64;
}

void add_shapes(const TensorRecipe& seed, std::vector<TensorRecipe>& out) {
  const auto add = [&](std::vector<std::int64_t> sizes) {
    TensorRecipe recipe = seed;
    recipe.sizes = std::move(sizes);
    recipe.strides.clear();
    if (is_small(recipe)) out.push_back(std::move(recipe));
  };
  const std::vector<std::int64_t>& sizes = seed.sizes;
  for (const std::int64_t size : {1, 2}) {
    std::vector<std::int64_t> longer = sizes;
    longer.insert(longer.begin(), size);
    add(longer);
    longer = sizes;
    longer.push_back(size);
    add(longer);
  }
  if (!sizes.empty()) {
    add(std::vector<std::int64_t>(sizes.begin() + 1, sizes.end()));
    add(std::vector<std::int64_t>(sizes.begin(), sizes.end() - 1));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, sizes[i] - 1, sizes[i] + 1, 2 * sizes[i]}) {
      std::vector<std::int64_t> changed = sizes;
      changed[i] = std::max<std::int64_t>(size, 0);
      add(changed);
    }
  }
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {}, {0}, {1}, {7}, {2, 3}, {3, 0, 5}, {65, 1}, {129}, {1, 2, 3, 4}, {2, 1, 3, 3, 2}, {2, 2, 1, 3, 2, 2}}) {
    add(shape);
  }
  add(std::vector<std::int64_t>(64, 1));
}

void add_dtypes(const TensorRecipe& seed, std::vector<TensorRecipe>& out) {
  for (int dtype = 0; dtype < static_cast<int>(kNumScalarTypes); ++dtype) {
    TensorRecipe recipe = seed;
    recipe.dtype = static_cast<ScalarType>(dtype);
    if (recipe.dtype != seed.dtype) out.push_back(std::move(recipe));
  }
}

void add_layouts(const TensorRecipe& seed, std::vector<TensorRecipe>& out) {
  const DimVector row = contiguous_strides(seed.sizes);
  const auto add = [&](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, std::int64_t offset) {
    TensorRecipe recipe = seed;
    recipe.sizes = std::move(sizes);
    recipe.strides = std::move(strides);
    recipe.offset = offset;
    out.push_back(std::move(recipe));
  };
  const std::vector<std::int64_t> strides(row.begin(), row.end());
  add(seed.sizes, strides, 1);
  add(seed.sizes, strides, 13);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::vector<std::int64_t> changed = strides;
    changed[i] = 0;  // expanded
    add(seed.sizes, changed, 0);
    changed[i] = 2 * strides[i] + 1;  // with gaps
    add(seed.sizes, changed, 1);
  }
  add(seed.sizes, std::vector<std::int64_t>(strides.size(), 0), 0);
  add(seed.sizes, std::vector<std::int64_t>(strides.size(), 1), 0);  // overlapping
  if (strides.size() < 2) return;
  std::vector<std::int64_t> sizes = seed.sizes;
  std::vector<std::int64_t> swapped = strides;
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  add(sizes, swapped, 0);  // transposed
  // The same sizes, in memory as a transposed tensor lies.
  std::vector<std::int64_t> columns(strides.size(), 1);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    columns[i] = columns[i - 1] * std::max<std::int64_t>(seed.sizes[i - 1], 1);
  }
  add(seed.sizes, columns, 0);
}

// The first dimension's size among the indices: the first number that is none.
void add_elements(const TensorRecipe& seed, std::vector<TensorRecipe>& out) {
  std::vector<Scalar> numbers = {0, 1, 2, -1, -2};
  for (const std::int64_t size : seed.sizes) numbers.emplace_back(size);
  for (const std::int64_t i : {std::int64_t{100}, -std::int64_t{100}, std::int64_t{1} << 31, std::int64_t{1} << 40}) {
    numbers.emplace_back(i);
  }
  numbers.emplace_back(std::numeric_limits<std::int64_t>::min());
  numbers.emplace_back(std::numeric_limits<std::int64_t>::max());
  for (const double d : boundary_floats()) numbers.emplace_back(d);
  for (const Scalar& number : numbers) {
    TensorRecipe recipe = seed;
    recipe.elements = {number};
    out.push_back(recipe);
    if (seed.elements.size() < 2) continue;
    recipe.elements = seed.elements;
    recipe.elements.back() = number;
    out.push_back(std::move(recipe));
  }
}

std::vector<std::int64_t> random_shape(Random& random) {
  std::vector<std::int64_t> shape(random.below(7));
  std::int64_t count = 1;
  for (std::int64_t& size : shape) {
    size = kSizes[random.below(std::size(kSizes))];
    if (count * size > kMaxElements) size = 2;
    count *= std::max<std::int64_t>(size, 1);
  }
  return shape;
}

template <typename F>
void each_tensor(std::vector<Value>& values, F f) {
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      if (recipe.defined) f(recipe);
    }
  }
}

// The integers of an argument that are a size become the size's new name.
void rename_integers(Value& value, const std::map<std::int64_t, std::int64_t>& names) {
  const auto name = [&](std::int64_t i) {
    const auto found = names.find(i);
    return found == names.end() || i < 2 ? i : found->second;
  };
  if (value.plain.is(ValueTag::Int)) {
    value.plain = IValue(name(value.plain.to_int()));
  } else if (value.plain.is(ValueTag::IntList)) {
    std::vector<std::int64_t> list = value.plain.to_int_list();
    for (std::int64_t& i : list) i = name(i);
    value.plain = IValue(std::move(list));
  }
}

}  // namespace

std::vector<TensorRecipe> tensor_mutations(const TensorRecipe& given) {
  TensorRecipe seed = given;
  if (!seed.defined) {
    seed.defined = true;  // of an optional argument: as one of ones
    seed.sizes = {2};
    seed.elements = {1};
  }
  std::vector<TensorRecipe> out = {seed};
  add_shapes(seed, out);
  add_layouts(seed, out);
  add_elements(seed, out);
  TensorRecipe recipe = seed;
  recipe.defined = false;
  out.push_back(recipe);
  recipe = seed;
  recipe.device = DeviceType::Meta;
  out.push_back(recipe);
  recipe = seed;
  recipe.requires_grad = true;
  out.push_back(recipe);
  for (const Sharing sharing : {Sharing::Same, Sharing::View, Sharing::Shifted}) {
    recipe = seed;
    recipe.sharing = sharing;
    out.push_back(recipe);
  }
  add_dtypes(seed, out);
  return out;
}

namespace {

// Lists of one tensor or of many, and the seed's with one tensor changed.
template <typename Add>
void add_lists(const std::vector<TensorRecipe>& seed, Add&& add) {
  add({});
  add(std::vector<TensorRecipe>(65, seed.empty() ? TensorRecipe() : seed[0]));
  for (std::size_t i = 0; i < seed.size(); ++i) {
    add({seed[i]});
    for (TensorRecipe& recipe : tensor_mutations(seed[i])) {
      std::vector<TensorRecipe> tensors = seed;
      tensors[i] = std::move(recipe);
      add(std::move(tensors));
    }
  }
}

}  // namespace

std::vector<Value> tensor_values(const Value& seed) {
  std::vector<Value> values;
  const auto add = [&](std::vector<TensorRecipe> tensors, std::vector<std::size_t> lengths = {}) {
    values.push_back({.kind = seed.kind, .tensors = std::move(tensors), .lengths = std::move(lengths)});
  };
  if (seed.kind == Value::Kind::TensorLists) {
    add({});
    add_lists(seed.tensors, [&](std::vector<TensorRecipe> tensors) {
      const std::size_t size = tensors.size();
      add(tensors, {size});
      add(tensors, {0, size, 0});
      add(std::move(tensors), std::vector<std::size_t>(size, 1));
    });
  } else if (seed.kind == Value::Kind::Tensors) {
    add_lists(seed.tensors, [&](std::vector<TensorRecipe> tensors) { add(std::move(tensors)); });
  } else {
    TensorRecipe one;
    one.defined = !seed.tensors.empty();
    if (one.defined) one = seed.tensors[0];
    for (TensorRecipe& recipe : tensor_mutations(one)) add({std::move(recipe)});
  }
  add_wrong_tags(values);
  values.push_back({.plain = IValue(std::vector<TensorBase>())});
  return values;
}

void rename_sizes(std::vector<Value>& values, Random& random) {
  std::map<std::int64_t, std::int64_t> names;
  each_tensor(values, [&](const TensorRecipe& recipe) {
    for (const std::int64_t size : recipe.sizes) names.emplace(size, kSizes[random.below(std::size(kSizes))]);
  });
  std::vector<Value> renamed = values;
  bool small = true;
  each_tensor(renamed, [&](TensorRecipe& recipe) {
    for (std::int64_t& size : recipe.sizes) size = names.at(size);
    small = small && is_small(recipe);
  });
  if (!small) return;
  if (random.percent(70)) {
    for (Value& value : renamed) rename_integers(value, names);
  }
  values = std::move(renamed);
}

void same_shape(std::vector<Value>& values, Random& random) {
  const std::vector<std::int64_t> shape = random_shape(random);
  each_tensor(values, [&](TensorRecipe& recipe) {
    recipe.sizes = shape;
    recipe.strides.clear();
    if (shape.empty() || random.percent(60)) return;
    std::int64_t& size = recipe.sizes[random.below(shape.size())];
    size = random.percent(80) || size == 0 ? 1 : size - 1;
  });
}

}  // namespace keyway::inline v1::tools
