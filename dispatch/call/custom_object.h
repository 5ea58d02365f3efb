// CustomObject: an object of a registered class, as kernels take and return it; canonically so, whatever the class.
#pragma once

#include <keyway/core/base/custom_class.h>

#include <concepts>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
concept CustomClassType = std::derived_from<T, CustomClassHolder>;
}  // namespace detail

// Copies share the object. Empty where an object may be absent.
class KEYWAY_API CustomObject {
 public:
  CustomObject() = default;
  // Throws keyway::Error: of kind Type if no library has registered its C++ class; of kind Registration while the
  // library that did is being unloaded.
  template <detail::CustomClassType T>
  CustomObject(intrusive_ptr<T> object) : object_(std::move(object)) {
    if (object_) adopt(typeid(T));
  }

  bool defined() const { return static_cast<bool>(object_); }
  const intrusive_ptr<CustomClassHolder>& holder() const { return object_; }
  bool is(const CustomObject& other) const { return object_ == other.object_; }
  // "my.Foo"; "None" if it is empty.
  std::string class_name() const;
  // Whether the object is of the registered class of that name, or of one that derives from it.
  bool is_of(std::string_view class_name) const;

  // The object as one of C++ class T; null if it is empty. Throws keyway::Error(Type) naming both classes if it is of
  // another one.
  template <detail::CustomClassType T>
  intrusive_ptr<T> to() const {
    if (!object_) return nullptr;
    CustomClassHolder& held = *object_;
    if (typeid(held) == typeid(T)) return intrusive_ptr<T>::retain(static_cast<T*>(&held));
    T* const found = dynamic_cast<T*>(&held);
    if (found == nullptr) wrong_class(typeid(T));
    return intrusive_ptr<T>::retain(found);
  }
  template <detail::CustomClassType T>
  explicit operator intrusive_ptr<T>() const {
    return to<T>();
  }

 private:
  void adopt(const std::type_info& known_as);
  [[noreturn]] void wrong_class(const std::type_info& wanted) const;

  intrusive_ptr<CustomClassHolder> object_;
};

// "my.Foo" of a registered C++ class; the compiler's name of another one.
KEYWAY_API std::string class_name_of(const std::type_info& type);

}  // namespace keyway::inline v1
