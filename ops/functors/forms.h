// HasForms: a functor of several forms, of which its parameters choose one before a loop begins:
//
//   template <typename Visitor>
//   KEYWAY_HD void choose(Visitor&& visit) const;   // calls visit(form) once
//
// A loop is compiled for each form by itself. The concept asks by a type that has a name: nvcc's front end takes a
// lambda in a requirement for a substitution failure where g++ does not, so that one would compile kernels for the
// functor, and the other launch those of its forms.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

namespace detail {
struct AnyForm {
  template <typename Form>
  KEYWAY_HD void operator()(const Form& /*form*/) const {}
};
}  // namespace detail

template <typename F>
concept HasForms = requires(const F& functor, const detail::AnyForm& visit) {
  functor.choose(visit);
};

}  // namespace keyway::inline v1
