#include <keyway/core/base/error.h>
#include <keyway/python/arrays.h>
#include <keyway/python/errors.h>
#include <keyway/python/foreign_memory.h>
#include <keyway/python/held_object.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/warnings.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

constexpr const char* kInterface = "__array_interface__";

// NumPy's arrays have the buffer protocol for all dtypes that a tensor can have.
ForeignTensor tensor_of_numpy(PyObject* object) {
  const nb::object dtype = nb::borrow(object).attr("dtype");
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  const bool is_number = std::string_view("biufc").find(kind) != std::string_view::npos;
  const bool has_dtype = is_number && dtype_of(kind[0], nb::cast<std::size_t>(dtype.attr("itemsize")));
  KEYWAY_CHECK_AS(Type, has_dtype,
                  "can't convert an array of NumPy's dtype {}: a tensor can have bool, int8 to int64, uint8 to uint64, "
                  "float16, float32, float64, complex64 or complex128",
                  nb::cast<std::string>(nb::str(dtype)));
  KEYWAY_CHECK(nb::cast<bool>(dtype.attr("isnative")),
               "the array is not in this machine's byte order: array.astype(array.dtype.newbyteorder('=')) is");
  return tensor_of_buffer(object);
}

nb::object field(nb::handle interface, const char* name) {
  PyObject* const found = PyDict_GetItemString(interface.ptr(), name);
  return found == nullptr ? nb::none() : nb::borrow(found);
}

ScalarType dtype_of_typestr(const std::string& text) {
  const bool is_well_formed = text.size() >= 3 && text.find_first_not_of("0123456789", 2) == std::string::npos &&
                              text.size() <= 6 && text[0] != '>';
  const auto dtype = is_well_formed ? dtype_of(text[1], std::stoul(text.substr(2))) : std::nullopt;
  KEYWAY_CHECK_AS(Type, dtype, "no dtype describes elements of the type '{}' of an __array_interface__", text);
  return *dtype;
}

ForeignTensor tensor_of_interface(PyObject* object) {
  const nb::object interface = nb::borrow(object).attr(kInterface);
  KEYWAY_CHECK_AS(Type, PyDict_Check(interface.ptr()), "__array_interface__ is no dict");
  try {
    const ScalarType dtype = dtype_of_typestr(nb::cast<std::string>(field(interface, "typestr")));
    const auto sizes = nb::cast<std::vector<std::int64_t>>(field(interface, "shape"));
    const std::int64_t numel = checked_numel(sizes);
    DimVector strides = contiguous_strides(sizes);
    if (const nb::object given = field(interface, "strides"); !given.is_none()) {
      const auto bytes = nb::cast<std::vector<std::int64_t>>(given);
      KEYWAY_CHECK(bytes.size() == sizes.size(), "__array_interface__ has {} strides for {} dimensions", bytes.size(),
                   sizes.size());
      if (numel != 0) strides = strides_in_elements(bytes, dtype);
    }
    const nb::object data = field(interface, "data");
    KEYWAY_CHECK_AS(NotImplemented, PyTuple_Check(data.ptr()),
                    "an __array_interface__ whose data is no pair of address and flag is not supported");
    const auto [address, read_only] = nb::cast<std::pair<std::uintptr_t, bool>>(data);
    KEYWAY_CHECK(address != 0 || numel == 0, "__array_interface__ has elements at the address 0");
    // The interface may own what its object does not.
    auto owner = std::make_unique<HeldObject>(nb::make_tuple(nb::borrow(object), interface));
    return {tensor_over(data_of(std::move(owner), reinterpret_cast<void*>(address)), sizes, strides, dtype), read_only};
  } catch (const nb::cast_error&) {
    KEYWAY_FAIL(Type, "the __array_interface__ of a {} has a field that is not what it should be", class_name(object));
  }
}

}  // namespace

bool is_array(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return false;
  if (is_numpy_array(object) || is_numpy_scalar(object)) return true;
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), kInterface) != 0;
}

ForeignTensor tensor_of_array(PyObject* object) {
  const bool is_numpy = is_numpy_array(object) || is_numpy_scalar(object);
  return is_numpy ? tensor_of_numpy(object) : tensor_of_interface(object);
}

void warn_if_read_only(const ForeignTensor& foreign) {
  if (!foreign.read_only) return;
  warn_user(
      "the memory is not writable, and tensors do not know read-only memory: what is written to the tensor may "
      "change what its owner takes for constant, or crash. Copy the array, or make it writable, before it becomes "
      "a tensor");
}

}  // namespace keyway::inline v1::python
