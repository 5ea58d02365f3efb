#include <keyway/core/base/error.h>
#include <keyway/python/buffers.h>
#include <keyway/python/foreign_memory.h>
#include <keyway/python/interpreter_lock.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace keyway::inline v1::python {
namespace {

// A buffer that was asked for, given back when it goes: from any thread.
class Buffer {
 public:
  Buffer(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &view_, flags) != 0) rethrow_python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (Py_IsInitialized() == 0) return;
    const LockHeld lock;
    PyBuffer_Release(&view_);
  }
  const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_{};
};

// The dtype of a format in the language of Python's struct, with NumPy's Z for complex numbers.
std::optional<ScalarType> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  std::string_view text = format == nullptr ? "B" : format;
  const bool is_swapped = text.starts_with('>') || text.starts_with('!');
  if (is_swapped) KEYWAY_CHECK(itemsize == 1, "the elements of the buffer are not in this machine's byte order");
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) text.remove_prefix(1);
  const auto kind = [&]() -> char {
    if (text == "?") return 'b';
    if (text == "Zf" || text == "Zd" || text == "F" || text == "D") return 'c';
    if (text.size() != 1) return '\0';
    if (std::string_view("bhilqn").find(text[0]) != std::string_view::npos) return 'i';
    if (std::string_view("BHILQN").find(text[0]) != std::string_view::npos) return 'u';
    return std::string_view("efd").find(text[0]) != std::string_view::npos ? 'f' : '\0';
  }();
  return dtype_of(kind, static_cast<std::size_t>(itemsize));
}

}  // namespace

ForeignTensor tensor_of_buffer(PyObject* object) {
  auto buffer = std::make_unique<Buffer>(object, PyBUF_STRIDES | PyBUF_FORMAT);
  const Py_buffer& view = buffer->view();
  const auto dtype = dtype_of_format(view.format, view.itemsize);
  KEYWAY_CHECK_AS(Type, dtype, "no dtype describes the elements of a {} of format '{}'", class_name(object),
                  view.format == nullptr ? "B" : view.format);
  const DimVector sizes(view.shape, view.shape + view.ndim);
  const DimVector strides = strides_in_elements(DimVector(view.strides, view.strides + view.ndim), *dtype);
  const bool read_only = view.readonly != 0;
  void* const data = view.buf;
  return {tensor_over(data_of(std::move(buffer), data), sizes, strides, *dtype), read_only};
}

ForeignTensor tensor_of_bytes(PyObject* object, ScalarType dtype, std::int64_t count, std::int64_t offset) {
  auto buffer = std::make_unique<Buffer>(object, PyBUF_SIMPLE);
  const std::int64_t length = buffer->view().len;
  const auto itemsize = static_cast<std::int64_t>(element_size(dtype));
  KEYWAY_CHECK(length > 0 && count != 0, "both buffer length ({}) and count ({}) must not be 0", length, count);
  KEYWAY_CHECK(offset >= 0 && offset < length,
               "offset ({} bytes) must be non-negative and no greater than buffer length ({} bytes) minus 1", offset,
               length);
  if (count < 0) {
    KEYWAY_CHECK((length - offset) % itemsize == 0,
                 "buffer length ({} bytes) after offset ({} bytes) must be a multiple of element size ({})", length,
                 offset, itemsize);
    count = (length - offset) / itemsize;
  }
  KEYWAY_CHECK(count <= (length - offset) / itemsize,
               "requested buffer length ({} * {} bytes) after offset ({} bytes) must not be greater than actual buffer "
               "length ({} bytes)",
               count, itemsize, offset, length);
  const bool read_only = buffer->view().readonly != 0;
  void* const data = static_cast<char*>(buffer->view().buf) + offset;
  return {tensor_over(data_of(std::move(buffer), data), {count}, {1}, dtype), read_only};
}

}  // namespace keyway::inline v1::python
