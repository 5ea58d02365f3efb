#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/tasks/launch.h>

namespace keyway::inline v1::python {
namespace {

// The argument `number` of a function.
int number_of(const char* function, nb::handle number) {
  int threads = 0;
  KEYWAY_CHECK_AS(Type, !PyBool_Check(number.ptr()) && nb::try_cast(number, threads),
                  "{}(): argument 'number' must be int, not {}", function, class_name(number));
  return threads;
}

}  // namespace

void add_threads(nb::module_& module) {
  module.def("get_num_threads", get_num_threads, "How many threads operators on the CPU use, with the one that calls.");
  module.def(
      "set_num_threads", [](nb::handle number) { set_num_threads(number_of("set_num_threads", number)); },
      nb::arg("number").none(),
      "Sets how many threads operators on the CPU use, with the one that calls. Raises keyway.TypeError for what is no "
      "int, keyway.ValueError unless it is from 1 to 1024.");
  module.def(
      "get_num_interop_threads", get_num_interop_threads,
      "How many tasks (keyway.futures.fork) run at once. As long as nobody has set it: what get_num_threads() gives.");
  module.def(
      "set_num_interop_threads",
      [](nb::handle number) { set_num_interop_threads(number_of("set_num_interop_threads", number)); },
      nb::arg("number").none(),
      "Sets how many tasks (keyway.futures.fork) run at once; at any time. Raises keyway.TypeError for what is no int, "
      "keyway.ValueError unless it is from 1 to 1024.");
}

}  // namespace keyway::inline v1::python
