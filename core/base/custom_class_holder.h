// CustomClassHolder: the base of the C++ classes whose objects operators take and return, once a library has registered
// the class (dispatch/registry/class_builder.h).
#pragma once

#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/base/library_resources.h>
#include <keyway/core/base/macros.h>

#include <atomic>

namespace keyway::inline v1 {

class CustomClass;

// Objects belong to intrusive_ptr, and are made by make_intrusive.
class KEYWAY_API CustomClassHolder : public RefCounted {
 public:
  CustomClassHolder() = default;
  // Another object: it has references of its own.
  CustomClassHolder(const CustomClassHolder&) noexcept : RefCounted() {}
  CustomClassHolder& operator=(const CustomClassHolder&) noexcept { return *this; }
  virtual ~CustomClassHolder();

  // Runs when the last strong reference goes while weak ones remain. A class may give back early what it holds.
  virtual void release_resources() {}

  // For intrusive_ptr. Only when it returns does the library of the object's class count it as gone: code of that
  // library deletes it.
  static void destroy_counted(CustomClassHolder* object) noexcept;
  static void release_counted(CustomClassHolder* object) { object->release_resources(); }

 private:
  friend class CustomClass;

  // Null until the object is first given to an operator, to Python or to an IValue; then it owns a reference.
  std::atomic<CustomClass*> class_{nullptr};
  LibraryResource held_;  // counts the object as one of the library that registered its class
};

}  // namespace keyway::inline v1
