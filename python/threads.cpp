#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>

namespace keyway::inline v1::python {

void add_threads(nb::module_& module) {
  module.def("get_num_threads", get_num_threads, "How many threads operators on the CPU use, with the one that calls.");
  module.def(
      "set_num_threads",
      [](nb::handle number) {
        int threads = 0;
        KEYWAY_CHECK_AS(Type, !PyBool_Check(number.ptr()) && nb::try_cast(number, threads),
                        "set_num_threads(): argument 'number' must be int, not {}", class_name(number));
        set_num_threads(threads);
      },
      nb::arg("number").none(),
      "Sets how many threads operators on the CPU use, with the one that calls. Raises keyway.TypeError for what is no "
      "int, keyway.ValueError unless it is from 1 to 1024.");
}

}  // namespace keyway::inline v1::python
