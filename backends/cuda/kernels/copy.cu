// The operators of the family copy: between elements of one device, and between devices.
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/events.h>
#include <keyway/backends/cuda/driver/peer_access.h>
#include <keyway/backends/cuda/driver/pinned_allocator.h>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/host_copy.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_copy.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/tensor/pinned_memory.h>

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

Stream stream_of(Device device) { return cuda_device_guard().get_stream(device); }

void move_bytes(const TensorBase& dst, const TensorBase& src, Stream stream) {
  KEYWAY_CUDA_CHECK(
      cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), dst.nbytes(), cudaMemcpyDefault, runtime_stream(stream)));
}

// A tensor whose bytes are those of `like` as one piece.
bool is_one_piece(const TensorBase& tensor, const TensorBase& like) {
  return tensor.is_contiguous() && tensor.sizes() == like.sizes() && tensor.dtype() == like.dtype();
}

// Memory of the CPU is pinned if the copy goes on while the host does.
TensorBase piece(const TensorBase& like, ScalarType dtype, Device device, bool goes_on = false) {
  if (goes_on && device.is_cpu()) return make_pinned_tensor(like.sizes(), {}, dtype, device);
  const OptionalDeviceGuard guard(device.type() == DeviceType::CUDA ? std::optional(device) : std::nullopt);
  return make_tensor(like.sizes(), dtype, device);
}

void copy_within(const TensorBase& dst, const TensorBase& src) {
  const DeviceGuard guard(dst.device());
  const bool shares = dst.is_alias_of(src);
  const bool identical = shares && dst.storage_offset() == src.storage_offset() && dst.sizes() == src.sizes() &&
                         dst.strides() == src.strides() && dst.dtype() == src.dtype();
  if (identical) return;
  if (!shares) return copy_elements(src, dst);
  // What overlaps is read whole before any of it is written.
  const TensorBase apart = piece(src, src.dtype(), src.device());
  copy_elements(src, apart);
  copy_elements(apart, dst);
}

// What is not pinned has been read when this returns.
void copy_from_host(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  refuse_in_capture("a copy from the host");
  const Stream stream = stream_of(dst.device());
  const bool goes_on = non_blocking && is_pinned(src);
  TensorBase from = src;
  if (!src.is_contiguous()) {
    from = piece(src, src.dtype(), kCPU, goes_on);
    copy_on_host(from, src);
  }
  const TensorBase to = is_one_piece(dst, src) ? dst : piece(src, src.dtype(), dst.device());
  if (goes_on) pinned_allocator().record_stream(from.data_ptr(), stream);
  move_bytes(to, from, stream);
  if (!to.is_same(dst)) copy_within(dst, to);
  if (!goes_on) cuda_device_guard().synchronize_stream(stream);
}

// What is not pinned, or has to be put in place by the host, has been written when this returns.
void copy_to_host(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  refuse_in_capture("a copy to the host");
  const Stream stream = stream_of(src.device());
  const bool goes_on = non_blocking && dst.is_contiguous() && is_pinned(dst);
  TensorBase from = src;
  if (!is_one_piece(src, dst)) {
    from = piece(dst, dst.dtype(), src.device());
    copy_within(from, src);
  }
  const TensorBase to = dst.is_contiguous() ? dst : piece(dst, dst.dtype(), kCPU);
  if (goes_on) pinned_allocator().record_stream(to.data_ptr(), stream);
  move_bytes(to, from, stream);
  if (goes_on) return;
  cuda_device_guard().synchronize_stream(stream);
  if (!to.is_same(dst)) copy_on_host(dst, to);
}

void move_to_peer(const TensorBase& dst, const TensorBase& src, Stream stream) {
  KEYWAY_CUDA_CHECK(cudaMemcpyPeerAsync(dst.data_ptr(), dst.device().index(), src.data_ptr(), src.device().index(),
                                        dst.nbytes(), runtime_stream(stream)));
}

// In the current stream of the target's device, after what that of the source's has before; what the latter gets later
// comes after the copy.
void copy_to_peer(const TensorBase& dst, const TensorBase& src) {
  refuse_in_capture("a copy between devices");
  const DeviceGuard guard(dst.device());
  const Stream stream = stream_of(dst.device()), other = stream_of(src.device());
  const bool reaches = has_peer_access(dst.device().index(), src.device().index());
  const bool one_piece = dst.is_contiguous() && is_one_piece(src, dst);
  TensorBase from = src;
  if (!reaches && !is_one_piece(src, dst)) {
    from = piece(dst, dst.dtype(), src.device());
    copy_within(from, src);
  }
  wait_for(stream, other);
  if (one_piece) {
    move_to_peer(dst, src, stream);
  } else if (reaches) {
    copy_elements(src, dst);
  } else {
    const TensorBase to = dst.is_contiguous() ? dst : piece(dst, dst.dtype(), dst.device());
    move_to_peer(to, from, stream);
    if (!to.is_same(dst)) copy_within(dst, to);
  }
  wait_for(other, stream);
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
  cuda_device_guard().synchronize_stream(stream_of(self.device()));
  return visit_dtype<kCastTypes>(self.dtype(), "item", [&]<typename T>() { return Scalar(*host.data_ptr<T>()); });
}

}  // namespace keyway::inline v1::cuda
