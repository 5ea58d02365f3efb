#include <keyway/core/random/generator.h>
#include <keyway/core/random/thread_seed.h>
#include <keyway/graph/deferred.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/module.h>

#include <memory>
#include <nanobind/stl/pair.h>

namespace keyway::inline v1::python {
namespace {

// Between __enter__ and __exit__ the default generators of its thread draw from a seed.
struct Seeded {
  std::uint64_t seed;
  std::unique_ptr<ThreadSeed> inside{};
};

}  // namespace

void add_random(nb::module_& module) {
  nb::class_<Generator> type(module, "Generator", "The state behind random operators: a seed and a number of calls.");
  type.def(
      "__init__",
      [](Generator* self, nb::handle device) {
        new (self) Generator(device_in(device.ptr()).value_or(Device(DeviceType::CPU)));
      },
      nb::arg("device") = "cpu");
  type.def(
      "manual_seed",
      [](Generator& self, std::uint64_t seed) -> Generator& {
        self.manual_seed(seed);
        return self;
      },
      nb::arg("seed"), "Begins the sequence of `seed`.");
  type.def("seed", &Generator::seed, "Begins a sequence that nobody can foresee, and returns its seed.");
  type.def("initial_seed", &Generator::initial_seed, "The seed of the current sequence.");
  type.def("clone", &Generator::clone, "A new generator in the same state.");
  type.def(
      "get_state",
      [](const Generator& self) {
        graph::flush_deferred("the state of a generator is read");
        const GeneratorState state = self.get_state();
        return nb::make_tuple(state.seed, state.call);
      },
      "Seed, and the number that the next call gets.");
  type.def(
      "set_state",
      [](Generator& self, std::pair<std::uint64_t, std::uint64_t> state) {
        self.set_state({state.first, state.second});
      },
      nb::arg("state"), "Takes it to a state that get_state gave.");
  type.def_prop_ro("device", [](const Generator& self) { return to_object(self.device()); });
  module.def(
      "manual_seed",
      [](std::uint64_t seed) {
        manual_seed(seed);
        return default_generator(DeviceType::CPU);
      },
      nb::arg("seed"), "Begins the sequence of `seed` on all devices.");
  module.def(
      "initial_seed", [] { return default_generator(DeviceType::CPU).initial_seed(); },
      "The seed of the CPU's current sequence.");
  nb::class_<Seeded>(module, "_Seeded")
      .def("__init__", [](Seeded* self, std::uint64_t seed) { new (self) Seeded{seed}; })
      .def("__enter__", [](Seeded& self) { self.inside = std::make_unique<ThreadSeed>(self.seed); })
      .def("__exit__", [](Seeded& self, const nb::args&) { self.inside.reset(); });
  module.attr("default_generator") = nb::cast(default_generator(DeviceType::CPU));
}

}  // namespace keyway::inline v1::python
