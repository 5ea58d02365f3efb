#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/first_use.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/dispatch/inspect/trace.h>

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <string>

namespace keyway::inline v1 {

namespace {

thread_local int depth = 0;

// Of all traces: a fork takes it.
constinit ForkSafeMutex trace_mutex(LockOrder::Notes);

class DispatchTrace : public CallObserver {
 public:
  explicit DispatchTrace(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  void call(const ObservedCall& call) override {
    std::string line = fmt::format("{:{}}{} -> {}", "", 2 * depth, call.op.short_name(), kernel_text(call.kernel));
    const std::string keys = argument_keys_text(call);
    if (!keys.empty()) line += "  " + keys;
    {
      const std::lock_guard lock(trace_mutex);
      write_(line);
    }
    struct Deeper {
      Deeper() { ++depth; }
      ~Deeper() { --depth; }
    } deeper;
    call.proceed();
  }

 private:
  static std::string kernel_text(const KernelInfo& kernel) {
    if (kernel.key == DispatchKey::Undefined) return "no kernel";
    std::string text = to_string(kernel.key);
    if (kernel.name[0] != '\0') text += fmt::format(" {}", kernel.name);
    if (kernel.file[0] != '\0') text += fmt::format(" ({}:{})", kernel.file, kernel.line);
    return text;
  }

  std::function<void(std::string_view)> write_;
};

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] != '\0' && std::string_view(value) != "0";
}

}  // namespace

std::shared_ptr<CallObserver> dispatch_trace(std::function<void(std::string_view)> write) {
  return std::make_shared<DispatchTrace>(std::move(write));
}

std::string argument_keys_text(const ObservedCall& call) {
  std::string text;
  const ArgumentList arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size() && call.first + i < call.stack.size(); ++i) {
    const DispatchKeySet keys = call.stack[call.first + i].tensor_keys();
    if (!keys.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : " ", arguments[i].name(), to_string(keys));
  }
  return text;
}

void detail::on_first_use() {
  if (is_on("KEYWAY_CHECK_SCHEMAS")) observe_calls(schema_checker()).release();
  if (is_on("KEYWAY_SHOW_DISPATCH_TRACE")) {
    const auto write = [](std::string_view line) {
      std::fprintf(stderr, "[keyway] %.*s\n", static_cast<int>(line.size()), line.data());
    };
    observe_calls(dispatch_trace(write)).release();
  }
}

}  // namespace keyway::inline v1
