#include <keyway/python/caller_frame.h>
#include <keyway/python/module.h>
#include <keyway/python/python_call.h>
#include <keyway/python/text.h>
#include <keyway/python/warnings.h>

#include <string_view>

namespace keyway::inline v1::python {
namespace {

// A warning that is an error now. Where nobody makes an error of Python's of it again, since C++ catches it, it is
// told of when it goes.
class RaisedWarning final : public nb::python_error {
 public:
  RaisedWarning() = default;
  RaisedWarning(const RaisedWarning&) = delete;
  RaisedWarning& operator=(const RaisedWarning&) = delete;
  ~RaisedWarning() override {
    if (!value().is_valid()) return;
    const LockHeld lock;  // a thread that the interpreter has ended waits here
    const nb::error_scope scope;
    restore();
    tell_unraisable();
  }
};

// Whether the warning has become an error of Python's.
bool has_raised(PyObject* category, std::string_view text, const PythonLine& where) {
  const nb::object shown =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (!shown.is_valid()) return true;
  try {  // of a thread that is ended while filters and what shows warnings run
    if (where.file.empty()) return PyErr_WarnFormat(category, caller_frame().level, "%U", shown.ptr()) != 0;
    const nb::str file = to_str(where.file);
    return PyErr_WarnExplicitObject(category, shown.ptr(), file.ptr(), where.line, nullptr, nullptr) != 0;
  } catch (...) {
    wait_for_the_end();
  }
}

WarningHandler& handler_before() {
  static WarningHandler& before = *new WarningHandler;  // never destroyed: what runs at exit may warn
  return before;
}

void hear(std::string_view text) {
  if (Py_IsInitialized() == 0) {
    if (handler_before()) handler_before()(text);
    return;
  }
  const LockHeld lock;
  // Where C++ warns while it handles an error of Python's, that goes on.
  PyObject* const under_way = PyErr_Occurred();
  const nb::error_scope scope;
  if (!has_raised(PyExc_UserWarning, text, {})) return;
  if (under_way == nullptr && PyEval_GetFrame() != nullptr) throw RaisedWarning();
  tell_unraisable();
}

}  // namespace

void hear_warnings() { handler_before() = set_warning_handler(hear); }

void warn_in_python(const std::vector<std::string>& texts, const PythonLine& where) {
  for (const std::string& text : texts) {
    if (has_raised(PyExc_RuntimeWarning, text, where)) rethrow_python_error();
  }
}

}  // namespace keyway::inline v1::python
