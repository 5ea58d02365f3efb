// The extension module keyway._C.
#include <keyway/python/autocast.h>
#include <keyway/python/autograd.h>
#include <keyway/python/batching.h>
#include <keyway/python/construction.h>
#include <keyway/python/conversion_protocol.h>
#include <keyway/python/cuda.h>
#include <keyway/python/default_device.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/dlpack_exchange.h>
#include <keyway/python/dtype_functions.h>
#include <keyway/python/errors.h>
#include <keyway/python/forward.h>
#include <keyway/python/function_node.h>
#include <keyway/python/hooks.h>
#include <keyway/python/indexing.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/node_object.h>
#include <keyway/python/number_protocol.h>
#include <keyway/python/operators.h>
#include <keyway/python/random.h>
#include <keyway/python/registry.h>
#include <keyway/python/serialization.h>
#include <keyway/python/tensor_attributes.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/threads.h>
#include <keyway/python/warnings.h>

#include <nanobind/nanobind.h>

NB_MODULE(_C, module) {
  using namespace keyway::python;  // NOLINT
  module.doc() = "Keyway's tensors and operators; import keyway instead.";
  module.attr("__version__") = KEYWAY_VERSION;
  nanobind::set_leak_warnings(false);  // dtypes, classes and functions live as long as the program
  add_errors(module);
  nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
    if (!error) wait_for_the_end();  // no exception: the stack of a thread that the interpreter has ended is unwound
    try {
      std::rethrow_exception(error);
    } catch (const keyway::Error&) {
      set_python_error();
    }
  });
  hear_warnings();
  add_descriptors(module);
  add_default_device(module);
  add_dtype_functions(module);
  add_random(module);
  add_threads(module);
  add_tensor_class(module, {number_slots(), conversion_slots(), indexing_slots()});
  add_tensor_attributes(module);
  add_buffer_protocol();
  add_dlpack_export(module);
  add_dlpack_import(module);
  add_construction(module);
  add_serialization(module);
  add_operators(module);
  add_conversions();
  nanobind::module_ autograd = module.def_submodule("_autograd");
  add_autograd(autograd);
  add_function_context(autograd);
  add_function_node(autograd);
  add_gradient_modes(module, autograd);
  add_autocast(module);
  add_anomaly_mode(module, autograd);
  add_hooks(autograd);
  add_node_class(autograd);
  add_saved_tensor_hooks(autograd);
  add_registry(module);
  nanobind::module_ batching = module.def_submodule("_batching");
  add_batching(batching);
  nanobind::module_ forward = module.def_submodule("_forward");
  add_forward(forward);
  nanobind::module_ cuda = module.def_submodule("_cuda");
  add_cuda(cuda);
}
