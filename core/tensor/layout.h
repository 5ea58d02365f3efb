// Layout: how a tensor's elements are stored.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

// Numbers are PyTorch's (3, oneDNN's opaque layout, does not exist here).
enum class Layout : std::int8_t {
  Strided = 0,
  Sparse = 1,  // coordinates
  SparseCsr = 2,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7,
};
inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;
inline constexpr Layout kSparseCsr = Layout::SparseCsr;
inline constexpr Layout kSparseCsc = Layout::SparseCsc;
inline constexpr Layout kSparseBsr = Layout::SparseBsr;
inline constexpr Layout kSparseBsc = Layout::SparseBsc;
inline constexpr Layout kJagged = Layout::Jagged;

// Python's names: "strided", "sparse_coo", "sparse_csr", ...
KEYWAY_API std::string_view to_string(Layout layout);
// The layout of such a name, or of an enumerator's name; nullopt for other text.
KEYWAY_API std::optional<Layout> try_parse_layout(std::string_view name);

}  // namespace keyway::inline v1
