#include <keyway/core/base/error.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/device_arguments.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/text.h>

#include <array>
#include <cstddef>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <string>

namespace keyway::inline v1::python {
namespace {

// The class of an enumeration whose values are one object each.
template <typename Enum>
struct Named {
  Enum value;
};

template <typename Enum, std::size_t Size>
class NamedObjects {
 public:
  // `names`: of the values 0 to Size - 1, for which parse finds them; others have none.
  nb::class_<Named<Enum>> add(nb::module_& module, const char* name, const char* doc) {
    nb::class_<Named<Enum>> type(module, name, doc, nb::is_final());
    type_ = reinterpret_cast<PyTypeObject*>(type.ptr());
    type.def("__repr__", [](const Named<Enum>& self) { return "keyway." + std::string(to_string(self.value)); });
    type.def("__reduce__", [](const Named<Enum>& self) { return std::string(to_string(self.value)); });
    return type;
  }
  void make(nb::module_& module, Enum value) {
    nb::object object = nb::cast(Named<Enum>{value}, nb::rv_policy::move);
    module.attr(std::string(to_string(value)).c_str()) = object;
    objects_[static_cast<std::size_t>(value)] = object.release().ptr();  // as long as the program
  }

  nb::object object(Enum value) const { return nb::borrow(objects_.at(static_cast<std::size_t>(value))); }
  std::optional<Enum> in(PyObject* object) const {
    if (Py_TYPE(object) != type_ || !nb::inst_ready(object)) return std::nullopt;
    return nb::inst_ptr<Named<Enum>>(object)->value;
  }

 private:
  PyTypeObject* type_ = nullptr;
  std::array<PyObject*, Size> objects_{};
};

NamedObjects<ScalarType, kNumScalarTypes> dtypes;
NamedObjects<Layout, 8> layouts;
NamedObjects<MemoryFormat, 4> formats;
PyTypeObject* device_class = nullptr;

// Not one that __new__ alone has made.
bool is_device(PyObject* object) { return Py_TYPE(object) == device_class && nb::inst_ready(object); }

// PyTorch's other names.
constexpr std::pair<const char*, ScalarType> kDtypeAliases[] = {
    {"half", kHalf},         {"float", kFloat}, {"double", kDouble}, {"cfloat", ScalarType::ComplexFloat},
    {"short", kShort},       {"int", kInt},     {"long", kLong},     {"cdouble", ScalarType::ComplexDouble},
    {"chalf", kComplexHalf},
};

void add_dtypes(nb::module_& module) {
  auto type = dtypes.add(module, "dtype", "The type of a tensor's elements.");
  using Dtype = Named<ScalarType>;
  type.def_prop_ro("is_floating_point", [](const Dtype& self) { return is_floating_point(self.value); });
  type.def_prop_ro("is_complex", [](const Dtype& self) { return is_complex(self.value); });
  type.def_prop_ro("is_signed", [](const Dtype& self) { return is_signed(self.value); });
  type.def_prop_ro(
      "itemsize", [](const Dtype& self) { return element_size(self.value); }, "Bytes of an element.");
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) dtypes.make(module, static_cast<ScalarType>(i));
  for (const auto& [name, dtype] : kDtypeAliases) module.attr(name) = dtypes.object(dtype);
}

void add_layouts(nb::module_& module) {
  layouts.add(module, "layout", "How a tensor's elements lie in memory.");
  for (const Layout layout : {kStrided, kSparse, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc, kJagged})
    layouts.make(module, layout);
  formats.add(module, "memory_format", "The order of a tensor's dimensions in memory.");
  for (const MemoryFormat format :
       {MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d})
    formats.make(module, format);
}

Device device_of(nb::handle type, std::optional<int> index) {
  const std::optional<Device> device = device_in(type.ptr());
  KEYWAY_CHECK_AS(Type, device, "a device is text, as 'cuda:1', a number or a device");
  if (!index) return *device;
  KEYWAY_CHECK(!device->has_index(), "the device {} has an index already", to_string(*device));
  KEYWAY_CHECK(*index >= 0 && *index < 128, "a device has no index {}", *index);
  return Device(device->type(), static_cast<std::int8_t>(*index));
}

std::string device_repr(Device device) {
  const std::string type(to_string(device.type()));
  return device.has_index() ? "device(type='" + type + "', index=" + std::to_string(device.index()) + ")"
                            : "device(type='" + type + "')";
}

void add_device(nb::module_& module) {
  nb::class_<Device> type(module, "device", "Where a tensor's data lies: a type of device, and maybe an index.");
  device_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(
      "__init__",
      [](Device* self, nb::handle device, std::optional<int> index) { new (self) Device(device_of(device, index)); },
      nb::arg("type"), nb::arg("index") = nb::none());
  type.def_prop_ro("type", [](Device self) { return std::string(to_string(self.type())); });
  type.def_prop_ro("index", [](Device self) -> nb::object {
    if (!self.has_index()) return nb::none();
    return nb::int_(static_cast<int>(self.index()));
  });
  type.def("__str__", [](Device self) { return to_string(self); });
  type.def("__repr__", device_repr);
  type.def("__hash__", [](Device self) { return static_cast<int>(self.type()) << 8 | (self.index() & 0xff); });
  type.def("__eq__", [](Device self, nb::handle other) {
    return is_device(other.ptr()) && *nb::inst_ptr<Device>(other) == self;
  });
  type.def("__reduce__", [type](Device self) { return nb::make_tuple(type, nb::make_tuple(to_string(self))); });
}

}  // namespace

void add_descriptors(nb::module_& module) {
  add_dtypes(module);
  add_layouts(module);
  add_device(module);
}

nb::object to_object(ScalarType dtype) { return dtypes.object(dtype); }
nb::object to_object(Layout layout) { return layouts.object(layout); }
nb::object to_object(MemoryFormat format) { return formats.object(format); }
nb::object to_object(Device device) { return nb::cast(device); }

std::optional<ScalarType> dtype_in(PyObject* object) {
  if (const auto dtype = dtypes.in(object)) return dtype;
  if (!PyType_Check(object)) return std::nullopt;
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return ScalarType::ComplexDouble;
  return std::nullopt;
}
std::optional<Layout> layout_in(PyObject* object) { return layouts.in(object); }
std::optional<MemoryFormat> memory_format_in(PyObject* object) { return formats.in(object); }

Device device_named(std::string_view text) {
  const std::string name(text.substr(0, text.find(':')));
  if (!find_device_type(name) && !nb::cast<bool>(nb::module_::import_("keyway._backends").attr("is_there")(name))) {
    const std::string copy(text);
    const LockReleased unlocked;  // says what is wrong, and looks for a library
    return Device(copy);
  }
  const Device device(text);
  attach_device_type(device.type());
  return device;
}

std::optional<Device> device_in(PyObject* object) {
  if (is_device(object)) return *nb::inst_ptr<Device>(object);
  if (PyUnicode_Check(object)) return device_named(text_in(object));
  if (!PyLong_Check(object) || PyBool_Check(object)) return std::nullopt;
  const long index = PyLong_AsLong(object);
  if (index == -1) PyErr_Clear();
  KEYWAY_CHECK(index >= 0 && index < 128, "no device has this index");
  return Device(DeviceType::CUDA, static_cast<std::int8_t>(index));
}

}  // namespace keyway::inline v1::python
