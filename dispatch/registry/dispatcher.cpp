#include <keyway/core/base/text.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/call/checked_kernel.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/registry.h>
#include <keyway/dispatch/registry/registry_notifications.h>
#include <keyway/dispatch/registry/transaction.h>

#include <new>

namespace keyway::inline v1 {

namespace {

constexpr std::string_view kRuleNames[] = {"direct kernel", "composite explicit", "composite implicit",
                                           "alias kernel",  "backend fallback",   "fallthrough",
                                           "missing"};

}  // namespace

std::string_view to_string(ResolutionRule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

Dispatcher& Dispatcher::singleton() {
  static constinit Dispatcher dispatcher;
  return dispatcher;
}

RegistrationHandle Dispatcher::commit(BlockRequest request) {
  std::uint64_t block = 0;
  change_registry([&](Registry& registry, RegistryNotifications& notifications) {
    block = Transaction::commit(registry, request, notifications);
  });
  return RegistrationHandle(block);
}

void Dispatcher::undo(std::uint64_t id) {
  UndoneBlock undone;
  std::vector<DanglingKernel> dangling;
  change_registry([&](Registry& registry, RegistryNotifications& notifications) {
    dangling = dangling_kernels_of(registry, id);
    undone = Transaction::undo(registry, id, notifications);
  });
  warn_of_dangling_kernels(dangling);
  if (undone.in_flight == nullptr) return;
  undone.in_flight->wait();  // without a lock: a call may want it
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  registry.give_back(undone.in_flight);
}

std::int64_t Dispatcher::calls_under_way(std::uint64_t id) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const InFlightCalls* const calls = Transaction::in_flight_from_outside(registry, id);
  return calls == nullptr ? 0 : calls->count();
}

void Dispatcher::release(std::uint64_t id) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Transaction::release(registry, id);
}

void RegistrationHandle::undo() {
  if (id_ == 0) return;
  Dispatcher::singleton().undo(id_);
  id_ = 0;
}

std::int64_t RegistrationHandle::calls_under_way() const {
  return id_ == 0 ? 0 : Dispatcher::singleton().calls_under_way(id_);
}

RegistrationHandle::~RegistrationHandle() {
  try {
    undo();
  } catch (const std::exception&) {
    try_warn("a library block could not be undone and stays registered");
  }
}

void RegistrationHandle::release() noexcept {
  if (id_ == 0) return;
  try {
    Dispatcher::singleton().release(id_);
  } catch (const std::bad_alloc&) {  // its calls go on being counted
  }
  id_ = 0;
}

std::optional<OperatorHandle> Dispatcher::find_op(std::string_view name) const {
  const std::string full = detail::full_name(name);
  if (const OperatorEntry* op = Registry::find_builtin(full)) return OperatorHandle(*op);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const OperatorEntry* op = registry.find(full);
  return op == nullptr ? std::nullopt : std::optional(OperatorHandle(*op));
}

OperatorHandle Dispatcher::op(std::string_view name) const {
  if (const auto found = find_op(name)) return *found;
  std::vector<std::string> names;
  for (const OperatorHandle& op : ops()) names.push_back(op.entry().short_name());
  const std::string nearest = nearest_text(name, names);
  KEYWAY_FAIL(NotImplemented, "there is no operator '{}'{}", name,
              nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?");
}

OperatorHandle Dispatcher::findSchemaOrThrow(std::string_view name, std::string_view overload) const {
  return op(std::string(name) + (overload.empty() ? "" : ".") + std::string(overload));
}

std::uint64_t Dispatcher::generation() const noexcept {
  return Registry::get().generation.load(std::memory_order_acquire);
}

std::vector<OperatorHandle> Dispatcher::ops() const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::vector<OperatorHandle> all;
  for (const OperatorEntry* op : registry.operators_in_order()) all.emplace_back(*op);
  return all;
}

std::vector<std::string> Dispatcher::dangling_impls() const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> all;
  for (const auto& [name, record] : registry.operators) {
    if (record.state.entry != nullptr) continue;
    for (const Registration& impl : record.state.registrations) {
      all.push_back(name + ": " + to_string(impl.key) + " kernel at " + impl.site.str());
    }
  }
  return all;
}

namespace detail {
void check_signature(const OperatorEntry& op, std::uint64_t hash, const char* code) {
  const OpInfo& info = op.info();
  KEYWAY_CHECK_AS(Type, hash == info.signature, "a handle of {} is asked for with a C++ signature of its own: {}",
                  op.full_name(), signature_difference(code, op.schema()));
}
}  // namespace detail

}  // namespace keyway::inline v1
