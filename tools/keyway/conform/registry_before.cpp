#include <keyway/core/device/device_guard_impl.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/tools/keyway/conform/registry_before.h>

#include <cstring>

namespace keyway::inline v1::tools {

namespace {

// The functionalities that a call of dense tensors passes where nothing else is asked of it.
constexpr Functionality kPassed[] = {Functionality::Autograd, Functionality::ADInplaceOrView, Functionality::Dense};

DispatchKeySet keys_from(Functionality highest, DeviceType device) {
  DispatchKeySet keys = DispatchKeySet(device);
  for (const Functionality each : kPassed) {
    if (each <= highest) keys = keys | DispatchKeySet(each);
  }
  return keys;
}

// Of two tables of one operator: whether they hold one kernel for these keys.
bool same_kernel(const Table& a, const Table& b, DispatchKeySet keys) {
  const std::size_t in_a = a.find_past_mark(keys).kernel, in_b = b.find_past_mark(keys).kernel;
  const ErasedKernel &x = a.kernel(in_a), &y = b.kernel(in_b);
  if ((in_a == 0) != (in_b == 0)) return false;
  if (x.boxed != y.boxed || x.context != y.context || x.fn != y.fn) return false;
  const KernelInfo &p = a.info[in_a], &q = b.info[in_b];
  return p.key == q.key && p.line == q.line && std::strcmp(p.file, q.file) == 0;
}

bool has_guard(DeviceType device) { return find_device_guard_impl(device) != nullptr; }

}  // namespace

RegistryBefore::RegistryBefore() {
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    tables_.emplace(&op.entry(), &unobserved(op.entry().table()));
  }
  for (std::size_t i = 0; i < has_backend_.size(); ++i) has_backend_[i] = has_guard(static_cast<DeviceType>(i));
}

const Table* RegistryBefore::table_of(const OperatorEntry& op) const {
  const auto at = tables_.find(&op);
  return at == tables_.end() ? nullptr : at->second;
}

bool RegistryBefore::is_changed(const OperatorHandle& op, DeviceType device) const {
  const Table* const before = table_of(op.entry());
  if (before == nullptr) return true;
  const Table& now = unobserved(op.entry().table());
  for (const Functionality highest : kPassed) {
    if (!same_kernel(*before, now, keys_from(highest, device))) return true;
  }
  return false;
}

bool RegistryBefore::has_kernel(const OperatorHandle& op, DeviceType device) const {
  const Table* const before = table_of(op.entry());
  if (before == nullptr) return false;
  const std::size_t kernel = before->find(keys_from(Functionality::Dense, device)).kernel;
  return kernel != 0 && (before->kernel(kernel).flags & kOfFallback) == 0;
}

bool RegistryBefore::lacks_backend(DeviceType device) const {
  return !has_backend_[static_cast<std::size_t>(device)] && has_guard(device);
}

}  // namespace keyway::inline v1::tools
