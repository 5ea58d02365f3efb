#include <keyway/core/base/library_undo_log.h>

#include <utility>

namespace keyway::inline v1 {

namespace {
constinit thread_local LibraryUndoLog* innermost = nullptr;
}  // namespace

LibraryUndoLog::Scope::Scope(LibraryUndoLog& changes) noexcept : outer_(std::exchange(innermost, &changes)) {}
LibraryUndoLog::Scope::~Scope() { innermost = outer_; }
LibraryUndoLog* LibraryUndoLog::current() noexcept { return innermost; }

void LibraryUndoLog::undo() noexcept {
  for (; !undos_.empty(); undos_.pop_back()) undos_.back()();
}

}  // namespace keyway::inline v1
