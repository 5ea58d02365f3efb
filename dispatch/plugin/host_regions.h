// HostRegions: the memory of devices that the tensors of a call reach, copied to the CPU. Internal to dispatch/.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace keyway::inline v1 {

// First every tensor is added, then copy_to_host() copies each storage's bytes from the first to the last that one of
// them reaches:
//
//   storage of the device   ........[=====a=====]..[====b====].......
//   region on the CPU               [===========]..[=========]
//
// So tensors that share memory on the device do so on the CPU.
class HostRegions {
 public:
  // A tensor of a device other than the CPU and Meta. What is only written, and dense, need not be copied.
  void add(const TensorBase& tensor, bool only_written);
  void copy_to_host();

  bool has(const TensorBase& tensor) const { return regions_.count(tensor.storage().impl()) != 0; }
  // The tensor's like on the CPU; one tensor has one. Requires: it was added.
  TensorBase on_host(const TensorBase& tensor);
  // The tensor of the device for what a kernel of the CPU gave: the one that it is the like of, or a view of that
  // one's memory; nullopt if it is neither.
  std::optional<TensorBase> on_device(const TensorBase& result) const;
  // Writes the tensor's like back over it, and gives it its geometry. Requires: it was added.
  void write_back(const TensorBase& tensor);
  // A copy of a tensor of the CPU on a device.
  TensorBase copy_to_device(const TensorBase& tensor, Device device);

  std::uint64_t bytes_to_host() const { return bytes_to_host_; }
  std::uint64_t bytes_to_device() const { return bytes_to_device_; }

 private:
  struct Region {
    TensorBase tensor;               // one of those that share the storage
    std::size_t begin = 0, end = 0;  // bytes of the storage; none if both are 0
    bool is_read = false;
    Storage host;
  };
  struct Like {
    TensorBase device, host;
  };
  void copy_bytes_to_device(const TensorBase& to, const TensorBase& from);

  std::unordered_map<StorageImpl*, Region> regions_;
  std::deque<Like> likes_;
  std::uint64_t bytes_to_host_ = 0, bytes_to_device_ = 0;
};

}  // namespace keyway::inline v1
