// What several threads do at once.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace keyway::inline v1::testing {

inline constexpr int kThreads = 4;

// Calls work(i) for each i below kThreads, in a thread of its own.
inline void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace keyway::inline v1::testing
