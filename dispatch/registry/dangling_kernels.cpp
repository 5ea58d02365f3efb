// Kernels of operators that nobody ever defined: they may come before their operators, and are told of when they go
// without one, or the process ends. Those of a namespace that has no operators and that no name is near to are meant
// for a library that this program does not load.
#include <keyway/core/base/text.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/dangling_kernels.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace keyway::inline v1 {

namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) names.push_back(op.name());
  return names;
}

std::vector<std::string> texts_of(const std::vector<DanglingKernel>& kernels) {
  std::vector<std::string> texts;
  if (kernels.empty()) return texts;
  const std::vector<std::string> names = all_names();
  for (const DanglingKernel& kernel : kernels) {
    const std::string near = nearest_text(kernel.op, names);
    const std::string ns = kernel.op.substr(0, kernel.op.find("::") + 2);
    if (near.empty() && std::ranges::none_of(names, [&](const std::string& name) { return name.starts_with(ns); }))
      continue;
    texts.push_back("a kernel was registered to an operator that was never defined, " + kernel.op + ": " + kernel.what +
                    (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  return texts;
}

void add_dangling(const std::string& name, const OperatorRecord& record, std::uint64_t block,
                  std::vector<DanglingKernel>& to) {
  if (record.was_defined) return;
  for (const Registration& impl : record.state.registrations) {
    if (block == 0 || impl.block == block) to.push_back({name, to_string(impl.key) + " kernel at " + impl.site.str()});
  }
}

}  // namespace

std::vector<DanglingKernel> dangling_kernels_of(const Registry& registry, std::uint64_t block) {
  std::vector<DanglingKernel> kernels;
  const auto changed = registry.blocks.find(block);
  if (changed == registry.blocks.end()) return kernels;
  for (const auto& [name, record] : registry.operators) {
    if (std::ranges::find(changed->second, &record) != changed->second.end())
      add_dangling(name, record, block, kernels);
  }
  return kernels;
}

void warn_of_dangling_kernels(const std::vector<DanglingKernel>& kernels) noexcept {
  try {
    for (const std::string& text : texts_of(kernels)) try_warn(text);
  } catch (...) {  // out of memory
  }
}

std::vector<std::string> take_dangling_warnings() {
  static constinit std::atomic<bool> taken{false};
  std::vector<DanglingKernel> kernels;
  if (!taken.exchange(true)) {
    Registry& registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    for (const auto& [name, record] : registry.operators) add_dangling(name, record, 0, kernels);
  }
  return texts_of(kernels);
}

void Dispatcher::warn_of_dangling_impls() const noexcept {
  try {
    for (const std::string& text : take_dangling_warnings()) try_warn(text);
  } catch (...) {  // out of memory
  }
}

void warn_of_dangling_kernels_at_exit() noexcept {
  static const bool hooked = std::atexit([] { Dispatcher::singleton().warn_of_dangling_impls(); }) == 0;
  (void)hooked;  // no memory: it goes unsaid
}

}  // namespace keyway::inline v1
