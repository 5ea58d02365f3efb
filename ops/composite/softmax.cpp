#include <keyway/ops/creation.h>
#include <keyway/ops/softmax.h>
#include <keyway/ops/softmax_composites.h>

namespace keyway::inline v1::composite {

Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
  return keyway::_softmax(dtype ? self.to(*dtype) : self, dim, false);
}

Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
  return keyway::_log_softmax(dtype ? self.to(*dtype) : self, dim, false);
}

}  // namespace keyway::inline v1::composite
