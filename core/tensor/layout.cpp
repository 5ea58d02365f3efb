#include <keyway/core/tensor/layout.h>

namespace keyway::inline v1 {
namespace {

struct NamedLayout {
  Layout layout;
  std::string_view python, enumerator;
};
constexpr NamedLayout kLayouts[] = {
    {Layout::Strided, "strided", "Strided"},        {Layout::Sparse, "sparse_coo", "Sparse"},
    {Layout::SparseCsr, "sparse_csr", "SparseCsr"}, {Layout::SparseCsc, "sparse_csc", "SparseCsc"},
    {Layout::SparseBsr, "sparse_bsr", "SparseBsr"}, {Layout::SparseBsc, "sparse_bsc", "SparseBsc"},
    {Layout::Jagged, "jagged", "Jagged"},
};

}  // namespace

std::string_view to_string(Layout layout) {
  for (const NamedLayout& entry : kLayouts) {
    if (entry.layout == layout) return entry.python;
  }
  return "invalid";
}

std::optional<Layout> try_parse_layout(std::string_view name) {
  for (const NamedLayout& entry : kLayouts) {
    if (name == entry.python || name == entry.enumerator) return entry.layout;
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1
