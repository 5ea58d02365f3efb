#include <keyway/autograd/anomaly_mode.h>

namespace keyway::inline v1::autograd::detail {

constinit std::atomic<std::uint8_t> anomaly_mode{kAnomalyChecksNan};

}  // namespace keyway::inline v1::autograd::detail
