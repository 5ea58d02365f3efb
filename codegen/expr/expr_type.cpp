#include <keyway/codegen/expr/expr_type.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string_view name_of(ExprBase base) {
  switch (base) {
    case ExprBase::Unknown: return "unknown";
    case ExprBase::None: return "None";
    case ExprBase::Bool: return "bool";
    case ExprBase::Int: return "int";
    case ExprBase::Float: return "float";
    case ExprBase::Scalar: return "Scalar";
    case ExprBase::Str: return "str";
    case ExprBase::DType: return "dtype";
    case ExprBase::DTypeSet: return "set of dtypes";
    case ExprBase::Layout: return "Layout";
    case ExprBase::MemoryFormat: return "MemoryFormat";
    case ExprBase::Device: return "Device";
    case ExprBase::Generator: return "Generator";
    case ExprBase::Other: return "opaque value";
    case ExprBase::Tensor: return "Tensor";
    case ExprBase::Tuple: return "tuple";
  }
  return "unknown";
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
  if (type.base == ExprBase::Tuple) {
    out.clear();
    for (const ExprType& part : type.parts) out += (out.empty() ? "" : ", ") + to_string(part);
    out = fmt::format("({})", out);
  }
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
