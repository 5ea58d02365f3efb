// LoadChanges: what the code of a library sets in the process while a thread loads it (setting.h), so that it goes when
// the library does.
#pragma once

#include <keyway/core/base/library_use.h>

#include <functional>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The changes of one library. They are to be undone before its code goes.
class KEYWAY_API LoadChanges {
 public:
  LoadChanges() : library_(&LibraryUse::begin()) {}
  ~LoadChanges() {
    if (!library_->stays()) library_->end();
  }
  LoadChanges(const LoadChanges&) = delete;
  LoadChanges& operator=(const LoadChanges&) = delete;

  // What this thread sets is the library's, as long as the scope lives.
  class KEYWAY_API Scope {
   public:
    explicit Scope(LoadChanges& changes) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoadChanges* outer_;
  };
  // Of the innermost scope; null if this thread loads nothing.
  static LoadChanges* current() noexcept;
  // Of the library that this thread loads; null if it loads none.
  static LibraryUse* loading() noexcept { return current() == nullptr ? nullptr : current()->library_; }

  LibraryUse& library() const { return *library_; }
  void add(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // Takes away what was set, the latest first, and forgets it.
  void undo() noexcept;

 private:
  LibraryUse* library_;
  std::vector<std::function<void()>> undos_;
};

// Undoes the changes when it goes, unless they stay.
class PutBack {
 public:
  explicit PutBack(LoadChanges& changes) : changes_(&changes) {}
  ~PutBack() {
    if (changes_ != nullptr) changes_->undo();
  }
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;
  // They stay, and so does the library.
  void leave() {
    changes_->library().stay();
    changes_ = nullptr;
  }

 private:
  LoadChanges* changes_;
};

}  // namespace keyway::inline v1
