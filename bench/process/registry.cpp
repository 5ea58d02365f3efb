// Prints how many bytes the registry holds per built-in operator to dispatch its calls: the operator's entry and table,
// without schema and texts.
#include <keyway/bench/lib.h>

#include <cstdio>

#if defined(KEYWAY_BENCH_TORCH)

#include <ATen/core/dispatch/OperatorEntry.h>

// The table of an operator is a part of its entry, of one size for all; lists of kernels on the heap come on top.
int main() { std::printf("%zu\n", sizeof(c10::impl::OperatorEntry)); }

#else

#include <set>

int main() {
  std::size_t bytes = 0;
  std::set<const void*> counted;  // what several tables share counts once
  const auto count = [&](const void* address, std::size_t size) {
    if (address != nullptr && counted.insert(address).second) bytes += size;
  };
  for (std::size_t i = 0; i < lib::kBuiltinOps.size; ++i) {
    const lib::OperatorEntry& entry = *lib::kBuiltinOps.begin[i];
    const lib::Table& table = entry.table();
    count(&entry, sizeof(entry));
    count(&table, sizeof(table) + table.kernel_count * sizeof(lib::ErasedKernel));
    count(table.info, table.kernel_count * sizeof(lib::KernelInfo));
    count(table.backend_masks, (lib::kBackendBits + 1) * sizeof(std::uint64_t));
  }
  std::printf("%.0f\n", static_cast<double>(bytes) / static_cast<double>(lib::kBuiltinOps.size));
}

#endif
