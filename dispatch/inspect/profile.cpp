// Profile: what a listener has heard, added up and remembered.
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/inspect/device_span.h>
#include <keyway/dispatch/inspect/profiler.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

namespace keyway::inline v1 {

namespace {

using Clock = Profile::Clock;

// A call that is under way, in the profile that hears of it.
struct Open {
  const void* profile;
  Clock::time_point begin;
  Clock::duration inner{};  // what the calls within have taken
  std::string arguments;
  std::shared_ptr<DeviceSpan> span;  // null: not on a device, or not asked for
};
thread_local std::vector<Open> open_calls;

// Of what all profiles have noted: a fork takes it. Held for a few notes, never while a device is waited for.
constinit ForkSafeMutex notes_mutex(LockOrder::Notes);

// Follows a call from its first kernel to the one that computes, in the operator's table.
void follow(const OperatorEntry& op, DispatchKeySet keys, Profile::Row& row) {
  const Table& table = op.table();
  for (DispatchKeySet left = table.find_past_mark(keys).keys;; left = left.remove(left.highest_functionality())) {
    const KernelInfo& info = table.info[table.slots[left.slot()]];
    const bool composite = info.key == DispatchKey::CompositeImplicitAutograd;
    row.keys += (row.keys.empty() ? "" : ", ") + to_string(composite ? info.key : left.highest_priority_key());
    row.kernel = info.name;
    if (composite || !calls_below(left.highest_functionality())) return;
  }
}

// "self float32[2, 3] on cpu, dim 1"
std::string arguments_text(const CallEvent& call) {
  std::string text;
  const ArgumentList arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size() && call.first + i < call.stack.size(); ++i) {
    const IValue& value = call.stack[call.first + i];
    if (value.is_none()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", arguments[i].name(), to_string(value));
  }
  return text;
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

struct Profile::State {
  struct Sum {
    std::uint64_t calls = 0;
    Clock::duration self{}, total{};
    double device_self = 0, device_total = 0;  // milliseconds
  };
  using Called = std::pair<const OperatorEntry*, std::uint64_t>;  // an operator, and keys
  // A call whose time on the device is not known yet. Those within a call stand before it.
  struct Timed {
    Called called;
    std::shared_ptr<DeviceSpan> span, outer;
  };
  struct Event {
    const OperatorEntry* op;
    std::uint64_t thread;
    Clock::time_point begin;
    Clock::duration time;
    std::string arguments;
    bool threw;
  };

  const Options options;
  const Clock::time_point start = Clock::now();
  std::map<Called, Sum> sums;
  std::vector<Event> events;
  std::deque<Timed> timed;

  explicit State(Options o) : options(o) {}

  // The calls so far are done on their devices when it returns. Requires: the lock is not held.
  void wait_for_devices() const {
    std::vector<std::shared_ptr<DeviceSpan>> spans;
    {
      const std::lock_guard lock(notes_mutex);
      for (const Timed& one : timed) spans.push_back(one.span);
    }
    for (const auto& span : spans) span->wait();
  }

  // Adds up what the devices have done, waiting for none. Requires: the lock.
  void add_device_times() {
    for (; !timed.empty() && timed.front().span->is_done(); timed.pop_front()) {
      const auto& [called, span, outer] = timed.front();
      const double total = span->total();
      Sum& sum = sums[called];
      sum.device_total += total;
      sum.device_self += total - span->inner;
      if (outer != nullptr) outer->inner += total;
    }
  }

  Row row_of(const Called& called, const Sum& sum) const {
    Row row{called.first->short_name(), "", "", sum.calls, seconds(sum.self), seconds(sum.total), sum.device_self / 1e3,
            sum.device_total / 1e3};
    follow(*called.first, DispatchKeySet::from_raw(called.second), row);
    return row;
  }
};

Profile::Profile() : Profile(Options{}) {}
Profile::Profile(Options options) : state_(std::make_unique<State>(options)) {}
Profile::~Profile() = default;

void Profile::begin(const CallEvent& call) {
  std::shared_ptr<DeviceSpan> span;
  if (state_->options.device_times) {
    if (const auto stream = device_stream_of(call)) span = std::make_shared<DeviceSpan>(*stream);
  }
  open_calls.push_back({this, {}, {}, state_->options.shapes ? arguments_text(call) : std::string(), std::move(span)});
  open_calls.back().begin = Clock::now();
}

void Profile::end(const CallEvent& call, bool threw) noexcept {
  const Clock::time_point now = Clock::now();
  Open own = std::move(open_calls.back());
  open_calls.pop_back();
  const Clock::duration whole = now - own.begin;
  const auto outer =
      std::find_if(open_calls.rbegin(), open_calls.rend(), [&](const Open& o) { return o.profile == this; });
  if (outer != open_calls.rend()) outer->inner += whole;
  try {
    if (own.span != nullptr) own.span->close();
    const std::lock_guard lock(notes_mutex);
    const State::Called called{&call.op, call.keys.raw()};
    if (own.span != nullptr) {
      state_->timed.push_back({called, own.span, outer != open_calls.rend() ? outer->span : nullptr});
      state_->add_device_times();
    }
    State::Sum& sum = state_->sums[called];
    ++sum.calls;
    sum.self += whole - own.inner;
    sum.total += whole;
    if (state_->options.events) {
      state_->events.push_back({&call.op, thread_number(), own.begin, whole, std::move(own.arguments), threw});
    }
  } catch (const std::exception&) {  // this call is missing from the profile: no memory, or a device that fails
  }
}

std::vector<Profile::Row> Profile::rows(Column by) const {
  state_->wait_for_devices();
  std::map<State::Called, State::Sum> sums;
  {
    const std::lock_guard lock(notes_mutex);
    state_->add_device_times();
    sums = state_->sums;
  }
  std::vector<Row> rows;
  for (const auto& [called, sum] : sums) rows.push_back(state_->row_of(called, sum));
  const auto value = [by](const Row& row) {
    switch (by) {
      case Column::Op: return 0.0;
      case Column::Calls: return static_cast<double>(row.calls);
      case Column::Self: return row.self_seconds;
      case Column::Total: return row.total_seconds;
      case Column::Mean: return row.total_seconds / static_cast<double>(row.calls);
      case Column::DeviceSelf: return row.device_self_seconds;
      case Column::DeviceTotal: return row.device_total_seconds;
    }
    return 0.0;
  };
  std::ranges::sort(rows, [&](const Row& a, const Row& b) {
    return std::tuple(-value(a), a.op, a.keys) < std::tuple(-value(b), b.op, b.keys);
  });
  return rows;
}

std::string Profile::table(Column by, std::size_t most, std::uint64_t runs) const {
  const std::vector<Row> all = rows(by);
  const auto times = static_cast<double>(std::max<std::uint64_t>(runs, 1));
  double whole = 0;
  for (const Row& row : all) whole += row.self_seconds;
  const bool on_devices = state_->options.device_times;
  const auto line = [&](const Row& row) {
    const double mean = row.calls == 0 ? 0 : row.total_seconds * 1e3 / static_cast<double>(row.calls);
    const std::string device = on_devices ? fmt::format(" {:>11.3f} {:>12.3f}", row.device_self_seconds * 1e3 / times,
                                                        row.device_total_seconds * 1e3 / times)
                                          : std::string();
    return fmt::format("  {:<34} {:>9.1f} {:>9.3f} {:>5.1f} % {:>9.3f} {:>9.4f}{}  {:<28} {}\n", row.op,
                       static_cast<double>(row.calls) / times, row.self_seconds * 1e3 / times,
                       whole > 0 ? 100 * row.self_seconds / whole : 0, row.total_seconds * 1e3 / times, mean, device,
                       row.keys, row.kernel);
  };
  std::string out = fmt::format(
      "  {:<34} {:>9} {:>9} {:>7} {:>9} {:>9}{}  {:<28} {}\n", "operator", "calls", "self ms", "share", "total ms",
      "mean ms", on_devices ? fmt::format(" {:>11} {:>12}", "device self", "device total") : "", "keys", "kernel");
  Row others{fmt::format("{} others", all.size() - std::min(all.size(), most)), "", "", 0, 0, 0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < most) {
      out += line(all[i]);
      continue;
    }
    others.calls += all[i].calls;
    others.self_seconds += all[i].self_seconds;
    others.total_seconds += all[i].total_seconds;
    others.device_self_seconds += all[i].device_self_seconds;
    others.device_total_seconds += all[i].device_total_seconds;
  }
  return all.size() > most ? out + line(others) : out;
}

std::uint64_t Profile::thread_number() {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next++;
  return number;
}

std::string Profile::trace() const {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  std::vector<State::Event> noted;
  {
    const std::lock_guard lock(notes_mutex);
    noted = state_->events;
  }
  for (const State::Event& event : noted) {
    Json args = Json::object();
    if (!event.arguments.empty()) args["arguments"] = event.arguments;
    if (event.threw) args["threw"] = true;
    events.push_back({{"name", event.op->short_name()},
                      {"cat", "op"},
                      {"ph", "X"},
                      {"ts", microseconds(event.begin - state_->start)},
                      {"dur", microseconds(event.time)},
                      {"pid", 1},
                      {"tid", event.thread},
                      {"args", std::move(args)}});
  }
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump() + "\n";
}

}  // namespace keyway::inline v1
