// The extension module keyway._C.
#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>

NB_MODULE(_C, module) {
  using namespace keyway::python;  // NOLINT
  module.doc() = "Keyway's tensors and operators; import keyway instead.";
  module.attr("__version__") = KEYWAY_VERSION;
  nb::set_leak_warnings(false);  // dtypes, classes and functions live as long as the program
  add_errors(module);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
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
  add_futures(module);
  add_size_class(module);
  add_tensor_class(module, {number_slots(), conversion_slots(), indexing_slots()});
  add_tensor_attributes();
  add_buffer_protocol();
  add_dlpack_export();
  add_dlpack_import(module);
  add_construction(module);
  add_tensor_exchange(module);
  add_serialization(module);
  add_tensorboard(module);
  add_operator_function_class(module);
  add_return_types(module);
  add_operators(module);
  add_conversions();
  nb::module_ autograd = module.def_submodule("_autograd");
  add_autograd(autograd);
  add_function_context(autograd);
  add_function_node(autograd);
  add_gradient_modes(module, autograd);
  add_autocast(module);
  add_anomaly_mode(module, autograd);
  add_hooks(autograd);
  add_node_class(autograd);
  add_saved_tensor_hooks(autograd);
  add_dispatch_keys(module);
  add_function_overrides(module);
  add_dispatch_modes(module);
  add_wrapper_tensors(module);
  add_explain(module);
  add_library(module);
  add_plugins(module);
  add_custom_classes(module);
  add_profiler(module);
  add_registry(module);
  nb::module_ batching = module.def_submodule("_batching");
  add_batching(batching);
  nb::module_ forward = module.def_submodule("_forward");
  add_forward(forward);
  nb::module_ graph = module.def_submodule("_graph");
  add_graph(graph);
  nb::module_ onnx = module.def_submodule("_onnx");
  add_onnx(onnx);
  nb::module_ devices = module.def_submodule("_devices");
  add_devices(devices);
  add_streams(module, devices);
}
