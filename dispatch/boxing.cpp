#include <keyway/dispatch/boxing.h>
#include <keyway/dispatch/operator_entry.h>

namespace keyway::inline v1::detail {

void fail_arguments(std::size_t wanted, std::size_t have) {
  KEYWAY_FAIL(Type, "the call takes {} arguments, but {} are on the stack", wanted, have);
}

void fail_results(const OperatorEntry& op, std::size_t wanted, std::size_t have) {
  KEYWAY_FAIL(Type, "a boxed kernel of {} left {} values on the stack, but the schema has {} results", op.full_name(),
              have, wanted);
}

void fail_foreign_result(const OperatorEntry& op) {
  KEYWAY_FAIL(Type, "a boxed kernel of {} returned a tensor that is none of the arguments its schema writes to",
              op.full_name());
}

}  // namespace keyway::inline v1::detail
