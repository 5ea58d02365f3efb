#include <keyway/core/base/error.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/python/batching.h>
#include <keyway/python/buffers.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>

#include <algorithm>
#include <cstring>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

nn::StateDict state_dict_of(const nb::dict& tensors) {
  nn::StateDict state;
  for (const auto [name, value] : tensors) {
    KEYWAY_CHECK_AS(Type, PyUnicode_Check(name.ptr()), "the names of saved tensors are str, not {}", class_name(name));
    const std::string text(text_in(name.ptr()));
    KEYWAY_CHECK_AS(Type, is_tensor(value.ptr()), "'{}' is a {}: what can be saved is tensors by name", text,
                    class_name(value));
    check_has_memory(tensor_in(value.ptr()), "save");
    state.insert(text, tensor_in(value.ptr()));
  }
  return state;
}

nb::object to_pair(const nn::SafetensorsFile& file) {
  nb::dict tensors;
  for (const auto& [name, tensor] : file.tensors) tensors[to_str(name)] = to_object(tensor);
  return nb::make_tuple(tensors, file.metadata);
}

std::string text_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

void save(const nb::dict& tensors, const nb::bytes& path, const nn::Metadata& metadata) {
  const nn::StateDict state = state_dict_of(tensors);
  const std::string file = text_of(path);
  const LockReleased unlocked;
  nn::save_safetensors(state, file, metadata);
}

nb::bytes print(const nb::dict& tensors, const nn::Metadata& metadata) {
  const nn::StateDict state = state_dict_of(tensors);
  const std::string file = unlocked([&] { return nn::serialize_safetensors(state, metadata); });
  return nb::bytes(file.data(), file.size());
}

nb::object load(const nb::bytes& path, bool map) {
  const std::string file = text_of(path);
  return to_pair(unlocked([&] { return nn::read_safetensors(file, {.map = map}); }));
}

nb::object parse(const nb::bytes& bytes) {
  return to_pair(unlocked([&] { return nn::deserialize_safetensors({bytes.c_str(), bytes.size()}); }));
}

void check_has_bytes(const Tensor& tensor) {
  check_has_memory(tensor, "save");
  KEYWAY_CHECK(tensor.is_cpu() && tensor.is_non_overlapping_and_dense(), "the tensor is not dense, or not on the CPU");
}

// The elements as they lie in memory: a tensor of bytes over them.
Tensor bytes_of(const Tensor& tensor) {
  check_has_bytes(tensor);
  const auto start = tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
  auto view = make_intrusive<TensorImpl>(*tensor.impl(), IntArrayRef(), IntArrayRef(), 0, 1);
  const auto count = static_cast<std::int64_t>(tensor.nbytes());
  view->set_dtype(kByte);
  view->set_geometry({count}, {1}, start, count);
  return TensorBase(std::move(view));
}

// The same as an object of Python's. Reading them ends no sharing of a lazy clone.
nb::bytes copy_of_bytes(const Tensor& tensor) {
  check_has_bytes(tensor);
  make_calls_pending_for(tensor);
  return nb::bytes(tensor.const_data_ptr(), tensor.nbytes());
}

// A new tensor of a class with a copy of elements that bytes_of gave, whatever they come from.
nb::object tensor_of_bytes_of(const nb::type_object& type, nb::handle bytes, nb::handle dtype,
                              const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  auto* const made = reinterpret_cast<PyTypeObject*>(type.ptr());
  const auto element = dtype_in(dtype.ptr());
  KEYWAY_CHECK_AS(Type, element && PyType_IsSubtype(made, tensor_class), "these are not the parts of a tensor");
  KEYWAY_CHECK_AS(Parse, sizes.size() == strides.size() && is_non_overlapping_and_dense(sizes, strides),
                  "a tensor of sizes {} and strides {} is not dense", sizes, strides);
  const Tensor tensor = make_tensor_strided(sizes, strides, *element, DeviceType::CPU);
  const TensorBase source = tensor_of_buffer(bytes.ptr()).tensor;
  KEYWAY_CHECK_AS(Parse, source.is_contiguous() && source.nbytes() == tensor.nbytes(),
                  "{} bytes are not the {} of a tensor of sizes {}", source.nbytes(), tensor.nbytes(), sizes);
  const std::string_view data(static_cast<const char*>(source.const_data_ptr()), source.nbytes());
  const bool is_fine = !is_bool(*element) || std::ranges::all_of(data, [](char c) { return c == 0 || c == 1; });
  KEYWAY_CHECK_AS(Parse, is_fine, "an element of a bool tensor is neither 0 nor 1");
  if (!data.empty()) std::memcpy(tensor.impl()->data(), data.data(), data.size());
  return made == tensor_class ? to_object(tensor) : to_object_of(made, tensor);
}

}  // namespace

void add_serialization(nb::module_& module) {
  module.def("_save_safetensors", save);
  module.def("_print_safetensors", print);
  module.def("_load_safetensors", load);
  module.def("_parse_safetensors", parse);
  module.def("_bytes_of", bytes_of);
  module.def("_copy_of_bytes", copy_of_bytes);
  module.def("_tensor_of_bytes", tensor_of_bytes_of);
  module.def("_storage_address",
             [](const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.storage().impl()); });
  module.def("_whole_storage", [](const Tensor& tensor) -> Tensor {
    check_has_memory(tensor, "save");
    const auto count = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize());
    return make_view(tensor, {count}, {1}, 0);
  });
}

}  // namespace keyway::inline v1::python
