// WrapperKind: how an entry is wrapped, which follows from its recipe, its tags and its results.
#pragma once

#include <keyway/codegen/model/model.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// The families of templates in assembly/wrappers.h.
enum class WrapperKind : std::uint8_t {
  Computed,   // guard, rule, outputs, kernel
  Mutating,   // the kernel writes to arguments, and there are no other results
  Returning,  // the kernel returns its results: tags `allocates`, `scalar_result`
  View,       // a geometry of ops/rules
  Composite,  // a function of ops/composite
};
WrapperKind wrapper_kind(const Op& op);

bool has_tag(const Op& op, std::string_view tag);

// How many tensors guard and rule plan: the results that alias no argument. None where the kernel returns them.
std::size_t planned_results(const Op& op);

}  // namespace keyway::inline v1
