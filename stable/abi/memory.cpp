// Tensors over memory: of the library's own, of the caller, and views with another geometry.
#include <keyway/core/base/library_resources.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/storage_listener.h>
#include <keyway/dispatch/registry/pin_library.h>
#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/kernels.h>
#include <keyway/stable/abi/slots.h>

#include <memory>

using namespace keyway;
using namespace keyway::abi;

namespace {

using Deleter = void (*)(void* data, void* context);

// The geometry of a tensor over memory of the caller.
struct Blob {
  void* data;
  IntArrayRef sizes, strides;
  std::int64_t offset;
  ScalarType dtype;
  Device device;
};

IntArrayRef list_of(const std::int64_t* numbers, std::int64_t count, const char* what) {
  KEYWAY_CHECK(count >= 0 && count <= kMaxDims, "{} are {}, but a tensor has at most {} dimensions", what, count,
               kMaxDims);
  return count == 0 ? IntArrayRef() : IntArrayRef(&checked(numbers, what), static_cast<std::size_t>(count));
}

Blob blob_of(void* data, std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
             std::int64_t storage_offset, std::int32_t dtype, std::int32_t device_type, std::int32_t device_index) {
  const Blob blob{data,
                  list_of(sizes, ndim, "the sizes"),
                  list_of(strides, ndim, "the strides"),
                  storage_offset,
                  dtype_of(dtype),
                  device_of(device_type, device_index)};
  KEYWAY_CHECK(storage_offset >= 0, "the storage offset {} is negative", storage_offset);
  for (const std::int64_t stride : blob.strides) KEYWAY_CHECK(stride >= 0, "the stride {} is negative", stride);
  const std::int64_t numel = checked_numel(blob.sizes);
  KEYWAY_CHECK(numel == 0 || data != nullptr, "the memory of {} elements is null", numel);
  return blob;
}

void check_layout(std::int32_t layout, std::int64_t metadata_size) {
  KEYWAY_CHECK_AS(NotImplemented, layout_of(layout) == Layout::Strided && metadata_size == 0,
                  "memory of the caller makes a strided tensor without metadata, not one of layout {}",
                  layout_of(layout));
}

// What is to be done once nothing refers to the memory. The library whose code does it cannot be unloaded meanwhile.
struct Release {
  Deleter deleter;
  void* data;
  void* context;
  LibraryResource held;

  static void call(void* self) {
    const std::unique_ptr<Release> release(static_cast<Release*>(self));
    release->deleter(release->data, release->context);
  }
};

LibraryResource hold(Deleter deleter, std::size_t bytes) {
  LibraryResources* const library = library_of_running_kernel();
  if (library == nullptr || library->stays()) {
    pin_library_of(reinterpret_cast<const void*>(deleter));
    return {};
  }
  KEYWAY_CHECK_AS(Registration, library->acquire(ResourceKind::Memory, bytes),
                  "the kernel's library is being unloaded");
  return LibraryResource(*library, ResourceKind::Memory, bytes);
}

TensorBase tensor_over(const Blob& blob, Deleter deleter, void* context) {
  const std::size_t bytes = checked_nbytes(blob.sizes, blob.strides, blob.offset, element_size(blob.dtype));
  DataPtr memory(blob.data, blob.device);
  if (deleter != nullptr) {
    auto release = std::make_unique<Release>(Release{deleter, blob.data, context, hold(deleter, bytes)});
    memory = DataPtr(blob.data, release.release(), Release::call, blob.device);
  }
  Storage storage(make_intrusive<StorageImpl>(std::move(memory), bytes, /*resizable=*/false));
  note_made(storage);
  const TensorBase whole(make_intrusive<TensorImpl>(std::move(storage), blob.dtype, blob.sizes, blob.strides,
                                                    checked_numel(blob.sizes),
                                                    is_contiguous(blob.sizes, blob.strides)));
  return blob.offset == 0 ? whole : make_view(whole, blob.sizes, blob.strides, blob.offset);
}

// Throws unless the geometry lies within the tensor's storage.
TensorBase view_of(AtenTensorHandle self, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  return call("as_strided", {tensor_of(self), IValue(sizes.vec()), IValue(strides.vec()), IValue(offset)})
      .front()
      .to_tensor();
}

}  // namespace

AOTITorchError aoti_torch_empty_strided(std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
                                        std::int32_t dtype, std::int32_t device_type, std::int32_t device_index,
                                        AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    const IntArrayRef size = list_of(sizes, ndim, "the sizes"), stride = list_of(strides, ndim, "the strides");
    give_results(call("empty_strided", {IValue(size.vec()), IValue(stride.vec()), IValue(dtype_of(dtype)), IValue(),
                                        IValue(device_of(device_type, device_index)), IValue()}),
                 {result});
  });
}

AOTITorchError torch_from_blob(void* data, std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
                               std::int64_t storage_offset, std::int32_t dtype, std::int32_t device_type,
                               std::int32_t device_index, AtenTensorHandle* result, std::int32_t layout,
                               const std::uint8_t*, std::int64_t metadata_size,
                               void (*deleter)(void* data, void* context), void* context) {
  return guarded(__func__, [&] {
    check_layout(layout, metadata_size);
    const Blob blob = blob_of(data, ndim, sizes, strides, storage_offset, dtype, device_type, device_index);
    give_handle(result, tensor_over(blob, deleter, context));
  });
}
AOTITorchError aoti_torch_create_tensor_from_blob_v2(void* data, std::int64_t ndim, const std::int64_t* sizes,
                                                     const std::int64_t* strides, std::int64_t storage_offset,
                                                     std::int32_t dtype, std::int32_t device_type,
                                                     std::int32_t device_index, AtenTensorHandle* result,
                                                     std::int32_t layout, const std::uint8_t* metadata,
                                                     std::int64_t metadata_size) {
  return torch_from_blob(data, ndim, sizes, strides, storage_offset, dtype, device_type, device_index, result, layout,
                         metadata, metadata_size, nullptr, nullptr);
}
AOTITorchError aoti_torch_create_tensor_from_blob(void* data, std::int64_t ndim, const std::int64_t* sizes,
                                                  const std::int64_t* strides, std::int64_t storage_offset,
                                                  std::int32_t dtype, std::int32_t device_type,
                                                  std::int32_t device_index, AtenTensorHandle* result) {
  return torch_from_blob(data, ndim, sizes, strides, storage_offset, dtype, device_type, device_index, result,
                         aoti_torch_layout_strided(), nullptr, 0, nullptr, nullptr);
}

AOTITorchError aoti_torch_as_strided(AtenTensorHandle self, const std::int64_t* sizes, const std::int64_t* strides,
                                     AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    const std::int64_t ndim = tensor_of(self).dim();
    give_handle(result, view_of(self, list_of(sizes, ndim, "the sizes"), list_of(strides, ndim, "the strides"),
                                tensor_of(self).storage_offset()));
  });
}
AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, std::int64_t ndim, const std::int64_t* sizes,
                                              const std::int64_t* strides, std::int64_t storage_offset,
                                              AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    give_handle(result, view_of(self, list_of(sizes, ndim, "the sizes"), list_of(strides, ndim, "the strides"),
                                storage_offset));
  });
}
