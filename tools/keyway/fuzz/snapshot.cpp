#include <keyway/tools/keyway/fuzz/random.h>
#include <keyway/tools/keyway/fuzz/snapshot.h>

namespace keyway::inline v1::tools {

namespace {

std::uint64_t hash_of_storage(const TensorBase& tensor) {
  const Storage& storage = tensor.storage();
  if (storage.data() == nullptr || storage.device().type() != DeviceType::CPU) return 0;
  return hash_of({static_cast<const char*>(storage.data()), storage.nbytes()});
}

}  // namespace

Snapshot::Snapshot(const Stack& arguments) {
  const auto see = [&](std::size_t argument, const TensorBase& tensor) {
    if (!tensor.defined()) return;
    seen_.push_back({argument, tensor, DimVector(tensor.sizes().begin(), tensor.sizes().end()),
                     DimVector(tensor.strides().begin(), tensor.strides().end()), tensor.storage_offset(),
                     tensor.dtype(), hash_of_storage(tensor)});
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_tensor()) see(i, arguments[i].to_tensor());
    if (!arguments[i].is(ValueTag::TensorList)) continue;
    for (const TensorBase& tensor : arguments[i].to_tensor_list()) see(i, tensor);
  }
}

Snapshot::Difference Snapshot::compare(const std::vector<bool>& written) const {
  for (const Seen& seen : seen_) {
    if (written[seen.argument]) continue;
    const TensorBase& now = seen.tensor;
    if (now.sizes() != IntArrayRef(seen.sizes)) return {seen.argument, "its sizes"};
    if (now.strides() != IntArrayRef(seen.strides)) return {seen.argument, "its strides"};
    if (now.storage_offset() != seen.offset) return {seen.argument, "its offset"};
    if (now.dtype() != seen.dtype) return {seen.argument, "its dtype"};
    if (hash_of_storage(now) != seen.bytes) return {seen.argument, "its elements"};
  }
  return {};
}

}  // namespace keyway::inline v1::tools
