#include <keyway/core/base/warning.h>
#include <keyway/stable/abi/errors.h>

#include <cstdint>
#include <exception>
#include <stdexcept>

namespace keyway::inline v1::abi {

namespace {

constinit thread_local std::uint64_t failures_of_thread = 0;

std::string& message_of_thread() {
  thread_local std::string message;
  return message;
}

}  // namespace

const char* last_error() noexcept { return message_of_thread().c_str(); }

std::uint64_t failure_count() noexcept { return failures_of_thread; }

void remember_exception(const char* function) noexcept {
  ++failures_of_thread;
  std::string& message = message_of_thread();
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      message = std::string(function) + ": " + error.what();
    } catch (...) {
      message = std::string(function) + ": what was thrown is no std::exception";
    }
  } catch (...) {  // no memory for the text
    message.clear();
  }
}

}  // namespace keyway::inline v1::abi

using namespace keyway::abi;

const char* torch_exception_get_what() { return last_error(); }
const char* torch_exception_get_what_without_backtrace() { return last_error(); }

namespace {

// "message (function at file:line)".
std::string with_place(const char* message, const char* function, const char* file, std::uint32_t line) {
  const auto text = [](const char* part) { return std::string(part == nullptr ? "?" : part); };
  return text(message) + " (" + text(function) + " at " + text(file) + ":" + std::to_string(line) + ")";
}

}  // namespace

void aoti_torch_check(bool condition, const char* function, const char* file, std::uint32_t line, const char* message) {
  if (!condition) throw std::runtime_error(with_place(message, function, file, line));
}
void aoti_torch_warn(const char* function, const char* file, std::uint32_t line, const char* message) {
  keyway::try_warn(with_place(message, function, file, line));
}
