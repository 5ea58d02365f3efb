// ThreadAtWork: a thread that the pool of parallel_for counts as busy. The pool is in parallel.cpp.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

// While it lives, this thread counts as one that is at work between its loops, too: no more workers help it and the
// other callers than there are cores to spare. For threads that work beside each other on parts of one thing. One
// within another does nothing.
class KEYWAY_API ThreadAtWork {
 public:
  ThreadAtWork();
  ~ThreadAtWork();
  ThreadAtWork(const ThreadAtWork&) = delete;
  ThreadAtWork& operator=(const ThreadAtWork&) = delete;

 private:
  void* pool_;  // that counts it; null if another one within which this is does
};

}  // namespace keyway::inline v1
