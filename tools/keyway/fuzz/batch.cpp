#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/tools/keyway/fuzz/batch.h>
#include <keyway/tools/keyway/fuzz/promise_judge.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace keyway::inline v1::tools {

namespace {

// What lies in the memory that parent and child share.
struct Shared {
  struct Entry {
    std::size_t index;
    Verdict verdict;
    char text[600];
  };
  static constexpr std::size_t kEntries = 64;

  std::atomic<bool> started;         // calls are being made
  std::atomic<std::size_t> current;  // the call that is being made
  std::atomic<bool> finished;
  std::atomic<bool> leaked;
  std::size_t counts[kVerdicts];
  Verdict verdicts[kMaxBatch];  // from the first call on
  std::size_t entry_count;
  Entry entries[kEntries];
};

class SharedMemory {
 public:
  SharedMemory() {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory for a child");
    shared_ = new (memory) Shared{};
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  Shared* operator->() const { return shared_; }
  Shared& operator*() const { return *shared_; }

 private:
  Shared* shared_;
};

// A file in memory that takes what a child writes to its standard error.
class ErrorOutput {
 public:
  ErrorOutput() : file_(memfd_create("keyway fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("no file for a child's error output");
  }
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;
  ~ErrorOutput() { close(file_); }

  void redirect() const { dup2(file_, STDERR_FILENO); }
  // The line that says most: a sanitizer's summary, or the last one.
  std::string summary() const {
    std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(file_, 0, SEEK_END), 0)), '\0');
    const ssize_t size = pread(file_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    for (const char* word : {"runtime error:", "SUMMARY:", "terminate called", "ERROR:"}) {
      const std::size_t at = text.find(word);
      if (at == std::string::npos) continue;
      const std::size_t begin = text.rfind('\n', at) + 1;
      std::string line = text.substr(begin, text.find('\n', at) - begin);
      // Where a sanitizer's report begins is worth more than its summary's library.
      const std::size_t frame = text.find("    #0 ", begin);
      if (frame != std::string::npos) line += text.substr(frame + 3, text.find('\n', frame) - frame - 3);
      return line;
    }
    return {};
  }

 private:
  int file_;
};

// Ends the child with a signal if a call takes too long: SIGPROF for processor time, SIGALRM by the clock.
void watch(double seconds) {
  const auto time_of = [](double value) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(value);
    timer.it_value.tv_usec = static_cast<suseconds_t>((value - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
    return timer;
  };
  const itimerval processor = time_of(seconds), clock = time_of(5 * seconds);
  setitimer(ITIMER_PROF, &processor, nullptr);
  setitimer(ITIMER_REAL, &clock, nullptr);
}

bool keeps_memory(DeviceType type) { return find_device_allocator(type) != nullptr; }

// Of a device's memory: 2 GiB, or what there is; of a device that does not say how much, a hundredth.
double part_for_a_child(DeviceType type) {
  constexpr double kBytes = std::size_t{2} << 30;
  try {
    return std::clamp(kBytes / static_cast<double>(get_memory_info(Device(type)).total), 0.01, 1.0);
  } catch (const Error&) {
    return 0.01;
  }
}

// Requires: the device is started.
void limit_child(const BatchLimits& limits, [[maybe_unused]] DeviceType device) {
#if !defined(KEYWAY_SANITIZED)
  // Handlers of the parent, a test program's for one, are not the child's; a sanitizer's are.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
#endif
  set_host_memory_limit(limits.bytes);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
#if !defined(KEYWAY_SANITIZED)
  // The sanitizers reserve terabytes of addresses, and so do drivers of devices. The memory of a device that is made of
  // software is the host's.
  const rlimit space{rlim_t{4} << 30, rlim_t{4} << 30};
  if (device == DeviceType::CPU) {
    setrlimit(RLIMIT_AS, &space);
  } else if (!keeps_memory(device)) {
    setrlimit(RLIMIT_DATA, &space);
  }
#endif
}

void record(Shared& shared, std::size_t index, const Outcome& outcome) {
  ++shared.counts[static_cast<std::size_t>(outcome.verdict)];
  if (!is_failure(outcome.verdict) || shared.entry_count == Shared::kEntries) return;
  Shared::Entry& entry = shared.entries[shared.entry_count];
  entry.index = index;
  entry.verdict = outcome.verdict;
  const std::size_t size = std::min(outcome.text.size(), sizeof(entry.text) - 1);
  std::memcpy(entry.text, outcome.text.data(), size);
  entry.text[size] = '\0';
  ++shared.entry_count;
}

[[noreturn]] void run_child(Shared& shared, const Calls& calls, const Judge& judge, std::size_t begin, std::size_t end,
                            const BatchLimits& limits) {
  try {
    start_device(judge.device());
    limit_child(limits, judge.device());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ERROR: {}\n", error.what());
    std::fflush(stderr);
    _exit(1);
  }
  shared.started = true;
  // The first call of a library of the toolkit loads it.
  const double seconds = judge.device() == DeviceType::CPU ? limits.seconds : 10 * limits.seconds;
  for (std::size_t index = begin; index < end; ++index) {
    shared.current = index;
    watch(seconds);
    manual_seed(index);
    Outcome outcome;
    try {
      outcome = judge.judge(calls(index));
    } catch (const Error& error) {
      const bool is_memory = error.kind() == ErrorKind::OutOfMemory;  // for what the judge itself computes
      outcome = {is_memory ? Verdict::NotServed : Verdict::ForeignException,
                 std::string("outside the call: ") + error.what()};
    } catch (const std::exception& error) {
      outcome = {Verdict::ForeignException, std::string("outside the call: ") + error.what()};
    }
    shared.verdicts[index - begin] = outcome.verdict;
    record(shared, index, outcome);
  }
  watch(0);
#if defined(__SANITIZE_ADDRESS__)
  shared.leaked = __lsan_do_recoverable_leak_check() != 0;
#endif
  shared.finished = true;
  _exit(0);
}

// What ended a child that did not finish.
Outcome death(int status, const ErrorOutput& output) {
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)) {
    return {Verdict::Hang, WTERMSIG(status) == SIGPROF ? "took too much processor time" : "took too long"};
  }
  std::string text = WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                         : fmt::format("the process ended with status {}", WEXITSTATUS(status));
  const std::string summary = output.summary();
  return {Verdict::Crash, summary.empty() ? text : text + ": " + summary};
}

BatchResult result_of(const Shared& shared) {
  BatchResult result;
  std::copy(std::begin(shared.counts), std::end(shared.counts), result.counts.begin());
  for (std::size_t i = 0; i < shared.entry_count; ++i) {
    const Shared::Entry& entry = shared.entries[i];
    result.failures.push_back({{}, entry.index, {entry.verdict, entry.text}, {}});
  }
  result.leaked = shared.leaked;
  return result;
}

}  // namespace

void start_device(DeviceType type) {
  if (type == DeviceType::CPU) return;
  watch(60);
  if (load_device_guard_impl(type) != nullptr) synchronize(Device(type));
  if (keeps_memory(type)) set_per_process_memory_fraction(part_for_a_child(type), Device(type));
}

BatchResult run_batch(const Calls& calls, const Judge& judge, std::size_t begin, std::size_t end,
                      const BatchLimits& limits) {
  const SharedMemory shared;
  const ErrorOutput output;
  shared->current = begin;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) {
    output.redirect();
    run_child(*shared, calls, judge, begin, end, limits);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!shared->started) {
    KEYWAY_FAIL(NotImplemented, "a child process cannot use {} devices: {}", to_string(judge.device()),
                death(status, output).text);
  }
  BatchResult result = result_of(*shared);
  result.next = end;
  if (!shared->finished) {
    result.next = shared->current + 1;
    shared->verdicts[shared->current - begin] = death(status, output).verdict;
    const Outcome outcome = death(status, output);
    ++result.counts[static_cast<std::size_t>(outcome.verdict)];
    result.failures.push_back({{}, shared->current, outcome, {}});
  }
  result.verdicts.assign(shared->verdicts, shared->verdicts + (result.next - begin));
  if (result.leaked) result.failures.push_back({{}, begin, {Verdict::Leak, output.summary()}, {}});
  return result;
}

Outcome repeat(const OperatorHandle& op, const CallPlan& plan, std::size_t index, DeviceType device) {
  manual_seed(index);
  return PromiseJudge(op, device).judge(plan.call(index));
}

bool can_find_leaks() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

}  // namespace keyway::inline v1::tools
