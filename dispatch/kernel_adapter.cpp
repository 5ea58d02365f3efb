#include <keyway/dispatch/kernel_adapter.h>

namespace keyway::inline v1::detail {

void fail_arguments(std::size_t wanted, std::size_t have) {
  KEYWAY_FAIL(Type, "the call takes {} arguments, but {} are on the stack", wanted, have);
}

void fail_results(std::size_t wanted, std::size_t have) {
  KEYWAY_FAIL(Type, "a boxed kernel left {} values on the stack, but the schema has {} results", have, wanted);
}

void fail_foreign_result() {
  KEYWAY_FAIL(Type, "a boxed kernel returned a tensor that is none of the arguments its schema writes to");
}

}  // namespace keyway::inline v1::detail
