#include <keyway/core/base/custom_class.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/never_destroyed.h>

#include <mutex>
#include <utility>

namespace keyway::inline v1 {

namespace {

// Never destroyed: objects may be made and let go at exit.
struct ClassesInForce {
  ForkSafeMutex mutex{LockOrder::Classes};
  CustomClassTable table;

  static ClassesInForce& get() {
    static NeverDestroyed<ClassesInForce> classes;
    return *classes;
  }
};

}  // namespace

CustomClassHolder::~CustomClassHolder() = default;

void CustomClassHolder::destroy_counted(CustomClassHolder* object) noexcept {
  const auto of = intrusive_ptr<CustomClass>::adopt(object->class_.load(std::memory_order_acquire));
  const LibraryResource held = std::move(object->held_);
  delete object;
  if (of) of->objects_.fetch_sub(1);
}

void CustomClassTable::add(const intrusive_ptr<CustomClass>& added, std::uint64_t block) {
  by_name_.emplace(added->name(), Entry{added, block});
  by_type_.emplace(*added->info().type, added);
}

void CustomClassTable::put_in_force(CustomClassTable& added) noexcept {
  ClassesInForce& classes = ClassesInForce::get();
  const std::lock_guard lock(classes.mutex);
  classes.table.by_name_.merge(added.by_name_);
  classes.table.by_type_.merge(added.by_type_);
}

void CustomClassTable::withdraw(std::uint64_t block) noexcept {
  ClassesInForce& classes = ClassesInForce::get();
  const std::lock_guard lock(classes.mutex);
  auto& by_name = classes.table.by_name_;
  std::erase_if(classes.table.by_type_,
                [&](const auto& each) { return by_name.find(each.second->name())->second.block == block; });
  std::erase_if(by_name, [&](const auto& each) { return each.second.block == block; });
}

intrusive_ptr<CustomClass> CustomClass::find(std::string_view name) {
  ClassesInForce& classes = ClassesInForce::get();
  const std::lock_guard lock(classes.mutex);
  const auto found = classes.table.by_name_.find(name);
  return found == classes.table.by_name_.end() ? nullptr : found->second.custom_class;
}

intrusive_ptr<CustomClass> CustomClass::find(const std::type_info& type) {
  ClassesInForce& classes = ClassesInForce::get();
  const std::lock_guard lock(classes.mutex);
  const auto found = classes.table.by_type_.find(type);
  return found == classes.table.by_type_.end() ? nullptr : found->second;
}

std::vector<intrusive_ptr<CustomClass>> CustomClass::all() {
  ClassesInForce& classes = ClassesInForce::get();
  const std::lock_guard lock(classes.mutex);
  std::vector<intrusive_ptr<CustomClass>> all;
  for (const auto& [name, entry] : classes.table.by_name_) all.push_back(entry.custom_class);
  return all;
}

intrusive_ptr<CustomClass> CustomClass::of(const CustomClassHolder& object, const std::type_info& known_as) {
  CustomClass* const known = object.class_.load(std::memory_order_acquire);
  if (known != nullptr) return intrusive_ptr<CustomClass>::retain(known);
  auto found = find(typeid(object));
  return found ? found : find(known_as);
}

void CustomClass::adopt(CustomClassHolder& object) {
  if (object.class_.load(std::memory_order_acquire) != nullptr) return;
  LibraryResource held;
  if (library_ != nullptr && !library_->stays()) {
    KEYWAY_CHECK_AS(Registration, library_->acquire(ResourceKind::Object, 0),
                    "an object of class {} cannot be given away: the library of its class is being unloaded", name());
    held = LibraryResource(*library_, ResourceKind::Object, 0);
  }
  objects_.fetch_add(1);
  auto self = intrusive_ptr<CustomClass>::retain(this);
  CustomClass* none = nullptr;
  if (object.class_.compare_exchange_strong(none, this, std::memory_order_acq_rel)) {
    static_cast<void>(self.release());
    object.held_ = std::move(held);
  } else {
    objects_.fetch_sub(1);
  }
}

}  // namespace keyway::inline v1
