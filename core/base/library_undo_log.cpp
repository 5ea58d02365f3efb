#include <keyway/core/base/library_undo_log.h>

#include <utility>

namespace keyway::inline v1 {

namespace {
constinit thread_local LibraryUndoLog* innermost = nullptr;
}  // namespace

LibraryUndoLog* LibraryUndoLog::current() noexcept { return innermost; }

void LibraryUndoLog::undo() noexcept {
  while (!undos_.empty()) {
    const std::function<void()> latest = std::move(undos_.back());  // it may add others
    undos_.pop_back();
    latest();
  }
}

LibraryLoadGuard::LibraryLoadGuard(LibraryUndoLog& undo_log) noexcept
    : undo_log_(undo_log), outer_(std::exchange(innermost, &undo_log)) {}

LibraryLoadGuard::~LibraryLoadGuard() {
  if (!committed_) undo_log_.undo();
  innermost = outer_;
}

}  // namespace keyway::inline v1
