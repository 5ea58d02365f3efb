// Tensors that are made of numbers of C++ or Python, whose memory is written to directly.
#pragma once

#include <keyway/ops/copy.h>

#include <utility>

namespace keyway::inline v1::detail {

// Whether calls of this thread are recorded: a graph is captured (graph/capture.h).
inline bool is_recorded() {
  const DispatchKeySet keys = included_keys();
  return keys.has(Functionality::Functionalize) || keys.has(Functionality::Tracer);
}

// The tensor that `make` makes. Within a capture the calls by which it is made are not recorded, since what is written
// to its memory cannot be; the program gets a copy, which each run of the graph makes anew.
template <typename Make>
Tensor made_of_numbers(Make&& make) {
  if (!is_recorded()) [[likely]]
    return std::forward<Make>(make)();
  const auto unrecorded = [&] {
    const ExcludeDispatchKeyGuard guard(DispatchKeySet(Functionality::Functionalize) |
                                        DispatchKeySet(Functionality::Tracer));
    return std::forward<Make>(make)();
  };
  return unrecorded().clone();
}

}  // namespace keyway::inline v1::detail
