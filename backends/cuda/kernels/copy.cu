// The operators of the family copy: between elements of one device, and between devices.
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/device_guard.h>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/host_copy.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_copy.h>
#include <keyway/core/device_guard.h>
#include <keyway/core/visit_dtype.h>

namespace keyway::inline v1::cuda {

namespace {

// Equal dtypes are moved as bits, whatever they mean.
template <typename T>
struct Bits {
  KEYWAY_HD T operator()(T x) const { return x; }
};

void move_elements(const TensorBase& src, const TensorBase& dst) {
  visit_bits(dst.itemsize(), [&]<typename T>() { pointwise(Bits<T>{}, dst, src); });
}

cudaStream_t stream_of(Device device) { return runtime_stream(cuda_device_guard().get_stream(device)); }

void move_bytes(const TensorBase& dst, const TensorBase& src, cudaStream_t stream) {
  KEYWAY_CUDA_CHECK(cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), dst.nbytes(), cudaMemcpyDefault, stream));
}

// A tensor whose bytes are those of `like` as one piece.
bool is_one_piece(const TensorBase& tensor, const TensorBase& like) {
  return tensor.is_contiguous() && tensor.sizes() == like.sizes() && tensor.dtype() == like.dtype();
}

TensorBase piece(const TensorBase& like, ScalarType dtype, Device device) {
  const OptionalDeviceGuard guard(device.type() == DeviceType::CUDA ? std::optional(device) : std::nullopt);
  return make_tensor(like.sizes(), dtype, device);
}

void copy_within(const TensorBase& dst, const TensorBase& src) {
  const DeviceGuard guard(dst.device());
  const bool shares = dst.is_alias_of(src);
  const bool same_place = shares && dst.storage_offset() == src.storage_offset() && dst.sizes() == src.sizes() &&
                          dst.strides() == src.strides() && dst.dtype() == src.dtype();
  if (same_place) return;
  if (!shares) return copy_elements(src, dst);
  // What overlaps is read whole before any of it is written.
  const TensorBase apart = piece(src, src.dtype(), src.device());
  copy_elements(src, apart);
  copy_elements(apart, dst);
}

void copy_from_host(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  refuse_in_capture("a copy from the host");
  const cudaStream_t stream = stream_of(dst.device());
  TensorBase from = src;
  if (!src.is_contiguous()) {
    from = piece(src, src.dtype(), kCPU);
    copy_on_host(from, src);
  }
  const TensorBase to = is_one_piece(dst, src) ? dst : piece(src, src.dtype(), dst.device());
  move_bytes(to, from, stream);
  if (!to.is_same(dst)) copy_within(dst, to);
  // What was put together here goes when this returns; the runtime has read it by then only if it is not pinned.
  if (!non_blocking || !from.is_same(src))
    cuda_device_guard().synchronize_stream(cuda_device_guard().get_stream(dst.device()));
}

void copy_to_host(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  refuse_in_capture("a copy to the host");
  TensorBase from = src;
  if (!is_one_piece(src, dst)) {
    from = piece(dst, dst.dtype(), src.device());
    copy_within(from, src);
  }
  const TensorBase to = dst.is_contiguous() ? dst : piece(dst, dst.dtype(), kCPU);
  move_bytes(to, from, stream_of(src.device()));
  if (non_blocking && to.is_same(dst)) return;
  cuda_device_guard().synchronize_stream(cuda_device_guard().get_stream(src.device()));
  if (!to.is_same(dst)) copy_on_host(dst, to);
}

// An event of one stream that another one waits for.
void wait_for(Stream waiting, Stream other) {
  CudaDeviceGuard& guard = cuda_device_guard();
  void* const event = guard.create_event(other.device(), false);
  try {
    guard.record(event, other);
    guard.block(event, waiting);
  } catch (...) {
    guard.destroy_event(event, other.device());
    throw;
  }
  guard.destroy_event(event, other.device());  // the runtime keeps it until it has come
}

// In the current stream of the source's device, between what both devices' streams have before and after.
void copy_to_peer(const TensorBase& dst, const TensorBase& src) {
  const Stream from_stream = cuda_device_guard().get_stream(src.device());
  const Stream to_stream = cuda_device_guard().get_stream(dst.device());
  TensorBase from = src;
  if (!is_one_piece(src, dst)) {
    from = piece(dst, dst.dtype(), src.device());
    copy_within(from, src);
  }
  const TensorBase to = dst.is_contiguous() ? dst : piece(dst, dst.dtype(), dst.device());
  wait_for(from_stream, to_stream);
  KEYWAY_CUDA_CHECK(cudaMemcpyPeerAsync(to.data_ptr(), to.device().index(), from.data_ptr(), from.device().index(),
                                        to.nbytes(), runtime_stream(from_stream)));
  wait_for(to_stream, from_stream);
  if (!to.is_same(dst)) copy_within(dst, to);
}

}  // namespace

void copy_elements(const TensorBase& src, const TensorBase& dst) {
  if (src.dtype() == dst.dtype()) {
    move_elements(src, dst);
  } else {
    convert_elements(src, dst);
  }
}

void copy_(TensorBase& self, const TensorBase& src, bool non_blocking) {
  if (self.numel() == 0) return;
  if (self.device() == src.device()) {
    copy_within(self, src);
  } else if (src.device().type() == DeviceType::CPU) {
    copy_from_host(self, src, non_blocking);
  } else if (self.device().type() == DeviceType::CPU) {
    copy_to_host(self, src, non_blocking);
  } else {
    copy_to_peer(self, src);
  }
}

Scalar _local_scalar_dense(const TensorBase& self) {
  refuse_in_capture("reading an element on the host");
  const TensorBase host = make_tensor({}, self.dtype(), kCPU);
  move_bytes(host, self, stream_of(self.device()));
  cuda_device_guard().synchronize_stream(cuda_device_guard().get_stream(self.device()));
  return visit_any(self.dtype(), "item", [&]<typename T>() { return Scalar(*host.data_ptr<T>()); });
}

}  // namespace keyway::inline v1::cuda
