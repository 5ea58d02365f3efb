// Value: one argument of a fuzzed call, described: what a call is made from, as often as it is made, and what a report
// prints of it.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// Whether a tensor is one of its own, or shares memory with the first tensor of the call.
enum class Sharing : std::uint8_t {
  None,
  Same,     // it is that tensor
  View,     // another tensor, over the same memory
  Shifted,  // another tensor, one row further
};

// A tensor to be made: every call gets new ones, so that none sees what another wrote.
struct TensorRecipe {
  std::vector<std::int64_t> sizes = {};
  std::vector<std::int64_t> strides = {};  // empty for row-major
  std::int64_t offset = 0;
  ScalarType dtype = ScalarType::Float;
  DeviceType device = DeviceType::CPU;
  std::vector<Scalar> elements = {};  // of the storage, from its start, again and again
  bool defined = true;
  bool requires_grad = false;
  Sharing sharing = Sharing::None;
};

struct Value {
  enum class Kind : std::uint8_t { Plain, Tensor, Tensors, TensorLists };
  Kind kind = Kind::Plain;
  IValue plain = {};                       // of Plain
  std::vector<TensorRecipe> tensors = {};  // one of Tensor; of TensorLists, those of all lists
  std::vector<std::size_t> lengths = {};   // of the lists of TensorLists
};

// The value that an argument of an example is. Requires: its tensors are on the CPU.
Value value_of(const IValue& argument);
// Adds what few types of arguments take, each of another tag: the boxed call is to say so.
void add_wrong_tags(std::vector<Value>& values);

// The arguments of one call, new ones. Each tensor of the CPU has its counterpart on `device`, on Meta without
// elements.
Stack make_stack(const std::vector<Value>& values, DeviceType device = DeviceType::CPU);

// "float32[2, 3] of [1, 2]", "[1, 2]", "None". Long ones are cut off.
std::string to_text(const Value& value);
// "add.Tensor(self=..., other=...)".
std::string to_text(const std::string& op, const std::vector<std::string>& names, const std::vector<Value>& values);

}  // namespace keyway::inline v1::tools
