// The overloads that one entry stands for, named and spelled as ATen's are:
//
//   function and method   add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//   in-place              add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
//   out=                  add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
#pragma once

#include <keyway/codegen/model/model.h>
#include <keyway/core/schema/owned.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

enum class OverloadKind : std::uint8_t { Functional, Inplace, Out };

struct Overload {
  OverloadKind kind;
  OwnedSchema schema;
};

// The namespace that an operator stands in: Keyway's if its schema names none.
std::string_view namespace_of(FunctionSchema schema);
// "keyway::add.Tensor"
std::string qualified_name(FunctionSchema schema);
// An overload as an identifier: add.Tensor -> add_Tensor, add_.Tensor -> add__Tensor, mm -> mm.
std::string cpp_identifier(FunctionSchema schema);

// The four arguments that describe a new tensor, which users of C++ give as one TensorOptions.
bool is_tensor_option(std::string_view name);  // dtype, layout, device, pin_memory
// Whether the schema has all four.
bool has_tensor_options(FunctionSchema schema);

// The overloads of an op, in the order above. Functional stands also for an op that mutates by itself
// (copy_).
std::vector<Overload> expand_variants(const Op& op);

// The in-place overload writes to `self`, or to the first argument, which is then called self.
// Requires: can_be_inplace(schema).
std::string inplace_text(FunctionSchema schema);
// The out= overload: arguments for the results go last; all four tensor options are left out, as
// the caller's tensor has them. Requires: can_have_out(schema), and out
// fits the results.
std::string out_text(FunctionSchema schema, const OutOverload& out);

// Whether the variant makes sense: one Tensor result and a Tensor to write to; only results that are Tensors
// or lists.
bool can_be_inplace(FunctionSchema schema);
bool can_have_out(FunctionSchema schema);
bool can_be_method(FunctionSchema schema);

// How users call it where the entry does not say: as a function, as a method, or both. Functions of a namespace of
// Python are no methods.
Variants default_calls(FunctionSchema schema, bool has_namespace);

// The names by default: `out`, or `<overload>_out`; argument `out`, or `out0, out1`.
OutOverload default_out(FunctionSchema schema);

}  // namespace keyway::inline v1
