// LibraryUndoLog: how to take back what the code of a library sets in the process while a thread loads it (setting.h).
#pragma once

#include <keyway/core/base/library_resources.h>

#include <functional>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// What one library has set. It is to be undone before its code goes.
class KEYWAY_API LibraryUndoLog {
 public:
  LibraryUndoLog() : library_(&LibraryResources::begin()) {}
  ~LibraryUndoLog() {
    if (!library_->stays()) library_->end();
  }
  LibraryUndoLog(const LibraryUndoLog&) = delete;
  LibraryUndoLog& operator=(const LibraryUndoLog&) = delete;

  // Of the innermost LibraryLoadGuard; null if this thread loads nothing.
  static LibraryUndoLog* current() noexcept;
  // The library that this thread loads; null if it loads none.
  static LibraryResources* loading() noexcept { return current() == nullptr ? nullptr : current()->library_; }

  LibraryResources& library() const { return *library_; }
  void add(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // Takes away what was set, the latest first, and forgets it. What the library sets meanwhile goes too.
  void undo() noexcept;

 private:
  LibraryResources* library_;
  std::vector<std::function<void()>> undos_;
};

// While it lives, what this thread sets is the library's. At its end everything in the log is undone, unless commit()
// was called.
class KEYWAY_API LibraryLoadGuard {
 public:
  explicit LibraryLoadGuard(LibraryUndoLog& undo_log) noexcept;
  ~LibraryLoadGuard();
  LibraryLoadGuard(const LibraryLoadGuard&) = delete;
  LibraryLoadGuard& operator=(const LibraryLoadGuard&) = delete;

  // Keeps what was set, which the log can still undo.
  void commit() noexcept { committed_ = true; }

 private:
  LibraryUndoLog& undo_log_;
  LibraryUndoLog* outer_;
  bool committed_ = false;
};

}  // namespace keyway::inline v1
