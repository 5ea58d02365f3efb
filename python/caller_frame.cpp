#include <keyway/python/caller_frame.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/text.h>

#include <string_view>

namespace keyway::inline v1::python {
namespace {

std::string_view text_in(nb::handle text) {
  Py_ssize_t size = 0;
  const char* const characters = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  PyErr_Clear();
  return characters == nullptr ? std::string_view() : std::string_view(characters, static_cast<std::size_t>(size));
}

// This is asked of each frame around each call of a capture.
bool is_of_this_package(nb::handle frame) {
  static PyObject* const name = interned("__name__");
#if PY_VERSION_HEX >= 0x030B0000
  const nb::object globals = nb::steal(PyFrame_GetGlobals(reinterpret_cast<PyFrameObject*>(frame.ptr())));
#else
  const nb::object globals = nb::borrow(reinterpret_cast<PyFrameObject*>(frame.ptr())->f_globals);
#endif
  const std::string_view module =
      text_in(PyDict_Check(globals.ptr()) ? PyDict_GetItemWithError(globals.ptr(), name) : nullptr);
  return module == "keyway" || module.starts_with("keyway.");
}

}  // namespace

CallerFrame caller_frame() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (Py_ssize_t level = 1; frame.is_valid(); ++level) {
    if (!is_of_this_package(frame)) return {std::move(frame), level};
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  }
  return {nb::object(), 1};
}

std::string caller_line() {
  const nb::object frame = caller_frame().frame;
  if (!frame.is_valid()) return {};
  auto* const python_frame = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(python_frame)));
  const std::string_view path = text_in(reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename);
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(PyFrame_GetLineNumber(python_frame));
}

std::string call_site() {
  if (Py_IsInitialized() == 0) return {};
  const LockHeld lock;
  return caller_line();
}

}  // namespace keyway::inline v1::python
