#include <keyway/core/base/load_changes.h>

#include <utility>

namespace keyway::inline v1 {

namespace {
constinit thread_local LoadChanges* innermost = nullptr;
}  // namespace

LoadChanges::Scope::Scope(LoadChanges& changes) noexcept : outer_(std::exchange(innermost, &changes)) {}
LoadChanges::Scope::~Scope() { innermost = outer_; }
LoadChanges* LoadChanges::current() noexcept { return innermost; }

void LoadChanges::undo() noexcept {
  for (; !undos_.empty(); undos_.pop_back()) undos_.back()();
}

}  // namespace keyway::inline v1
