#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/plugin/host_regions.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

// Where a region may begin: every dtype's elements, and vectors of them, are aligned there as on the device.
constexpr std::size_t kRegionAlignment = 64;

std::size_t reached_bytes(const TensorBase& tensor) {
  return tensor.numel() == 0 ? 0 : checked_nbytes(tensor.sizes(), tensor.strides(), 0, tensor.itemsize());
}
std::size_t first_byte(const TensorBase& tensor) {
  return static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
}
std::int64_t elements(std::size_t bytes, const TensorBase& tensor) {
  return static_cast<std::int64_t>(bytes / tensor.itemsize());
}

}  // namespace

void HostRegions::add(const TensorBase& tensor, bool only_written) {
  Region& region = regions_[tensor.storage().impl()];
  const bool is_first = !region.tensor.defined();
  if (is_first) region.tensor = tensor;
  // Whatever else reaches the storage may read what this one does not write.
  if (!is_first || !only_written || !tensor.is_non_overlapping_and_dense()) region.is_read = true;
  const std::size_t bytes = reached_bytes(tensor);
  if (bytes == 0) return;
  const std::size_t begin = first_byte(tensor), end = begin + bytes;
  const bool is_empty = region.end == 0;
  region.begin = is_empty ? begin : std::min(region.begin, begin);
  region.end = std::max(region.end, end);
}

void HostRegions::copy_to_host() {
  for (auto& [storage, region] : regions_) {
    const std::size_t padding = region.begin % kRegionAlignment;
    const std::size_t bytes = region.end - region.begin;
    region.begin -= padding;
    region.host = make_storage(padding + bytes, DeviceType::CPU);
    if (!region.is_read || bytes == 0) continue;
    const DeviceGuard guard(region.tensor.device());
    get_allocator(region.tensor.device().type())
        .copy_to_host(static_cast<char*>(region.host.data()) + padding,
                      static_cast<const char*>(storage->data()) + region.begin + padding, bytes);
    bytes_to_host_ += bytes;
  }
}

TensorBase HostRegions::on_host(const TensorBase& tensor) {
  for (const Like& like : likes_) {
    if (like.device.is_same(tensor)) return like.host;
  }
  const Region& region = regions_.at(tensor.storage().impl());
  const std::int64_t offset = tensor.numel() == 0 ? 0 : tensor.storage_offset() - elements(region.begin, tensor);
  const TensorBase host(
      make_intrusive<TensorImpl>(region.host, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.numel(), false));
  host.impl()->set_geometry(tensor.sizes(), tensor.strides(), offset, tensor.numel());
  likes_.push_back({tensor, host});
  return host;
}

std::optional<TensorBase> HostRegions::on_device(const TensorBase& result) const {
  for (const Like& like : likes_) {
    if (like.host.is_same(result)) return like.device;
  }
  for (const auto& [storage, region] : regions_) {
    if (region.host.impl() != result.storage().impl()) continue;
    const TensorBase view = make_view(region.tensor, result.sizes(), result.strides(),
                                      result.storage_offset() + elements(region.begin, result));
    view.impl()->set_dtype(result.dtype());
    return view;
  }
  return std::nullopt;
}

void HostRegions::write_back(const TensorBase& tensor) {
  const TensorBase host = on_host(tensor);
  if (host.sizes() != tensor.sizes() || host.strides() != tensor.strides()) {
    resize_tensor(tensor, host.sizes(), host.strides());
  }
  copy_bytes_to_device(tensor, host);
}

TensorBase HostRegions::copy_to_device(const TensorBase& tensor, Device device) {
  const TensorBase copy = make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), device);
  copy_bytes_to_device(copy, tensor);
  return copy;
}

void HostRegions::copy_bytes_to_device(const TensorBase& to, const TensorBase& from) {
  const std::size_t bytes = reached_bytes(from);
  if (bytes == 0) return;
  const DeviceGuard guard(to.device());
  get_allocator(to.device().type()).copy_from_host(to.data_ptr(), from.data_ptr(), bytes);
  bytes_to_device_ += bytes;
}

}  // namespace keyway::inline v1
