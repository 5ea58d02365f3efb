// LibraryUndoLog: how to take back what the code of a library sets in the process while a thread loads it (setting.h).
#pragma once

#include <keyway/core/base/library_resources.h>

#include <functional>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The changes of one library. They are to be undone before its code goes.
class KEYWAY_API LibraryUndoLog {
 public:
  LibraryUndoLog() : library_(&LibraryResources::begin()) {}
  ~LibraryUndoLog() {
    if (!library_->stays()) library_->end();
  }
  LibraryUndoLog(const LibraryUndoLog&) = delete;
  LibraryUndoLog& operator=(const LibraryUndoLog&) = delete;

  // What this thread sets is the library's, as long as the scope lives.
  class KEYWAY_API Scope {
   public:
    explicit Scope(LibraryUndoLog& changes) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LibraryUndoLog* outer_;
  };
  // Of the innermost scope; null if this thread loads nothing.
  static LibraryUndoLog* current() noexcept;
  // Of the library that this thread loads; null if it loads none.
  static LibraryResources* loading() noexcept { return current() == nullptr ? nullptr : current()->library_; }

  LibraryResources& library() const { return *library_; }
  void add(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // Takes away what was set, the latest first, and forgets it.
  void undo() noexcept;

 private:
  LibraryResources* library_;
  std::vector<std::function<void()>> undos_;
};

// Undoes the changes when it goes, unless they stay.
class RollbackGuard {
 public:
  explicit RollbackGuard(LibraryUndoLog& changes) : changes_(&changes) {}
  ~RollbackGuard() {
    if (changes_ != nullptr) changes_->undo();
  }
  RollbackGuard(const RollbackGuard&) = delete;
  RollbackGuard& operator=(const RollbackGuard&) = delete;
  // They stay, and so does the library.
  void commit() {
    changes_->library().stay();
    changes_ = nullptr;
  }

 private:
  LibraryUndoLog* changes_;
};

}  // namespace keyway::inline v1
