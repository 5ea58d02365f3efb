#include <keyway/python/batching.h>
#include <keyway/python/buffers.h>
#include <keyway/python/errors.h>
#include <keyway/python/foreign_memory.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <memory>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// What a buffer keeps: the bytes, though the tensor may get others, and the geometry as it was.
struct ExportedBuffer {
  Storage storage;
  std::vector<Py_ssize_t> sizes;
  std::vector<Py_ssize_t> strides;  // in bytes
};

// Whether the elements lie as `flags` ask.
bool has_order(const Tensor& tensor, int flags) {
  const auto asks = [&](int flag) { return (flags & flag) == flag; };
  const auto is_fortran = [&] {
    DimVector sizes, strides;
    for (std::int64_t d = tensor.dim() - 1; d >= 0; --d) {
      sizes.push_back(tensor.size(d));
      strides.push_back(tensor.stride(d));
    }
    return is_contiguous(sizes, strides);
  };
  if (asks(PyBUF_C_CONTIGUOUS) || !asks(PyBUF_STRIDES)) return tensor.is_contiguous();
  if (asks(PyBUF_F_CONTIGUOUS)) return is_fortran();
  return !asks(PyBUF_ANY_CONTIGUOUS) || tensor.is_contiguous() || is_fortran();
}

const char* why_not(const Tensor& tensor, int flags) {
  if (!tensor.defined()) return "the tensor is undefined";
  if (!tensor.is_cpu()) return "the tensor is not in the host's memory: use Tensor.cpu() to copy it there first";
  if (tensor.requires_grad()) return "the tensor requires grad: use Tensor.detach() first";
  if (format_of(tensor.dtype()) == nullptr) return "buffers have no format for the tensor's dtype";
  if (!has_order(tensor, flags)) return "the tensor's elements do not lie in the order that is asked for";
  return nullptr;
}

void get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const Tensor& tensor = tensor_in(self);
  check_has_memory(tensor, "the buffer of a tensor");
  if (const char* const why = why_not(tensor, flags)) refuse_buffer(why);
  auto kept = std::make_unique<ExportedBuffer>();
  kept->storage = tensor.storage();
  kept->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  for (const std::int64_t stride : tensor.strides())
    kept->strides.push_back(stride * static_cast<Py_ssize_t>(tensor.itemsize()));
  static char nothing = 0;  // where no elements are
  view->buf = tensor.numel() == 0 ? &nothing : tensor.data_ptr();
  tensor.storage().impl()->forbid_resize();  // of bytes of its own, for which there was memory
  view->len = static_cast<Py_ssize_t>(tensor.nbytes());
  view->itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
  view->readonly = 0;
  view->ndim = static_cast<int>(tensor.dim());
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(tensor.dtype())) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? kept->sizes.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? kept->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = kept.release();
  view->obj = Py_NewRef(self);
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<ExportedBuffer*>(view->internal); }

}  // namespace

void add_buffer_protocol() {
  tensor_class->tp_as_buffer->bf_getbuffer = guarded<get_buffer>;
  tensor_class->tp_as_buffer->bf_releasebuffer = release_buffer;
}

}  // namespace keyway::inline v1::python
