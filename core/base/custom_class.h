// CustomClass: a C++ class that a library has registered, so that operators take and return its objects and Python
// makes them. Its functions are operators: those of class Foo in namespace my are my::Foo, the constructor, and
// my::Foo.bar.
#pragma once

#include <keyway/core/base/custom_class_holder.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// What Python finds in a class.
struct ClassMember {
  enum class Kind : std::uint8_t { Constructor, Method, Static, Property };
  Kind kind;
  std::string name;
  std::string op;      // full name of the operator that is called; of a property, to read it
  std::string setter;  // of a property, to write it; empty if that is not possible
  std::string doc;
};

struct CustomClassInfo {
  std::string name;  // "my.Foo"; in schemas "__torch__.torch.classes.my.Foo"
  std::string doc;
  std::vector<ClassMember> members;
  const std::type_info* type = nullptr;
  // Whether an object is of the C++ class, or of one that derives from it. Code of the library.
  bool (*holds)(const CustomClassHolder& object) = nullptr;
};

// Lives as long as one of its objects does, also when the registration was undone. Thread-safe.
class KEYWAY_API CustomClass : public RefCounted {
 public:
  // `library`: the one that is to count the objects as its own; null if that stays.
  CustomClass(CustomClassInfo info, LibraryResources* library) : info_(std::move(info)), library_(library) {}

  // The class in force of that name, or of that C++ class; null if there is none.
  static intrusive_ptr<CustomClass> find(std::string_view name);
  static intrusive_ptr<CustomClass> find(const std::type_info& type);
  // All in force, by name.
  static std::vector<intrusive_ptr<CustomClass>> all();
  // The class of an object that was given to an operator; else that of its C++ class, or of `known_as`, which is its
  // class or a base. Null if neither is registered.
  static intrusive_ptr<CustomClass> of(const CustomClassHolder& object, const std::type_info& known_as);

  const CustomClassInfo& info() const { return info_; }
  const std::string& name() const { return info_.name; }
  bool holds(const CustomClassHolder& object) const { return info_.holds(object); }
  // From now on the object is of this class, unless it is of one already. Throws keyway::Error(Registration) while the
  // library of the class is being unloaded.
  void adopt(CustomClassHolder& object);
  // Objects that were adopted and are alive.
  std::int64_t objects() const noexcept { return objects_.load(); }
  const LibraryResources* library() const { return library_; }

 private:
  friend class CustomClassHolder;

  CustomClassInfo info_;
  LibraryResources* library_;
  std::atomic<std::int64_t> objects_{0};
};

// Classes that are in force, or are to be. Internal to dispatch/registry.
class KEYWAY_API CustomClassTable {
 public:
  // Requires: there is none of that name or type in it.
  void add(const intrusive_ptr<CustomClass>& added, std::uint64_t block);
  // Puts the classes of `added` in force, and takes those of a block out of it.
  static void put_in_force(CustomClassTable& added) noexcept;
  static void withdraw(std::uint64_t block) noexcept;

 private:
  friend class CustomClass;
  struct Entry {
    intrusive_ptr<CustomClass> custom_class;
    std::uint64_t block = 0;
  };
  std::map<std::string, Entry, std::less<>> by_name_;
  std::map<std::type_index, intrusive_ptr<CustomClass>> by_type_;
};

}  // namespace keyway::inline v1
