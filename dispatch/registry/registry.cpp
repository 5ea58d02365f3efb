#include <keyway/dispatch/registry/registry.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1 {

namespace {

// Compares "name.overload" with a text without putting it together.
int compare_name(const OpInfo& op, std::string_view text) {
  if (const int c = op.name.compare(text.substr(0, op.name.size())); c != 0) return c;
  text.remove_prefix(op.name.size());
  if (op.overload.empty()) return text.empty() ? 0 : -1;
  if (text.empty()) return 1;
  if (text[0] != '.') return '.' < text[0] ? -1 : 1;
  return op.overload.compare(text.substr(1));
}

}  // namespace

Registry& Registry::get() {
  static Registry& registry = *new Registry;  // never destroyed: calls and handles may outlive any order of destruction
  return registry;
}

void Registry::restart_in_child() {
  for (const auto& calls : get().all_in_flight) calls->restart();
  KernelUseGuard::recount();
}

InFlightCalls* Registry::take_in_flight() {
  if (free_in_flight.empty()) {
    free_in_flight.reserve(all_in_flight.size() + 1);
    all_in_flight.push_back(std::make_unique<InFlightCalls>());
    free_in_flight.push_back(all_in_flight.back().get());
  }
  InFlightCalls* calls = free_in_flight.back();
  free_in_flight.pop_back();
  return calls;
}

OperatorEntry* Registry::find_builtin(std::string_view full_name) {
  const auto* end = kBuiltinOps.begin + kBuiltinOps.size;
  const auto* at = std::lower_bound(
      kBuiltinOps.begin, end, full_name,
      [](const OperatorEntry* op, std::string_view name) { return compare_name(op->info(), name) < 0; });
  return at != end && compare_name((*at)->info(), full_name) == 0 ? *at : nullptr;
}

OperatorState Registry::state_of_static(OperatorEntry& op) {
  OperatorState state;
  state.entry = &op;
  const Table& table = unobserved(op.table());
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const KernelInfo& info = table.info[i];
    state.registrations.push_back({info.key, table.kernel(i), nullptr, "", info.name, {info.file, info.line}, 0});
  }
  return state;
}

std::vector<const OperatorEntry*> Registry::operators_in_order() const {
  std::vector<std::pair<std::string, const OperatorEntry*>> named;
  for (std::size_t i = 0; i < kBuiltinOps.size; ++i) {
    named.emplace_back(kBuiltinOps.begin[i]->full_name(), kBuiltinOps.begin[i]);
  }
  for (const auto& [name, record] : operators) {
    if (record.state.entry != nullptr && find_builtin(name) == nullptr) named.emplace_back(name, record.state.entry);
  }
  std::sort(named.begin(), named.end());
  std::vector<const OperatorEntry*> all;
  for (const auto& [name, op] : named) all.push_back(op);
  return all;
}

OperatorEntry* Registry::find(std::string_view full_name) const {
  if (OperatorEntry* op = find_builtin(full_name)) return op;
  const auto at = operators.find(full_name);
  return at == operators.end() ? nullptr : at->second.state.entry;
}

void Registry::publish(const OperatorEntry& op) {
  const auto at = operators.find(op.full_name());
  if (at == operators.end() || at->second.state.entry != &op) return;
  OperatorRecord& record = at->second;
  const Table* const table = published(record.tables.build(record.state, fallbacks));
  record.state.entry->table_.store(table, std::memory_order_seq_cst);
}

OperatorRecord& Registry::record(const std::string& full_name) {
  const auto at = operators.find(full_name);
  if (at != operators.end()) return at->second;
  OperatorRecord fresh;
  if (OperatorEntry* op = find_builtin(full_name)) {
    fresh.tables.add(unobserved(op->table()));
    fresh.state = state_of_static(*op);
    fresh.was_defined = true;
  }
  return operators.emplace(full_name, std::move(fresh)).first->second;
}

}  // namespace keyway::inline v1
