#include <keyway/autocast/cast_cache.h>
#include <keyway/core/base/error.h>
#include <keyway/core/thread_state.h>
#include <keyway/ops/copy.h>

#include <unordered_map>
#include <utility>

namespace keyway::inline v1::autocast {
namespace {

struct Conversion {
  Tensor source;  // holds the address that the conversion is found by
  const StorageImpl* storage;
  std::uint32_t version;
  Tensor result;

  // The source may have been changed in place since, or have got other memory.
  bool is_of(const TensorBase& tensor, ScalarType dtype) const {
    return storage == tensor.storage().impl() && version == tensor._version() && result.dtype() == dtype;
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
  Conversion made{source, tensor.storage().impl(), tensor._version(), _to_copy(source, dtype)};
  return conversions.insert_or_assign(tensor.impl(), std::move(made)).first->second.result;
}

int enter_region() { return ++regions; }

int leave_region() {
  KEYWAY_CHECK(regions > 0, "autocast: a region is left that was not entered");
  if (--regions == 0) forget_casts();
  return regions;
}

bool keeps_casts() { return keeps; }
void keep_casts(bool keep) { keeps = keep; }

// What is freed may call operators of its own: the map is empty by then.
void forget_casts() { const auto freed = std::exchange(conversions, {}); }

}  // namespace keyway::inline v1::autocast
