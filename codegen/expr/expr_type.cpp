#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_type.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string_view name_of(ExprBase base) {
  constexpr std::string_view kNames[] = {
      "unknown",       "None",   "bool",         "int",    "float",     "Scalar",       "str",    "dtype",
      "set of dtypes", "Layout", "MemoryFormat", "Device", "Generator", "opaque value", "Tensor", "tuple"};
  return kNames[static_cast<int>(base)];
}

bool is_dtype(ExprBase base) { return base == ExprBase::DType || base == ExprBase::DTypeSet; }

std::optional<ExprBase> common_base(const ExprType& a, const ExprType& b) {
  if (a.base == b.base) return a.base;
  if (a.base == ExprBase::Unknown) return b.base;
  if (b.base == ExprBase::Unknown) return a.base;
  if (a.is_number() && b.is_number()) return std::max(a.base, b.base);
  if (is_dtype(a.base) && is_dtype(b.base)) return ExprBase::DTypeSet;
  const auto [low, high] = std::minmax(a.base, b.base);
  if (low == ExprBase::Bool && high == ExprBase::Scalar) return ExprBase::Scalar;
  return std::nullopt;
}

}  // namespace

ExprType ExprType::list() const {
  ExprType list = *this;
  ++list.depth;
  list.optional_items = optional || optional_items;
  list.optional = false;
  return list;
}

ExprType ExprType::item() const {
  ExprType item = *this;
  --item.depth;
  item.optional = optional_items;
  item.optional_items = optional_items && item.depth > 0;
  return item;
}

ExprType ExprType::required() const {
  ExprType type = *this;
  type.optional = false;
  return type;
}

ExprType ExprType::maybe() const {
  ExprType type = *this;
  type.optional = type.base != ExprBase::Unknown || type.depth > 0;
  return type;
}

std::string to_string(const ExprType& type) {
  std::string out(name_of(type.base));
  if (type.base == ExprBase::Tuple)
    out = fmt::format("({})", joined(texts_of(type.parts, [](const ExprType& part) { return to_string(part); })));
  if (type.optional_items) out += "?";
  for (int i = 0; i < type.depth; ++i) out += "[]";
  return type.optional ? out + "?" : out;
}

std::optional<ExprType> common_type(const ExprType& a, const ExprType& b) {
  if (a.is(ExprBase::None)) return b.is(ExprBase::None) ? b : b.maybe();
  if (b.is(ExprBase::None)) return a.maybe();
  if (a.is(ExprBase::Unknown) || b.is(ExprBase::Unknown)) return ExprType{};
  const auto base = common_base(a, b);
  if (!base || a.depth != b.depth || a.parts != b.parts) return std::nullopt;
  return ExprType{*base, a.depth, a.optional || b.optional, a.optional_items || b.optional_items, a.parts};
}

bool comparable(const ExprType& a, const ExprType& b) {
  const bool same = a.base == b.base && a.base != ExprBase::Tuple && a.base != ExprBase::Other;
  return same || (a.is_number() && b.is_number()) || a.base == ExprBase::Unknown || b.base == ExprBase::Unknown;
}

}  // namespace keyway::inline v1
