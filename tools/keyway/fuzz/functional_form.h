// functional_form: of an overload that writes its result, the one that returns it.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <optional>

namespace keyway::inline v1::tools {

// Of add.out and add_.Tensor, add.Tensor: the overload of that name that writes to nothing and has the same arguments,
// but for those for results. Nothing if there is none.
std::optional<OperatorHandle> functional_form(const OperatorHandle& op);

}  // namespace keyway::inline v1::tools
