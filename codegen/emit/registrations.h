// Registrations: which kernels the table of each overload holds. One place, since three files must agree: the
// tables themselves, the declarations of autograd kernels, and the kernels.
#pragma once

#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/codegen/model/wrapper_kind.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// Whether the operator has kernels of its own below autograd. Not so a composite without `derivatives`: its
// gradients are those of the operators that it calls.
bool is_below_autograd(const Op& op);

// Whether autograd/kernels_<family>.h declares a kernel for the overload at Autograd, named like the
// overload. There is one if any derivative is not None; also for every overload that writes to a tensor,
// whatever its derivatives: the history of what it overwrites ends there, and out= refuses tensors that need
// gradients.
bool has_autograd_kernel(const Op& op, const Overload& overload);

// The same at ADInplaceOrView, named adinplace_<overload>: where the overload writes to a tensor or returns a
// view.
bool has_adinplace_kernel(const Op& op, const Overload& overload);

// The same at Autocast: of the functional overload of an entry with `autocast`, one that needs no declaration.
bool has_autocast_kernel(const Op& op, const Overload& overload);

// What wraps a kernel of the overload, as C++: "Functional<wrappers::mm, ops::mm_sig>".
Doc wrapper_type(const Op& op, const Overload& overload);

// Whether a backend, named as entries do ("CPU"), has a function in out style of its own for the operator.
bool has_native_kernel(const Op& op, std::string_view backend);

// Whether a backend serves the operator by a function in out style.
bool takes_backend_kernel(const Op& op);

struct Registration {
  std::string key;   // an enumerator of DispatchKey
  Doc kernel;        // the function of the table, as C++
  Doc context;       // its context, as C++; empty: none
  std::string name;  // for people: "cpu::add_Tensor"
  Doc boxed = {};    // a boxed kernel instead of `kernel`, as C++
};

// In the order in which tables list them.
std::vector<Registration> registrations_of(const Op& op, const Overload& overload);

}  // namespace keyway::inline v1
