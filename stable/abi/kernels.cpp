#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/base/small_vector.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/kernels.h>
#include <keyway/stable/abi/slots.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace keyway::inline v1::abi {

namespace {

struct AbiKernel {
  KeywayKernel function;
  LibraryResources* library;  // that was being loaded as it was registered; null if none was
};

// A call of a kernel, as long as it runs.
class RunningKernel {
 public:
  explicit RunningKernel(const AbiKernel& kernel) : kernel_(kernel), outer_(std::exchange(innermost_, this)) {}
  ~RunningKernel() { innermost_ = outer_; }
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

  static RunningKernel* innermost() { return innermost_; }
  LibraryResources* library() const { return kernel_.library; }

  std::optional<std::string> failure;  // what keyway_abi_fail said

 private:
  static constinit thread_local RunningKernel* innermost_;
  const AbiKernel& kernel_;
  RunningKernel* const outer_;
};
constinit thread_local RunningKernel* RunningKernel::innermost_ = nullptr;

// Runs a kernel on its slots. What it throws after a call of its own failed says why that one failed, too: some
// libraries only say which it was.
void run(const AbiKernel& kernel, StableIValue* slots, std::size_t num_arguments, std::size_t num_results) {
  const std::uint64_t failures = failure_count();
  RunningKernel running(kernel);
  try {
    kernel.function(slots, num_arguments, num_results);
  } catch (const std::exception& error) {
    const std::string text = error.what(), why = last_error();
    if (failure_count() == failures || text.find(why) != std::string::npos) throw;
    throw std::runtime_error(text + ": " + why);
  }
  if (running.failure) KEYWAY_FAIL(Value, "{}", *running.failure);
}

void call(const OperatorEntry& op, const KernelBase& self, DispatchKeySet, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const ArgumentList arguments = schema.arguments(), results = schema.returns();
  const std::size_t first = stack.size() - arguments.size();
  SmallVector<StableIValue, 16> slots(std::max(arguments.size(), results.size()), 0);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    slots[i] = make_slot(arguments[i].type(), std::move(stack[first + i]));
  stack.resize(first);

  run(*static_cast<const AbiKernel*>(self.context), slots.data(), arguments.size(), results.size());
  for_each_index(results.size(), [&](std::size_t i) { stack.push_back(take_slot(results[i].type(), slots[i])); });
}

}  // namespace

AnyKernel kernel_of(KeywayKernel function) {
  const auto kernel = std::make_shared<AbiKernel>(AbiKernel{function, LibraryUndoLog::loading()});
  AnyKernel any = make_boxed_kernel(call, kernel.get());
  any.callable = kernel;
  return any;
}

LibraryResources* library_of_running_kernel() noexcept {
  const RunningKernel* const running = RunningKernel::innermost();
  return running == nullptr ? nullptr : running->library();
}

}  // namespace keyway::inline v1::abi

void keyway_abi_fail(const char* message) {
  using keyway::abi::RunningKernel;
  if (RunningKernel* const running = RunningKernel::innermost())
    running->failure = message == nullptr ? keyway::abi::last_error() : message;
}
