#include <keyway/core/random/generator.h>
#include <keyway/tools/keyway/fuzz/boundary_values.h>

#include <limits>
#include <optional>
#include <string>

namespace keyway::inline v1::tools {

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

using Values = std::vector<IValue>;

void add_integers(Values& values) {
  for (const std::int64_t i : boundary_integers()) values.emplace_back(i);
}

void add_scalars(Values& values) {
  add_integers(values);
  for (const double d : boundary_floats()) values.emplace_back(d);
  values.emplace_back(true);
  values.emplace_back(false);
  values.emplace_back(complex<double>(1, -2));
  values.emplace_back(Scalar(std::numeric_limits<std::uint64_t>::max()));
}

void add_strings(Values& values) {
  for (const char* text : {"", "sum", "mean", "none", "prod", "amax", "floor", "trunc", "tanh", "\xff\xfe"}) {
    values.emplace_back(text);
  }
  values.emplace_back(std::string("a\0b", 3));
  values.emplace_back(std::string(64 << 10, 'x'));
}

// A list with one element or all of them changed, and lists of other lengths.
template <typename T>
void add_lists(Values& values, const std::vector<T>& seed, const std::vector<T>& boundary) {
  using List = std::vector<T>;
  values.emplace_back(List());
  for (const T& element : boundary) {
    values.emplace_back(List{element});
    for (std::size_t i = 0; i < seed.size(); ++i) {
      List list = seed;
      list[i] = element;
      values.emplace_back(std::move(list));
    }
    values.emplace_back(List(std::max<std::size_t>(seed.size(), 2), element));
  }
  for (const T& more : {T(boundary[0]), T(seed.empty() ? boundary[1] : seed[0])}) {
    List list = seed;
    list.push_back(more);
    values.emplace_back(std::move(list));
  }
  if (!seed.empty()) values.emplace_back(List(seed.begin() + 1, seed.end()));
  for (const std::size_t length : {3u, 64u, 65u, 300u})
    values.emplace_back(List(length, seed.empty() ? boundary[0] : seed[0]));
}

// The list that the seed is, or an empty one.
template <typename T>
std::vector<T> list_in(const IValue& seed, ValueTag tag) {
  if (!seed.is(tag)) return {};
  const ArrayRef<T> list = seed.to_list_of<T>();
  return std::vector<T>(list.begin(), list.end());
}

bool is_int(SchemaType type) { return type.is(TypeKind::Int) || type.is(TypeKind::SymInt); }

void add_string_lists(Values& values) {
  using Texts = std::vector<std::string>;
  for (Texts texts : {Texts(), Texts{""}, Texts{"sum"}, Texts{"sum", "none", "sum"}, Texts{"\xff\xfe", "a"},
                      Texts{std::string("a\0b", 3)}, Texts(300, "x"), Texts{std::string(64 << 10, 'x')}}) {
    values.emplace_back(std::move(texts));
  }
}

void add_dtype_lists(Values& values) {
  using DTypes = std::vector<ScalarType>;
  values.emplace_back(DTypes());
  values.emplace_back(DTypes(300, ScalarType::Float));
  for (int i = -1; i <= static_cast<int>(ScalarType::Undefined) + 1; ++i) {
    values.emplace_back(DTypes{static_cast<ScalarType>(i)});
    values.emplace_back(DTypes{ScalarType::Float, static_cast<ScalarType>(i)});
  }
}

void add_optional_int_lists(Values& values) {
  using Maybe = std::optional<std::int64_t>;
  std::vector<Maybe> boundary = {std::nullopt};
  for (const std::int64_t i : boundary_integers()) boundary.emplace_back(i);
  add_lists<Maybe>(values, {1, std::nullopt}, boundary);
}

void add_int_lists(Values& values) {
  using Ints = std::vector<std::int64_t>;
  using Lists = std::vector<Ints>;
  for (Lists lists : {Lists(), Lists{{}}, Lists{{1}, {}}, Lists{{}, {1, 2}}, Lists{{1, 2}, {3}, {4, 5, 6}},
                      Lists(300, {1}), Lists(65), Lists{Ints(300, 2)}}) {
    values.emplace_back(std::move(lists));
  }
  for (const std::int64_t i : boundary_integers()) {
    values.emplace_back(Lists{{i}});
    values.emplace_back(Lists{{1, 1}, {1, i}});
  }
}

void add_list(Values& values, SchemaType element, const IValue& seed) {
  const bool nested = element.is(TypeKind::Optional) || element.is(TypeKind::List);
  if (nested && is_int(element.element()))
    return element.is(TypeKind::List) ? add_int_lists(values) : add_optional_int_lists(values);
  switch (element.kind()) {
    case TypeKind::Str: add_string_lists(values); break;
    case TypeKind::ScalarType: add_dtype_lists(values); break;
    case TypeKind::Bool: add_lists<bool>(values, list_in<bool>(seed, ValueTag::BoolList), {true, false}); break;
    case TypeKind::Float: add_lists(values, list_in<double>(seed, ValueTag::DoubleList), boundary_floats()); break;
    case TypeKind::Scalar:
      for (const std::size_t length : {0u, 1u, 2u, 65u}) values.emplace_back(std::vector<Scalar>(length, Scalar(kMax)));
      break;
    default: add_lists(values, list_in<std::int64_t>(seed, ValueTag::IntList), boundary_integers());
  }
}

// Enumerations: those that are, and the first number that is none.
template <typename Enum>
void add_enumerators(Values& values, int count) {
  for (int i = 0; i <= count; ++i) values.emplace_back(static_cast<Enum>(i));
  values.emplace_back(static_cast<Enum>(-1));
  values.emplace_back(static_cast<Enum>(127));
}

void add_kind(Values& values, SchemaType type, const IValue& seed) {
  switch (type.kind()) {
    case TypeKind::Optional: add_kind(values, type.element(), seed); break;
    case TypeKind::List: add_list(values, type.element(), seed); break;
    case TypeKind::Int:
    case TypeKind::SymInt: add_integers(values); break;
    case TypeKind::Float:
    case TypeKind::SymFloat:
      for (const double d : boundary_floats()) values.emplace_back(d);
      break;
    case TypeKind::Bool:
      values.emplace_back(true);
      values.emplace_back(false);
      break;
    case TypeKind::Scalar: add_scalars(values); break;
    case TypeKind::Str: add_strings(values); break;
    case TypeKind::ScalarType: add_enumerators<ScalarType>(values, static_cast<int>(ScalarType::Undefined)); break;
    case TypeKind::Layout: add_enumerators<Layout>(values, 8); break;
    case TypeKind::MemoryFormat: add_enumerators<MemoryFormat>(values, 4); break;
    case TypeKind::Device:
      for (const DeviceType device : {DeviceType::CPU, DeviceType::CUDA, DeviceType::Meta}) {
        values.emplace_back(Device(device));
        values.emplace_back(Device(device, 3));
      }
      values.emplace_back(Device(static_cast<DeviceType>(kNumDeviceTypes - 1)));
      break;
    case TypeKind::Generator:
      values.emplace_back(Generator(DeviceType::CPU));
      values.emplace_back(Generator(DeviceType::Meta));
      values.emplace_back(Generator(nullptr));
      break;
    default: break;
  }
}

}  // namespace

const std::vector<std::int64_t>& boundary_integers() {
  static const std::vector<std::int64_t> values = {kMin,
                                                   kMin + 1,
                                                   -kTwo31 - 1,
                                                   -3,
                                                   -2,
                                                   -1,
                                                   0,
                                                   1,
                                                   2,
                                                   3,
                                                   7,
                                                   64,
                                                   kTwo31 - 1,
                                                   kTwo31,
                                                   2 * kTwo31,
                                                   2 * kTwo31 + 1,
                                                   std::int64_t{1} << 62,
                                                   8170450533120000000,
                                                   kMax - 10000,
                                                   kMax};
  return values;
}

const std::vector<double>& boundary_floats() {
  static const std::vector<double> values = {0.0,
                                             -0.0,
                                             std::numeric_limits<double>::denorm_min(),
                                             0.5,
                                             1,
                                             -1,
                                             1e38,
                                             -1e38,
                                             1e308,
                                             9223372036854775808.0,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN()};
  return values;
}

std::vector<Value> boundary_values(SchemaType type, const Value& seed) {
  Values boundary;
  add_kind(boundary, type, seed.plain);
  std::vector<Value> values;
  for (IValue& plain : boundary) values.push_back({.plain = std::move(plain)});
  add_wrong_tags(values);
  values.push_back({.kind = Value::Kind::Tensor, .tensors = {TensorRecipe()}});
  return values;
}

}  // namespace keyway::inline v1::tools
