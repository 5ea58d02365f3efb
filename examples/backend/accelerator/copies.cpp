// Copies: within a device, between devices, and between a device and the host.
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/ops/functors/copy.h>

#include <accelerator/kernels.h>
#include <cstring>

namespace accelerator {

using namespace keyway;

namespace {

template <typename T>
struct Full {
  T value;
  T operator()() const { return value; }
};

template <typename T>
struct Identity {
  T operator()(T x) const { return x; }
};

bool is_piece(const TensorBase& tensor, const TensorBase& like) {
  return tensor.is_contiguous() && tensor.dtype() == like.dtype() && tensor.sizes() == like.sizes();
}

// Queues the conversion of all elements in the current stream. Requires: both on its device.
void convert(const TensorBase& to, const TensorBase& from) {
  visit<kAll>(to.dtype(), [&]<typename To>() {
    visit<kAll>(from.dtype(), [&]<typename From>() { pointwise(Cast<To, From>{}, to, from); });
  });
}

// Queues it from one device to another, or between a device and the host. Requires: both are pieces.
void move_bytes(const TensorBase& to, const TensorBase& from, Device device, const Storage& kept = {}) {
  current_queue(device).push(
      [to = to.data_ptr(), from = from.data_ptr(), bytes = from.nbytes(), kept] { copy_bytes(to, from, bytes); });
}

void copy_within(const TensorBase& to, const TensorBase& from) {
  if (!to.is_alias_of(from)) return convert(to, from);
  // What overlaps is read whole before any of it is written.
  const TensorBase apart = make_tensor(from.sizes(), from.dtype(), from.device());
  convert(apart, from);
  convert(to, apart);
}

// Later work of `stream` waits for what is queued in the other now.
void wait_for(const Stream& stream, const Stream& other) {
  Event event(other.device_type());
  event.record(other);
  event.block(stream);
}

// Only whole pieces travel. The source's device puts the elements in order, and the target's in their places.
void copy_to_peer(const TensorBase& to, const TensorBase& from) {
  TensorBase sent = from, received = to;
  if (!is_piece(from, to)) {
    const DeviceGuard guard(from.device());
    sent = make_tensor(to.sizes(), to.dtype(), from.device());
    convert(sent, from);
  }
  const DeviceGuard guard(to.device());
  if (!to.is_contiguous()) received = make_tensor(to.sizes(), to.dtype(), to.device());
  const Stream here = current_stream(to.device()), there = current_stream(from.device());
  wait_for(here, there);
  move_bytes(received, sent, to.device());
  wait_for(there, here);  // whoever writes to the source, or gets its memory, comes later
  if (!received.is_same(to)) convert(to, received);
}

// Memory that is not pinned has been read when this returns.
void copy_from_host(const TensorBase& to, const TensorBase& from, bool non_blocking) {
  accept_if(from.is_contiguous(), "only whole pieces of the host's memory travel");
  const TensorBase received = is_piece(to, from) ? to : make_tensor(from.sizes(), from.dtype(), to.device());
  const bool goes_on = non_blocking && is_pinned(from, to.device().type());
  move_bytes(received, from, to.device(), from.storage());  // which keeps pinned memory until then
  if (!received.is_same(to)) convert(to, received);
  if (!goes_on) current_stream(to.device()).synchronize();
}

// Memory that is not pinned has been written when this returns.
void copy_to_host(const TensorBase& to, const TensorBase& from, bool non_blocking) {
  accept_if(to.is_contiguous(), "only whole pieces of the host's memory travel");
  TensorBase sent = from;
  if (!is_piece(from, to)) {
    sent = make_tensor(to.sizes(), to.dtype(), from.device());
    convert(sent, from);
  }
  move_bytes(to, sent, from.device(), to.storage());
  if (!non_blocking || !is_pinned(to, from.device().type())) current_stream(from.device()).synchronize();
}

void copy(TensorBase& self, const TensorBase& src, bool non_blocking) {
  accept_if(kAll.contains(self.dtype()) && kAll.contains(src.dtype()), "the accelerator does not convert these");
  const TensorBase from = src.sizes() == self.sizes() ? src : expanded_to(src, self.sizes());
  if (self.numel() == 0) return;
  const DeviceGuard guard(self.is_cpu() ? src.device() : self.device());
  if (self.device() == src.device()) return copy_within(self, from);
  if (self.is_cpu()) return copy_to_host(self, from, non_blocking);
  if (src.is_cpu()) return copy_from_host(self, from, non_blocking);
  accept_if(self.device().type() == src.device().type(), "the accelerator reaches no other type of device");
  copy_to_peer(self, from);
}

Scalar read_number(const TensorBase& self) {
  std::uint64_t bytes[2] = {};  // of the widest dtype
  const Stream stream = current_stream(self.device());
  current_queue(self.device()).push([&, from = self.data_ptr()] { copy_bytes(bytes, from, self.itemsize()); });
  stream.synchronize();
  return visit_dtype<kCastTypes>(self.dtype(), "item", [&]<typename T>() {
    T number;
    std::memcpy(static_cast<void*>(&number), bytes, sizeof(T));
    return Scalar(number);
  });
}

void fill(const TensorBase&, const Scalar& value, TensorBase& out) {
  visit<kAll>(out.dtype(), [&]<typename T>() { pointwise(Full<T>{value.to<T>()}, out); });
}

void cat(ArrayRef<TensorBase> tensors, std::int64_t dim, TensorBase& out) {
  accept_if(kAll.contains(out.dtype()), "the accelerator does not move these");
  std::int64_t begin = 0;
  for (const TensorBase& tensor : tensors) {
    const auto d = static_cast<std::size_t>(dim);
    if (tensor.dim() == 1 && tensor.numel() == 0) continue;  // fits anywhere
    const TensorBase part =
        make_view(out, tensor.sizes(), out.strides(), out.storage_offset() + begin * out.strides()[d]);
    convert(part, tensor);
    begin += tensor.sizes()[d];
  }
}

}  // namespace

void register_copies(Library& m) {
  serve(m, "copy_", copy);
  m.kernel("_local_scalar_dense", read_number);
  serve(m, "fill.Scalar", fill);
  serve(m, "cat", cat);
}

}  // namespace accelerator
