#include <keyway/autocast/autocast.h>
#include <keyway/autocast/cast_cache.h>
#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/copy.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace keyway::inline v1::autocast {
namespace {

struct Conversion {
  // Both hold the addresses that the conversion is known by.
  Tensor source;
  Storage storage;
  std::uint32_t version;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset;
  Tensor result;

  Conversion(const Tensor& from, ScalarType dtype)
      : source(from),
        storage(from.storage()),
        version(from._version()),
        sizes(from.sizes().vec()),
        strides(from.strides().vec()),
        offset(from.storage_offset()),
        result(_to_copy(from, dtype)) {}

  // The source may have been changed in place since, or its `data` may be another tensor's.
  bool is_of(const TensorBase& tensor, ScalarType dtype) const {
    return storage.impl() == tensor.storage().impl() && version == tensor._version() && tensor.sizes() == sizes &&
           tensor.strides() == strides && tensor.storage_offset() == offset && result.dtype() == dtype;
  }
};

constinit thread_local int regions = 0;
constinit thread_local bool keeps = true;
thread_local std::unordered_map<const TensorImpl*, Conversion> conversions;

// A conversion that is not recorded for backward is of no use to a call that is. Tensors of inference mode have no
// version that would say that they were changed.
bool is_kept(const TensorBase& tensor) {
  return keeps && regions > 0 && tensor.dtype() == ScalarType::Float && tensor.is_leaf() && tensor.requires_grad() &&
         !tensor.is_inference() && grad_enabled();
}

}  // namespace

TensorBase cast(const TensorBase& tensor, ScalarType dtype) {
  const auto& source = static_cast<const Tensor&>(tensor);
  if (!is_kept(tensor)) return _to_copy(source, dtype);
  const auto found = conversions.find(tensor.impl());
  if (found != conversions.end() && found->second.is_of(tensor, dtype)) return found->second.result;
  return conversions.insert_or_assign(tensor.impl(), Conversion(source, dtype)).first->second.result;
}

int leave_region() {
  if (regions == 0) return -1;
  if (--regions == 0) clear_autocast_cache();
  return regions;
}

}  // namespace keyway::inline v1::autocast

namespace keyway::inline v1 {

bool is_autocast_cache_enabled() { return autocast::keeps; }
void set_autocast_cache_enabled(bool enabled) { autocast::keeps = enabled; }

// What is freed may call operators of its own: the map is empty by then.
void clear_autocast_cache() { const auto freed = std::exchange(autocast::conversions, {}); }

int autocast_increment_nesting() { return ++autocast::regions; }

int autocast_decrement_nesting() {
  const int left = autocast::leave_region();
  KEYWAY_CHECK(left >= 0, "autocast: a region is left that was not entered");
  return left;
}

}  // namespace keyway::inline v1
