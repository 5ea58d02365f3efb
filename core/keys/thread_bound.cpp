#include <keyway/core/keys/thread_bound.h>

namespace keyway::inline v1 {

constinit thread_local ThreadBound thread_bound;

}  // namespace keyway::inline v1
