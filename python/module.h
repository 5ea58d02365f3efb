// What module.cpp makes keyway._C of. Each adds to a module what its file has.
#pragma once

#include <keyway/python/nanobind.h>

#include <initializer_list>
#include <span>

namespace keyway::inline v1::python {

// The exception classes.
void add_errors(nb::module_& module);
// From then on Python hears of warnings, of any thread, as of a UserWarning. One that a filter makes an error is thrown
// by warn() in a call from Python; sys.unraisablehook has it where C++ catches it, or no Python called.
void hear_warnings();

// dtype, layout, memory_format, device; and objects of the last as context managers.
void add_descriptors(nb::module_& module);
void add_default_device(nb::module_& module);
// What is asked about dtypes: the default one, promotion, casts.
void add_dtype_functions(nb::module_& module);
// keyway.Generator, and the generators that operators use when they are given none.
void add_random(nb::module_& module);
// How many threads kernels of the CPU use, and how many tasks run at once.
void add_threads(nb::module_& module);
// What keyway.futures is made of.
void add_futures(nb::module_& module);

// keyway.Size, the class of `x.shape`.
void add_size_class(nb::module_& module);
// Slots for the class Tensor. Python's operators: `x + 2`, `2 - x`, `x @ y`, `x += y`, `x < 3`. Each calls the method
// of Tensor that does it; other types than tensors and numbers get their own turn, as Python's rules have it.
std::span<const PyType_Slot> number_slots();
// Tensors as Python's own values: bool(x), int(x), a list index, `for row in x`, `2 in x`.
std::span<const PyType_Slot> conversion_slots();
// x[...] and x[...] = y, in all forms of PyTorch and NumPy. Integers, slices, None and ... give views; index tensors,
// masks, lists and arrays give copies.
std::span<const PyType_Slot> indexing_slots();
// The class Tensor, with the slots of these protocols; the rest is added to it by those below.
void add_tensor_class(nb::module_& module, std::initializer_list<std::span<const PyType_Slot>> protocols);
// What tensors have that is no operator: shape, dtype, device, grad, size(), data_ptr() ...
void add_tensor_attributes();
// The buffer protocol: memoryview(tensor), where a buffer can describe it.
void add_buffer_protocol();
// __dlpack__ and __dlpack_device__.
void add_dlpack_export();
// keyway.from_dlpack.
void add_dlpack_import(nb::module_& module);
// keyway.tensor and its like: tensors of what Python has.
void add_construction(nb::module_& module);
// The functions by which other extension modules take and give tensors (tensor_exchange.h).
void add_tensor_exchange(nb::module_& module);
// Files of tensors, and the bytes of a tensor for those who pickle it.
void add_serialization(nb::module_& module);

// The writer of keyway.utils.tensorboard.
void add_tensorboard(nb::module_& module);

// The class OperatorFunction; the submodule of the classes that named results are of, called as the operators are.
void add_operator_function_class(nb::module_& module);
void add_return_types(nb::module_& module);
// The functions of kApiNames, also in the submodule `_nn`, and the methods of Tensor.
void add_operators(nb::module_& module);
// tolist() and methods of conversion that have no slot. Requires: add_operators.
void add_conversions();

// keyway._C._autograd: what the modules of keyway.autograd are made of: backward, grad, gradcheck; Functions, which are
// differentiable operations that are written in Python, and their `ctx`; hooks, and nodes of the graph.
void add_autograd(nb::module_& module);
void add_function_context(nb::module_& module);
void add_function_node(nb::module_& module);
void add_hooks(nb::module_& module);
void add_node_class(nb::module_& module);
void add_saved_tensor_hooks(nb::module_& module);
// Whether a mode is on can be asked of `module`; `internal` changes it.
void add_gradient_modes(nb::module_& module, nb::module_& internal);
void add_anomaly_mode(nb::module_& module, nb::module_& internal);

// What keyway.amp is made of.
void add_autocast(nb::module_& module);
// What keyway.utils.python_dispatch is made of: modes, and wrapper tensors.
void add_dispatch_modes(nb::module_& module);
void add_wrapper_tensors(nb::module_& module);
// keyway._C._batching: what keyway/_transforms/vmap.py and keyway/func.py are made of.
void add_batching(nb::module_& module);
// Captures and graphs; what keyway.graph calls.
void add_graph(nb::module_& module);
// keyway._C._onnx: what keyway/onnx.py is made of.
void add_onnx(nb::module_& module);
// keyway._C._forward: what keyway/autograd/forward_ad.py and keyway/func.py are made of.
void add_forward(nb::module_& module);
// keyway._C._devices: what keyway.cuda and the modules of other device types are made of: which device is current, and
// the cache of the devices' memory; streams, of which the classes are `module`'s, and graphs.
void add_devices(nb::module_& internal);
void add_streams(nb::module_& module, nb::module_& internal);

// For people who extend the registry, as follows. DispatchKey, DispatchKeySet, and the guards that add keys to a
// thread's calls or take them away.
void add_dispatch_keys(nb::module_& module);
// The guard DisableFunctionOverrides, and what keyway.overrides is made of.
void add_function_overrides(nb::module_& module);
// Why calls end where they end.
void add_explain(nb::module_& module);
// What keyway.library is made of: registrations, each in force at once, and undone together.
void add_library(nb::module_& module);
void add_plugins(nb::module_& module);
// ScriptObject, the base of the classes that libraries register, and what keyway.classes is made of.
void add_custom_classes(nb::module_& module);
void add_profiler(nb::module_& module);
// How keyway.ops finds operators, snapshots, traces. Requires: add_operators.
void add_registry(nb::module_& module);

}  // namespace keyway::inline v1::python
