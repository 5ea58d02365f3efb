#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstring>
#include <limits>
#include <utility>

namespace keyway::inline v1 {

namespace {
// What tensors have that stand for others: examples of vmap, and wrapper tensors of Python.
constexpr DispatchKeySet kMemorylessKeys =
    DispatchKeySet(Functionality::Batched) | DispatchKeySet(Functionality::Python);
}  // namespace

void TensorBase::check_data_access(ScalarType asked) const {
  KEYWAY_CHECK_AS(Type, asked == dtype(), "data_ptr: the tensor is {}, but its data is asked for as {}", dtype(),
                  asked);
  if (key_set().has(Functionality::Functionalize)) make_calls_pending_for(*this);
  if (!key_set().has_any(kMemorylessKeys)) return;
  // What it holds belongs to all examples, and the first one's address would be taken for its own.
  KEYWAY_CHECK_AS(Type, !key_set().has(Functionality::Batched),
                  "data_ptr: a tensor inside vmap has no memory of its own: a function that reads memory has to be an "
                  "operator, whose kernels vmap calls for each example");
  KEYWAY_FAIL(Type,
              "data_ptr: a wrapper tensor has no memory: a function that reads memory has to be an operator, which the "
              "wrapper's class answers");
}

void TensorBase::expose_bytes() const {
  if (storage()) keyway::expose_bytes(storage());
}

void TensorBase::check_reach_of_32_bits() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes().size() && numel() != 0; ++i) last += (sizes()[i] - 1) * strides()[i];
  KEYWAY_CHECK(last <= std::numeric_limits<std::int32_t>::max(),
               "packed_accessor32: the last element lies {} elements behind the first, out of reach of 32 bits", last);
}

namespace {

// A number that was made an enumerator may be none; Undefined stands for an absent dtype.
void check_dtype(ScalarType dtype) {
  KEYWAY_CHECK_AS(Type, static_cast<std::size_t>(dtype) < kNumScalarTypes, "dtype {} is none that a tensor can have",
                  dtype);
}

}  // namespace

TensorBase make_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  check_dtype(dtype);
  std::int64_t strides[kMaxDims];
  std::int64_t numel = 1;
  if (sizes.size() <= 4) [[likely]] {
    // Few dimensions with a small product need no general check.
    bool fine = true;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      strides[d] = numel;
      fine = fine && sizes[d] > 0 && !__builtin_mul_overflow(numel, sizes[d], &numel);
    }
    if (!fine) numel = -1;
  } else {
    numel = -1;
  }
  if (numel < 0) [[unlikely]] {
    numel = checked_numel(sizes);
    const DimVector computed = contiguous_strides(sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) strides[d] = computed[d];
  }
  std::size_t bytes = 0;
  KEYWAY_CHECK(!__builtin_mul_overflow(static_cast<std::size_t>(numel), element_size(dtype), &bytes) &&
                   bytes <= static_cast<std::size_t>(INT64_MAX),
               "sizes {} of {} exceed 2^63 - 1 bytes", sizes, dtype);
  return TensorBase(make_intrusive<TensorImpl>(make_storage(bytes, device), dtype, sizes,
                                               IntArrayRef(strides, sizes.size()), numel, true));
}

TensorBase make_tensor_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  check_dtype(dtype);
  const std::int64_t numel = checked_numel(sizes);
  const std::size_t bytes = checked_nbytes(sizes, strides, 0, element_size(dtype));
  return TensorBase(make_intrusive<TensorImpl>(make_storage(bytes, device), dtype, sizes, strides, numel, false));
}

TensorBase make_view(const TensorBase& base, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  KEYWAY_CHECK(sizes.size() <= static_cast<std::size_t>(kMaxDims),
               "a tensor has at most {} dimensions, but {} sizes are given", kMaxDims, sizes.size());
  std::int64_t numel = 1;
  bool overflow = false;  // a stride of 0 reaches nothing, and multiplies the elements
  for (std::int64_t size : sizes) overflow |= __builtin_mul_overflow(numel, size, &numel);
  if (overflow) [[unlikely]]
    numel = checked_numel(sizes);
  return TensorBase(make_intrusive<TensorImpl>(*base.impl(), sizes, strides, offset, numel));
}

void resize_tensor(const TensorBase& tensor, IntArrayRef sizes, IntArrayRef strides) {
  const std::int64_t numel = checked_numel(sizes);
  const DimVector fresh = strides.empty() ? contiguous_strides(sizes) : DimVector(strides);
  const std::size_t bytes = checked_nbytes(sizes, fresh, tensor.storage_offset(), tensor.itemsize());
  StorageImpl& storage = *tensor.storage().impl();
  if (bytes > storage.nbytes()) {
    make_calls_pending_for(tensor);
    KEYWAY_CHECK(storage.resizable(), "a storage of {} bytes that belongs to somebody else cannot grow to {}",
                 storage.nbytes(), bytes);
    if (tensor.is_meta()) {
      storage.set_data(DataPtr(nullptr, tensor.device()), bytes);
    } else {
      const OptionalDeviceGuard guard(tensor.is_cpu() ? std::nullopt : std::optional(tensor.device()));
      const std::optional<DeviceType> pinned = pinned_for(tensor);
      const DeviceType type = pinned.value_or(tensor.device().type());
      DataPtr data = type == DeviceType::CPU && find_allocator(type) == &host_allocator()
                         ? host_allocator().allocate(bytes)
                         : allocate_held(Device(type), pinned ? ResourceKind::Pinned : ResourceKind::Memory, bytes);
      if (storage.nbytes() != 0) {
        if (tensor.is_cpu()) {
          std::memcpy(data.get(), storage.data(), storage.nbytes());
        } else {
          get_allocator(type).copy_data(data.get(), storage.data(), storage.nbytes());
        }
      }
      storage.set_data(std::move(data), bytes);
    }
  }
  tensor.impl()->set_geometry(sizes, fresh, tensor.storage_offset(), numel);
}

namespace {
// First and last byte + 1 that a tensor reaches in its storage.
std::pair<std::size_t, std::size_t> extent(const TensorBase& tensor) {
  const auto first = static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
  return {first, checked_nbytes(tensor.sizes(), tensor.strides(), tensor.storage_offset(), tensor.itemsize())};
}
}  // namespace

Overlap overlap(const TensorBase& a, const TensorBase& b) {
  if (!a.is_alias_of(b) || a.numel() == 0 || b.numel() == 0) return Overlap::None;
  if (a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
      a.itemsize() == b.itemsize()) {
    return Overlap::Same;
  }
  const auto [a_first, a_end] = extent(a);
  const auto [b_first, b_end] = extent(b);
  return a_end <= b_first || b_end <= a_first ? Overlap::None : Overlap::Partial;
}

std::string describe(const TensorBase& tensor) {
  if (!tensor.defined()) return "undefined";
  const ScalarType dtype = tensor.dtype();  // a FormatArg only refers to what it prints
  const Device device = tensor.device();
  const FormatArg args[] = {dtype, tensor.sizes(), device};
  return format("{}{} on {}", args);
}

}  // namespace keyway::inline v1
