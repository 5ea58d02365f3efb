#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/dispatch/registry/registry.h>

#include <algorithm>
#include <new>
#include <optional>

namespace keyway::inline v1 {

namespace {

std::shared_ptr<const Observers> load_observers() {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.observers_mutex);
  return registry.observers;
}

// Requires: the registry's lock.
void store_observers(std::shared_ptr<const Observers> next) noexcept {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.observers_mutex);
  registry.observers.swap(next);
}

struct Running {
  const Observers& observers;
  const KernelBase& kernel;
};

void call_next(const ObservedCall& call) {
  const Running& running = *static_cast<const Running*>(call.chain);
  if (call.position == running.observers.size()) {
    running.kernel.boxed(call.op, running.kernel, call.keys, call.stack);
    return;
  }
  const std::size_t latest = running.observers.size() - 1 - call.position;
  ObservedCall next = call;
  ++next.position;
  running.observers[latest]->call(next);
}

// What stands in every slot of an observed table. Its context is the table that it stands for.
void observed_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
  const Table& table = *static_cast<const Table*>(kernel.context);
  const std::shared_ptr<const Observers> observers = load_observers();
  if (observers == nullptr) {  // the last one has just gone
    const ErasedKernel& real = table.kernel(kernel.index);
    return real.boxed(op, real, keys, stack);
  }
  // What an observer cloned lazily before a call would be written to by keys that were right before.
  std::optional<NoSharing> copies;
  if (op.schema().is_mutable()) copies.emplace();
  const Running running{*observers, table.kernel(kernel.index)};
  const std::size_t arguments = std::min<std::size_t>(op.info().boxed.arguments, stack.size());
  call_next({op, table.info[kernel.index], keys, stack, stack.size() - arguments, call_next, &running, 0});
}

const Table* make_observed_table(const Table& table) {
  const std::size_t count = table.kernel_count;
  auto* memory = static_cast<char*>(::operator new(sizeof(Table) + count * sizeof(ErasedKernel)));
  auto* made = new (memory) Table(table);
  for (std::size_t i = 0; i < count; ++i) {
    const auto flags =
        static_cast<std::uint8_t>(kBoxedOnly | (table.kernel(i).flags & (kCounted | kOfFallback | kLosesGradient)));
    new (memory + sizeof(Table) + i * sizeof(ErasedKernel))
        ErasedKernel{{observed_kernel, const_cast<Table*>(&table), static_cast<std::uint16_t>(i), flags}, nullptr};
  }
  return made;
}

}  // namespace

const Table& unobserved(const Table& table) {
  const KernelBase& kernel = table.kernel(0);
  return kernel.boxed == observed_kernel ? *static_cast<const Table*>(kernel.context) : table;
}

const Table* Registry::published(const Table* table) {
  if (observers == nullptr) return table;
  const Table*& observed = observed_tables[table];
  if (observed == nullptr) observed = make_observed_table(*table);
  return observed;
}

void Registry::publish_all() {
  std::vector<std::pair<OperatorEntry*, const Table*>> publications;
  const auto add = [&](OperatorEntry& op) {
    if (op.table().op != nullptr) publications.emplace_back(&op, published(&unobserved(op.table())));
  };
  for (std::size_t i = 0; i < kBuiltinOps.size; ++i) add(*kBuiltinOps.begin[i]);
  for (const auto& [name, record] : operators) {
    if (record.state.entry != nullptr) add(*record.state.entry);
  }
  for (const auto& [op, table] : publications) op->table_.store(table, std::memory_order_seq_cst);
}

namespace {

// Puts observers in the place of those before, of which null is none. Requires: the registry's lock is held.
void exchange_observers(Registry& registry, std::shared_ptr<const Observers> next) {
  const std::shared_ptr<const Observers> before = registry.observers;
  const bool is_observed_as_before = (before == nullptr) == (next == nullptr);
  store_observers(std::move(next));
  if (is_observed_as_before) return;
  try {
    registry.publish_all();
  } catch (...) {
    store_observers(before);
    throw;
  }
}

}  // namespace

CallObserver::~CallObserver() = default;

ObserverHandle observe_calls(std::shared_ptr<CallObserver> observer) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  auto next =
      registry.observers == nullptr ? std::make_shared<Observers>() : std::make_shared<Observers>(*registry.observers);
  next->push_back(observer);
  exchange_observers(registry, std::move(next));
  return ObserverHandle(std::move(observer));
}

void ObserverHandle::remove() {
  if (!observer_) return;
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  auto next = std::make_shared<Observers>(*registry.observers);
  next->erase(std::find(next->begin(), next->end(), observer_));
  exchange_observers(registry, next->empty() ? nullptr : std::move(next));
  observer_.reset();
}

}  // namespace keyway::inline v1
