// The most memory that this process has held so far.
#pragma once

#include <cstdio>
#include <cstring>

namespace bench {

inline long peak_kib() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  long kib = 0;
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  }
  std::fclose(status);
  return kib;
}

}  // namespace bench
