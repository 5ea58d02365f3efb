#include <keyway/core/base/error.h>
#include <keyway/forward/dual.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/forward/views.h>
#include <keyway/ops/view.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <algorithm>
#include <memory>
#include <nanobind/stl/vector.h>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// What this thread has entered, the innermost last.
thread_local std::vector<std::unique_ptr<DualLevel>> dual_levels;

std::uint64_t enter_level() {
  dual_levels.push_back(std::make_unique<DualLevel>());
  return dual_levels.back()->id();
}

std::uint64_t innermost_level_id() {
  const DualLevel* level = DualLevel::innermost();
  return level == nullptr ? 0 : level->id();
}

void leave_level(std::uint64_t id) {
  KEYWAY_CHECK(!dual_levels.empty(), "forward mode: there is no level to leave");
  KEYWAY_CHECK(dual_levels.back()->id() == id,
               "forward mode: levels are left in the order opposite to that in which they were entered: the innermost "
               "is {}, not {}",
               dual_levels.back()->id(), id);
  dual_levels.pop_back();
}

forward::LevelPtr level_named(std::uint64_t id) {
  for (const DualLevel* level = DualLevel::innermost(); level != nullptr; level = level->outer())
    if (level->id() == id) return level->shared();
  KEYWAY_FAIL(Value, "forward mode: this thread is in no level {}", id);
}

nb::tuple unpack(const Tensor& tensor, std::uint64_t id) {
  const UnpackedDual parts = forward::unpack_dual_at(tensor, *level_named(id));
  return nb::make_tuple(to_object(parts.primal), to_object(parts.tangent));
}

// The number of the innermost level that one of the tensors has a tangent at; 0 if none has.
std::uint64_t level_of(const std::vector<Tensor>& tensors) {
  std::uint64_t innermost = 0;
  for (const Tensor& tensor : tensors) {
    const TensorBase live = forward::unwrap_if_ended(tensor);
    const forward::DualValue* dual = forward::dual_value(live);
    if (dual != nullptr) innermost = std::max(innermost, dual->level()->id());
  }
  return innermost;
}

// Of whichever thread's level; a tensor without a tangent there is its own primal.
nb::tuple parts_of(const Tensor& tensor, std::uint64_t id) {
  const TensorBase live = forward::unwrap_if_ended(tensor);
  const forward::DualValue* dual = forward::dual_value(live);
  if (dual == nullptr || dual->level()->id() != id) return nb::make_tuple(to_object(live), nb::none());
  return nb::make_tuple(to_object(dual->primal()), to_object(dual->tangent()));
}

// A tensor with a tangent at the level of `like`.
Tensor dual_like(const Tensor& tensor, const Tensor& tangent, const Tensor& like) {
  const TensorBase live = forward::unwrap_if_ended(like);
  const forward::DualValue* dual = forward::dual_value(live);
  KEYWAY_CHECK_AS(Internal, dual != nullptr, "forward mode: the tensor to follow has no tangent");
  return forward::make_dual_at(tensor, tangent, dual->level());
}

}  // namespace

void add_forward(nb::module_& module) {
  module.def("enter", enter_level, "Enters a level, and gives its number.");
  module.def("leave", leave_level, nb::arg("level"), "Leaves it, which must be the innermost.");
  module.def("level", innermost_level_id, "The number of the innermost level; 0 outside of all.");
  module.def(
      "make_dual",
      [](const Tensor& tensor, const Tensor& tangent, std::uint64_t level) {
        const forward::NoViewTrackingGuard no_tracking;
        return forward::make_dual_at(keyway::alias(tensor), tangent, level_named(level));
      },
      nb::arg("tensor"), nb::arg("tangent"), nb::arg("level"), "The tensor with a tangent at a level.");
  module.def("unpack_dual", unpack, nb::arg("tensor"), nb::arg("level"), "Primal and tangent at a level.");
  module.def(
      "is_dual", [](const Tensor& tensor) { return level_of({tensor}) != 0; }, nb::arg("tensor"),
      "Whether it has a tangent at a level that has not ended.");
  module.def("level_of", level_of, nb::arg("tensors"), "The number of the innermost level that one has a tangent at.");
  module.def("parts", parts_of, nb::arg("tensor"), nb::arg("level"), "Primal and tangent, or None, at any level.");
  module.def("dual_like", dual_like, nb::arg("tensor"), nb::arg("tangent"), nb::arg("like"),
             "A tensor with a tangent at the level of another one.");
  module.def("as_leaf", forward::as_grad_input, nb::arg("tensor"),
             "A leaf with the tensor's values and tangents, or a view of it, if its history is to go on.");
  module.def("as_recorded_input", forward::as_recorded_input, nb::arg("tensor"), nb::arg("keeps"),
             "An input to differentiate one call by.");
  module.def("without_history", forward::without_history, nb::arg("tensor"),
             "The tensor, its tangents too, without history.");
}

}  // namespace keyway::inline v1::python
