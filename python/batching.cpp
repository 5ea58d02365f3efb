#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/level_dims.h>
#include <keyway/batching/vmap.h>
#include <keyway/core/base/error.h>
#include <keyway/graph/capture.h>
#include <keyway/python/batching.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/wrapper_tensor.h>

#include <algorithm>
#include <memory>
#include <nanobind/stl/string.h>
#include <string>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// What this thread has entered, or left for a while, the last one last: one of both.
struct Frame {
  std::unique_ptr<Vmap> vmap;
  std::unique_ptr<batching::OutsideLevelGuard> outside;
};
thread_local std::vector<Frame> frames;

// In the order of Randomness.
constexpr const char* kRandomnessWords[] = {"error", "same", "different"};

Randomness randomness_of(const std::string& word) {
  const auto* const found = std::ranges::find(kRandomnessWords, word);
  KEYWAY_CHECK(found != std::end(kRandomnessWords), "vmap: randomness is 'error', 'same' or 'different', not '{}'",
               word);
  return static_cast<Randomness>(found - kRandomnessWords);
}

std::uint64_t enter(std::int64_t batch_size, const std::string& randomness) {
  frames.push_back({std::make_unique<Vmap>(batch_size, randomness_of(randomness)), nullptr});
  return batching::innermost_level()->id();
}

void leave() {
  KEYWAY_CHECK(!frames.empty() && frames.back().vmap, "vmap: there is none to leave");
  frames.pop_back();
}

void suspend() {
  frames.push_back({nullptr, std::make_unique<batching::OutsideLevelGuard>(batching::innermost_level())});
}

void resume() {
  KEYWAY_CHECK(!frames.empty() && frames.back().outside, "vmap: none is suspended");
  frames.pop_back();
}

const batching::VmapLevel& innermost() {
  const batching::VmapLevel* level = batching::innermost_level();
  KEYWAY_CHECK(level != nullptr, "vmap: calls are not made within one");
  return *level;
}

nb::tuple info() {
  return nb::make_tuple(innermost().batch_size(), kRandomnessWords[static_cast<int>(innermost().randomness())]);
}

std::uint64_t innermost_id() {
  const batching::VmapLevel* level = batching::innermost_level();
  return level == nullptr ? 0 : level->id();
}

// Of an id that innermost_id() gave.
const batching::VmapLevel* level_of(std::uint64_t id) {
  if (id == 0) return nullptr;
  const batching::VmapLevel* level = batching::innermost_level();
  while (level != nullptr && level->id() != id) level = level->outer();
  KEYWAY_CHECK(level != nullptr, "vmap: a function that was made within a vmap is called outside of it");
  return level;
}

}  // namespace

void check_has_memory(const Tensor& tensor, const char* asked) {
  KEYWAY_CHECK_AS(NotImplemented, batching::batched_value(tensor) == nullptr,
                  "{}: within vmap the elements of an example cannot be asked for", asked);
  KEYWAY_CHECK_AS(NotImplemented, !is_wrapper(tensor),
                  "{}: a wrapper tensor has no memory; ask the tensors that it is made of", asked);
  graph::refuse_within_capture(asked);
}

void add_batching(nb::module_& module) {
  module.def("enter", enter, nb::arg("batch_size"), nb::arg("randomness"),
             "Enters a vmap: calls of this thread are made for all its examples. Gives the number of the level.");
  module.def("leave", leave, "Leaves the innermost.");
  module.def(
      "example",
      [](const Tensor& inputs, std::int64_t dim) { return batching::add_batch_dim(inputs, dim, innermost()); },
      nb::arg("inputs"), nb::arg("dim"), "The tensor of an example, of those of all.");
  module.def(
      "all",
      [](const Tensor& result, std::int64_t dim) { return batching::remove_batch_dim(result, dim, innermost()); },
      nb::arg("result"), nb::arg("dim"), "The tensors of all examples, of one.");
  module.def(
      "is_of_example", [](const Tensor& tensor) { return batching::value_at(tensor, innermost()) != nullptr; },
      nb::arg("tensor"), "Whether each example may have another tensor.");
  module.def(
      "is_batched", [](const Tensor& tensor) { return batching::batched_value(tensor) != nullptr; }, nb::arg("tensor"),
      "Whether it is the tensor of an example, of whatever level.");
  module.def("suspend", suspend, "Calls are made outside of the innermost level, until resume().");
  module.def("resume", resume, "The inverse of suspend().");
  module.def("info", info, "How many examples the innermost vmap has, and what random operators draw for them.");
  module.def("level", innermost_id, "The number of the innermost level; 0 outside of vmap.");
  module.def(
      "with_level_dims",
      [](const Tensor& tensor, std::uint64_t level) { return batching::with_level_dims(tensor, level_of(level)); },
      nb::arg("tensor"), nb::arg("level"), "The tensor with a dimension in front for each level up to that one.");
  module.def(
      "without_level_dims",
      [](const Tensor& tensor, std::uint64_t level) { return batching::without_level_dims(tensor, level_of(level)); },
      nb::arg("tensor"), nb::arg("level"), "The inverse.");
}

}  // namespace keyway::inline v1::python
