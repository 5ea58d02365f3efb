// How a parsed schema lies in memory: offsets into its text, so that tables are small, need no relocation,
// and can be constants. Users see them through FunctionSchema, Argument and SchemaType.
#pragma once

#include <keyway/core/schema/type_kind.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// Limits of the language as Keyway reads it. Longer text is an error with its column, never an overflow.
inline constexpr std::size_t kMaxSchemaText = 65535;
inline constexpr std::size_t kMaxSchemaArguments = 64;
inline constexpr std::size_t kMaxSchemaReturns = 64;
inline constexpr std::size_t kMaxSchemaTypeNodes = 255;
inline constexpr std::size_t kMaxSchemaNesting = 16;
inline constexpr std::size_t kMaxAliasSet = 16;

namespace detail {

struct TextSpan {
  std::uint16_t begin = 0;
  std::uint16_t size = 0;

  constexpr std::string_view of(const char* text) const { return {text + begin, size}; }
  constexpr bool empty() const { return size == 0; }
};

inline constexpr std::uint8_t kNoNode = 255;

// One node of the type trees; children stand before their parents.
struct TypeNode {
  TypeKind kind = TypeKind::None;
  bool has_alias = false;
  std::uint8_t child = kNoNode;  // the first part of a type that is made of others
  std::uint8_t next = kNoNode;   // the next part of the type that this one is a part of
  TextSpan name;                 // of a type that is one name; the N of T[N]
  TextSpan alias;                // between the parentheses of an annotation; `!` alone is a fresh one
};

struct ArgumentSlot {
  TextSpan name;  // empty in an unnamed return
  TextSpan default_text;
  std::uint8_t type = kNoNode;
  bool kwarg_only = false;
};

struct SchemaHeader {
  TextSpan ns;
  TextSpan name;
  TextSpan overload;
  std::uint8_t arguments = 0;
  std::uint8_t positional = 0;  // arguments before the `*`
  std::uint8_t returns = 0;
  std::uint8_t nodes = 0;
  bool vararg = false;
  bool varret = false;
};

// The arguments' slots come first, the returns' after them.
template <std::size_t Slots, std::size_t Nodes>
struct SchemaTables {
  SchemaHeader header;
  ArgumentSlot slots[Slots == 0 ? 1 : Slots];
  TypeNode nodes[Nodes == 0 ? 1 : Nodes];
};

using LargestSchemaTables = SchemaTables<kMaxSchemaArguments + kMaxSchemaReturns, kMaxSchemaTypeNodes>;

}  // namespace detail
}  // namespace keyway::inline v1
