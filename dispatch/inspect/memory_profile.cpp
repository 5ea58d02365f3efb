#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/inspect/memory_profile.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <unordered_map>

namespace keyway::inline v1 {

namespace {

using Block = MemoryProfile::Block;

// Of what all profiles have noted: a fork takes it.
constinit ForkSafeMutex blocks_mutex(LockOrder::Notes);

std::vector<Device> devices_of(const std::vector<Block>& blocks) {
  std::vector<Device> devices;
  for (const Block& block : blocks) {
    if (std::ranges::find(devices, block.device) == devices.end()) devices.push_back(block.device);
  }
  return devices;
}

MemoryProfile::Peak peak_of(const std::vector<Block>& blocks, Device device) {
  std::map<double, std::int64_t> changes;  // of the sum, by time
  for (const Block& block : blocks) {
    if (block.device != device) continue;
    changes[block.made] += static_cast<std::int64_t>(block.bytes);
    if (block.freed) changes[*block.freed] -= static_cast<std::int64_t>(block.bytes);
  }
  MemoryProfile::Peak peak;
  std::int64_t sum = 0;
  for (const auto& [time, change] : changes) {
    sum += change;
    if (sum > static_cast<std::int64_t>(peak.bytes)) peak = {time, static_cast<std::size_t>(sum)};
  }
  return peak;
}

bool lives_at(const Block& block, double time) { return block.made <= time && (!block.freed || *block.freed > time); }

// Whether it makes memory for another call to fill.
bool only_allocates(const OperatorEntry& op) {
  const std::string_view name = op.schema().name();
  return name.starts_with("empty") || name.starts_with("new_empty");
}

// Of the calls that this thread is in, the innermost last, how many blocks a profile had noted when they began.
// Profiles that hear of one call are told in order, so each finds its own.
thread_local std::vector<std::size_t> blocks_at_begin;

std::string megabytes(std::size_t bytes) { return fmt::format("{:.3f}", static_cast<double>(bytes) / 1e6); }

}  // namespace

struct MemoryProfile::State {
  struct Living {
    weak_intrusive_ptr<StorageImpl> storage;
    std::size_t block;
    bool is_unset;  // the call that made it only allocates
  };

  explicit State(CallSite s) : site(s) {}

  const CallSite site;
  const Clock::time_point start = Clock::now();
  std::vector<Block> blocks;
  // By address, which is the storage's for as long as there is a weak reference to it.
  std::unordered_map<const StorageImpl*, Living> living;

  std::size_t blocks_so_far() const {
    const std::lock_guard lock(blocks_mutex);
    return blocks.size();
  }
  double now() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  bool is_known(const TensorBase& tensor) const {
    const auto found = living.find(tensor.storage().impl());
    return found != living.end() && blocks[found->second.block].bytes == tensor.storage().nbytes();
  }
  void note_freed(double time) {
    std::erase_if(living, [&](const auto& entry) {
      if (!entry.second.storage.expired()) return false;
      blocks[entry.second.block].freed = time;
      return true;
    });
  }
  // Memory of another size than before, as resize_() gives a storage, is another block.
  void note(const TensorBase& tensor, const OperatorEntry* op, const std::string& called_at, double time) {
    const Storage& storage = tensor.storage();
    if (const auto found = living.find(storage.impl()); found != living.end()) blocks[found->second.block].freed = time;
    weak_intrusive_ptr<StorageImpl> seen(intrusive_ptr<StorageImpl>::retain(storage.impl()));
    living.insert_or_assign(storage.impl(),
                            Living{std::move(seen), blocks.size(), op != nullptr && only_allocates(*op)});
    blocks.push_back({op == nullptr ? std::string() : op->short_name(), called_at,
                      fmt::format("{}{}", to_string(tensor.dtype()), to_string(tensor.sizes())), storage.device(),
                      storage.nbytes(), time, std::nullopt});
  }
  // Notes the memory that is not known yet; that it is freed is noticed, too. `op` is null for what was there before.
  void note_tensors(std::span<const IValue> values, const OperatorEntry* op) {
    const double time = now();
    std::vector<TensorBase> fresh;
    {
      const std::lock_guard lock(blocks_mutex);
      note_freed(time);
      for_each_tensor(values, [&](const TensorBase& tensor) {
        if (!tensor.storage() || tensor.device().type() == DeviceType::Meta) return;
        if (tensor.storage().nbytes() != 0 && !is_known(tensor)) fresh.push_back(tensor);
      });
    }
    if (fresh.empty()) return;
    // Asked without the lock: it may wait for an interpreter's.
    const std::string called_at = op != nullptr && site != nullptr ? site() : std::string();
    const std::lock_guard lock(blocks_mutex);
    for (const TensorBase& tensor : fresh) {
      if (!is_known(tensor)) note(tensor, op, called_at, time);
    }
  }
  // A call gives memory that one within it, from block `first` on, has only allocated: it is this call's.
  void take_over(std::span<const IValue> values, const OperatorEntry& op, std::size_t first) {
    const std::lock_guard lock(blocks_mutex);
    for_each_tensor(values, [&](const TensorBase& tensor) {
      const auto found = living.find(tensor.storage().impl());
      if (found == living.end() || !found->second.is_unset || found->second.block < first) return;
      blocks[found->second.block].op = op.short_name();
      found->second.is_unset = only_allocates(op);
    });
  }
};

MemoryProfile::MemoryProfile(CallSite site) : state_(std::make_unique<State>(site)) {}
MemoryProfile::~MemoryProfile() = default;

void MemoryProfile::begin(const CallEvent& call) {
  state_->note_tensors(std::span(call.stack).subspan(call.first), nullptr);
  blocks_at_begin.push_back(state_->blocks_so_far());
}

void MemoryProfile::end(const CallEvent& call, bool threw) noexcept {
  const std::size_t first = blocks_at_begin.back();
  blocks_at_begin.pop_back();
  if (threw) return;
  try {
    const std::span<const IValue> results = std::span(call.stack).subspan(call.first);
    state_->note_tensors(results, &call.op);
    state_->take_over(results, call.op, first);
  } catch (const std::exception&) {  // what this call made is missing from the profile: there is no memory for it
  }
}

std::vector<Block> MemoryProfile::blocks() const {
  const std::lock_guard lock(blocks_mutex);
  state_->note_freed(state_->now());
  return state_->blocks;
}

MemoryProfile::Peak MemoryProfile::peak(Device device) const { return peak_of(blocks(), device); }

std::string MemoryProfile::table(std::size_t most) const {
  const std::vector<Block> all = blocks();
  std::string out;
  for (const Device device : devices_of(all)) {
    const Peak peak = peak_of(all, device);
    struct Row {
      std::string op, site;
      std::size_t blocks = 0, bytes = 0;
    };
    std::map<std::pair<std::string, std::string>, Row> sums;
    for (const Block& block : all) {
      if (block.device != device || !lives_at(block, peak.at)) continue;
      Row& row = sums.try_emplace({block.op, block.site}, Row{block.op, block.site}).first->second;
      ++row.blocks;
      row.bytes += block.bytes;
    }
    std::vector<Row> rows;
    for (const auto& [who, row] : sums) rows.push_back(row);
    std::ranges::stable_sort(rows, std::ranges::greater(), &Row::bytes);
    out +=
        fmt::format("{}: at most {} MB, {:.3f} ms after the beginning\n  {:<34} {:>9} {:>12}  {}\n", to_string(device),
                    megabytes(peak.bytes), peak.at * 1e3, "operator", "blocks", "MB", "called at");
    const auto line = [](const Row& row) {
      return fmt::format("  {:<34} {:>9} {:>12}  {}\n", row.op.empty() ? "(before)" : row.op, row.blocks,
                         megabytes(row.bytes), row.site);
    };
    Row others{fmt::format("{} others", rows.size() - std::min(rows.size(), most)), ""};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i < most) {
        out += line(rows[i]);
        continue;
      }
      others.blocks += rows[i].blocks;
      others.bytes += rows[i].bytes;
    }
    if (rows.size() > most) out += line(others);
  }
  return out;
}

std::string MemoryProfile::json() const {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Block& block : blocks()) {
    all.push_back({{"op", block.op},
                   {"site", block.site},
                   {"tensor", block.tensor},
                   {"device", to_string(block.device)},
                   {"bytes", block.bytes},
                   {"made", block.made},
                   {"freed", block.freed ? Json(*block.freed) : Json()}});
  }
  return all.dump() + "\n";
}

}  // namespace keyway::inline v1
