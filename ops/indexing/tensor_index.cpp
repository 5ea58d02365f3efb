#include <keyway/core/base/error.h>
#include <keyway/ops/indexing/tensor_index.h>

namespace keyway::inline v1::indexing {

Slice::Slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::optional<std::int64_t> step)
    : start_(start.value_or(0)),
      stop_(stop.value_or(std::numeric_limits<std::int64_t>::max())),
      step_(step.value_or(1)) {
  KEYWAY_CHECK(step_ > 0, "the step of a slice must be greater than zero, not {}; flip() reverses a tensor", step_);
}

TensorIndex::TensorIndex(const char* ellipsis) : kind_(Kind::Dots) {
  KEYWAY_CHECK(ellipsis != nullptr && std::string_view(ellipsis) == "...",
               "a text that is an index must be '...', not '{}'", ellipsis == nullptr ? "" : ellipsis);
}

}  // namespace keyway::inline v1::indexing
