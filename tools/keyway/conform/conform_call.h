// ConformCall: a call of an operator on one device, and what became of it.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

struct ConformCall {
  Stack arguments, results;
  std::vector<std::uint32_t> versions;  // of the arguments' tensors, before the call
  std::string error;                    // empty if it returned
  bool is_served = true;
  bool is_late = false;       // the error came from the device, after the call had returned
  bool leaves_device = true;  // the current device, and its current stream
};

// An operator of which calls are made.
class ConformOperator {
 public:
  explicit ConformOperator(const OperatorHandle& op);

  // New arguments on a device: the current one of its type, if it has no index. A generator is one of the call's own.
  Stack arguments(const std::vector<Value>& values, Device device) const;
  // Makes the call, and waits for the device.
  ConformCall call(Stack arguments, Device device) const;
  ConformCall call(const std::vector<Value>& values, Device device) const {
    return call(arguments(values, device), device);
  }
  // The same without waiting.
  ConformCall queue(Stack arguments, Device device) const;

  const OperatorHandle& handle() const { return op_; }
  const std::string& argument_name(std::size_t i) const { return names_[i]; }
  bool is_written(std::size_t i) const { return written_[i]; }
  bool is_out(std::size_t i) const { return out_[i]; }
  // Whether results do not depend on what memory held before.
  bool has_values() const { return has_values_; }
  bool is_pointwise() const { return is_pointwise_; }
  // Whether it ends at a kernel that calls other operators, and not at one of the device.
  bool is_composite(DeviceType device) const;
  // Whether an argument that the call writes to has the tensor's memory.
  bool is_written_elsewhere(const TensorBase& tensor, const ConformCall& call) const;
  // Whether IEEE 754 rounds each result correctly: sums, products, quotients and roots.
  bool is_basic() const { return is_basic_; }

 private:
  OperatorHandle op_;
  std::vector<std::string> names_;
  std::vector<bool> written_, out_, names_device_, pins_;  // by argument
  bool has_values_;
  bool is_pointwise_, is_basic_;
};

// A copy on the CPU, or the tensor itself if it is there.
TensorBase on_cpu(const TensorBase& tensor);
// All elements of the storage, as a tensor of the CPU.
TensorBase whole_storage(const TensorBase& tensor);
std::uint32_t version_of(const TensorBase& tensor);
// Of tensors of one shape, of the dimensions that have several elements.
bool same_strides(const TensorBase& a, const TensorBase& b);
// Whether the tensors can be copied to a device: those of a few elements to the byte cannot, nor those on Meta.
bool can_be_made(const std::vector<Value>& values);
// Whether elements that several tensors of a list have in common are changed, which is in nobody's order.
bool writes_shared_list(const ConformOperator& op, const std::vector<Value>& values);
bool shares_memory(const std::vector<Value>& values);
// Where the results of two calls, or what they made of their arguments, differ in a bit; empty if nowhere.
std::string bits_difference(const ConformOperator& op, const ConformCall& call, const ConformCall& expected);

}  // namespace keyway::inline v1::tools
