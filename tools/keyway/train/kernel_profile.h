// KernelProfile: which kernels run, how often and for how long, as the registry sees it. It is a fallback kernel of the
// key Profiler, which every call of a thread passes first while that key is included; other calls cost nothing more.
#pragma once

#include <keyway/core/thread_state.h>
#include <keyway/dispatch/library.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::tools {

class KernelProfile {
 public:
  // Registers the fallback; at most one profile can live at a time. Throws keyway::Error if there is one.
  KernelProfile();
  ~KernelProfile();
  KernelProfile(const KernelProfile&) = delete;
  KernelProfile& operator=(const KernelProfile&) = delete;

  // While it lives, the calls of this thread are counted.
  class Recording {
   public:
    explicit Recording(KernelProfile& profile);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    IncludeDispatchKeyGuard include_;
  };

  struct Row {
    std::string op;      // "mm"
    std::string keys;    // "AutogradCPU, CPU": the keys whose kernels ran, in order
    std::string kernel;  // of the last one, as it was registered
    std::uint64_t calls;
    double seconds;  // without what it called
  };
  // The costliest first.
  std::vector<Row> rows() const;

 private:
  class Call;
  struct Sum {
    std::uint64_t calls = 0;
    std::chrono::steady_clock::duration time{};
  };
  static void record(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

  RegistrationHandle handle_;
  // By operator and the keys that were left for it.
  std::map<std::pair<const OperatorEntry*, std::uint64_t>, Sum> sums_;
};

// The rows as a table: `most` of them, and one for the others. `runs` is what to divide by.
std::string print_profile(const std::vector<KernelProfile::Row>& rows, std::size_t most, std::int64_t runs);

}  // namespace keyway::inline v1::tools
