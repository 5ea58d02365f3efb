#include <keyway/core/base/hash.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/fuzz/random.h>
#include <keyway/tools/keyway/fuzz/snapshot.h>

namespace keyway::inline v1::tools {

namespace {

std::uint64_t hash_of_storage(const TensorBase& tensor) {
  const Storage& storage = tensor.storage();
  if (storage.data() == nullptr || storage.device().type() != DeviceType::CPU) return 0;
  return fnv1a({static_cast<const char*>(storage.data()), storage.nbytes()});
}

}  // namespace

Snapshot::Snapshot(const Stack& arguments) {
  const auto see = [&](std::size_t argument, const TensorBase& tensor) {
    seen_.push_back({argument, tensor, DimVector(tensor.sizes().begin(), tensor.sizes().end()),
                     DimVector(tensor.strides().begin(), tensor.strides().end()), tensor.storage_offset(),
                     tensor.dtype(), hash_of_storage(tensor)});
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    any_tensor(arguments[i], [&](const TensorBase& tensor) {
      see(i, tensor);
      return false;  // and go on
    });
  }
}

namespace {

std::string changed_metadata(const TensorBase& now, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset,
                             ScalarType dtype) {
  if (now.sizes() != sizes) return "its sizes";
  if (now.strides() != strides) return "its strides";
  if (now.storage_offset() != offset) return "its offset";
  return now.dtype() != dtype ? "its dtype" : "";
}

}  // namespace

Snapshot::Difference Snapshot::compare(const std::vector<bool>& metadata, const std::vector<bool>& elements) const {
  for (const Seen& seen : seen_) {
    std::string text;
    if (!metadata[seen.argument]) {
      text = changed_metadata(seen.tensor, seen.sizes, seen.strides, seen.offset, seen.dtype);
    }
    if (text.empty() && !elements[seen.argument] && hash_of_storage(seen.tensor) != seen.bytes) text = "its elements";
    if (!text.empty()) return {seen.argument, text};
  }
  return {};
}

}  // namespace keyway::inline v1::tools
