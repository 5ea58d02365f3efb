#include <keyway/tools/keyway/train/kernel_profile.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::tools {

namespace {

using Clock = std::chrono::steady_clock;

// Of the thread that records.
thread_local KernelProfile* recording = nullptr;
// Time that the calls within the present one have taken.
thread_local Clock::duration* inner_time = nullptr;

// Autograd kernels end in a call of the kernel below them.
bool goes_on_below(Functionality f) { return f == Functionality::Autograd || f == Functionality::ADInplaceOrView; }

// Follows a call from its first kernel to the one that computes, in the operator's table.
void trace(const OperatorEntry& op, DispatchKeySet keys, KernelProfile::Row& row) {
  const Table& table = op.table();
  for (DispatchKeySet left = table.effective(keys);; left = left.remove(left.highest_functionality())) {
    const KernelInfo& info = table.info[table.slots[left.slot()]];
    const bool composite = info.key == DispatchKey::CompositeImplicitAutograd;
    row.keys += (row.keys.empty() ? "" : ", ") + to_string(composite ? info.key : left.highest_priority_key());
    row.kernel = info.name;
    if (composite || !goes_on_below(left.highest_functionality())) return;
  }
}

}  // namespace

// One call: takes its time, without that of the calls in it.
class KernelProfile::Call {
 public:
  Call(const OperatorEntry& op, DispatchKeySet keys) : op_(op), keys_(keys) { inner_time = &inner_; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    const Clock::duration whole = Clock::now() - begin_;
    inner_time = outer_;
    if (outer_ != nullptr) *outer_ += whole;
    if (recording == nullptr) return;
    Sum& sum = recording->sums_[{&op_, keys_.raw()}];
    ++sum.calls;
    sum.time += whole - inner_;
  }

 private:
  const OperatorEntry& op_;
  DispatchKeySet keys_;
  Clock::duration inner_{};
  Clock::duration* outer_ = inner_time;
  Clock::time_point begin_ = Clock::now();
};

KernelProfile::KernelProfile() {
  Library library(Library::Kind::Impl, "_", DispatchKey::Profiler);
  library.fallback(&KernelProfile::record);
  handle_ = library.commit();
}

KernelProfile::~KernelProfile() = default;

KernelProfile::Recording::Recording(KernelProfile& profile) : include_(DispatchKeySet(Functionality::Profiler)) {
  recording = &profile;
}

KernelProfile::Recording::~Recording() { recording = nullptr; }

void KernelProfile::record(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet left = keys.remove(Functionality::Profiler);
  const Call call(op, left);
  redispatch_boxed(op, left, stack);
}

std::vector<KernelProfile::Row> KernelProfile::rows() const {
  std::vector<Row> rows;
  for (const auto& [called, sum] : sums_) {
    Row& row = rows.emplace_back();
    row.op = called.first->short_name();
    row.calls = sum.calls;
    row.seconds = std::chrono::duration<double>(sum.time).count();
    trace(*called.first, DispatchKeySet::from_raw(called.second), row);
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::pair(-a.seconds, std::pair(a.op, a.keys)) < std::pair(-b.seconds, std::pair(b.op, b.keys));
  });
  return rows;
}

std::string print_profile(const std::vector<KernelProfile::Row>& rows, std::size_t most, std::int64_t runs) {
  const auto times = static_cast<double>(std::max<std::int64_t>(runs, 1));
  double all = 0;
  for (const auto& row : rows) all += row.seconds;
  KernelProfile::Row others{fmt::format("{} others", rows.size() - std::min(rows.size(), most)), "", "", 0, 0};
  const auto line = [&](const KernelProfile::Row& row) {
    return fmt::format("  {:<34} {:>9.1f} {:>9.2f} {:>5.1f} %  {:<28} {}\n", row.op,
                       static_cast<double>(row.calls) / times, row.seconds * 1e3 / times,
                       all > 0 ? 100 * row.seconds / all : 0, row.keys, row.kernel);
  };
  std::string out =
      fmt::format("  {:<34} {:>9} {:>9} {:>7}  {:<28} {}\n", "operator", "calls", "ms", "share", "keys", "kernel");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < most) {
      out += line(rows[i]);
    } else {
      others.calls += rows[i].calls;
      others.seconds += rows[i].seconds;
    }
  }
  return rows.size() > most ? out + line(others) : out;
}

}  // namespace keyway::inline v1::tools
