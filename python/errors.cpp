#include <keyway/core/base/error.h>
#include <keyway/nn/serialize/file_error.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>

#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <stdexcept>
#include <string>

namespace keyway::inline v1::python {
namespace {

struct ErrorClass {
  ErrorKind kind;
  const char* name;
  PyObject** python;  // Python's own exception of this kind; null: none but RuntimeError
  const char* doc;
};

const ErrorClass kErrorClasses[] = {
    {ErrorKind::Value, "ValueError", &PyExc_ValueError, "An argument has the right type and a wrong value or shape."},
    {ErrorKind::Type, "TypeError", &PyExc_TypeError, "An argument has a wrong type."},
    {ErrorKind::Index, "IndexError", &PyExc_IndexError, "An index is out of range."},
    {ErrorKind::NotImplemented, "NotImplementedError", &PyExc_NotImplementedError,
     "An operator has no kernel here, or a part of Keyway is not there yet."},
    {ErrorKind::OutOfMemory, "OutOfMemoryError", &PyExc_MemoryError,
     "A request for memory above the limit, or one that the system refused."},
    {ErrorKind::Registration, "RegistrationError", nullptr, "A schema, kernel or library that cannot be registered."},
    {ErrorKind::Autograd, "AutogradError", nullptr,
     "The graph forbids it: a saved value was changed, the graph was freed, a tensor has no history."},
    {ErrorKind::Parse, "ParseError", &PyExc_ValueError, "Text or a file is not what it should be."},
    {ErrorKind::LinAlg, "LinAlgError", nullptr,
     "A matrix has no such decomposition, or none was found: singular, not positive-definite, without convergence."},
    {ErrorKind::Internal, "InternalError", nullptr, "An invariant of Keyway itself is broken."},
};

constexpr const char* kDtypeErrorDoc =
    "A tensor has a dtype that an operator is not there for: in PyTorch a TypeError or a NotImplementedError.";

PyObject*& class_of(ErrorKind kind) {
  static PyObject* classes[static_cast<std::size_t>(ErrorKind::Internal) + 1] = {};
  return classes[static_cast<std::size_t>(kind)];
}

// Also a text with bytes that are no UTF-8.
void set_error(PyObject* type, const char* text) noexcept {
  const auto made = nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
  if (made.is_valid()) PyErr_SetObject(type, made.ptr());
}

}  // namespace

void add_errors(nb::module_& module) {
  const auto add = [&](const char* name, const char* doc, nb::handle bases) {
    const std::string full = std::string("keyway.") + name;
    nb::object made = checked(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
    module.attr(name) = made;
    return made.release().ptr();  // as long as the program
  };
  PyObject* const base =
      add("Error", "What Keyway refuses: its text names operator, argument and rule.", PyExc_RuntimeError);
  for (const auto& [kind, name, python, doc] : kErrorClasses)
    class_of(kind) =
        add(name, doc, checked(python != nullptr ? PyTuple_Pack(2, base, *python) : PyTuple_Pack(1, base)));
  class_of(ErrorKind::Dtype) =
      add("DtypeError", kDtypeErrorDoc,
          checked(PyTuple_Pack(2, class_of(ErrorKind::Type), class_of(ErrorKind::NotImplemented))));
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nn::FileError& error) {
    errno = error.number();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, error.path().c_str());
  } catch (const Error& error) {
    set_error(class_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::out_of_range& error) {
    set_error(class_of(ErrorKind::Index), error.what());
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error.what());
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "a C++ exception that is no std::exception");
  }
}

}  // namespace keyway::inline v1::python
