#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/inspect/schema_check.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

namespace {

// The defined tensors of one argument or result: itself, or those in lists.
std::vector<TensorBase> tensors_of(IValue& value) {
  std::vector<TensorBase> tensors;
  for_each_tensor({&value, 1}, [&](const TensorBase& tensor) { tensors.push_back(tensor); });
  return tensors;
}

bool has_memory(const TensorBase& tensor) { return tensor.defined() && tensor.storage(); }

bool share_memory(const TensorBase& a, const TensorBase& b) {
  return has_memory(a) && has_memory(b) && a.is_alias_of(b) && a.nbytes() > 0 && b.nbytes() > 0;
}

// Whether the stretches of memory in which two tensors lie overlap. Parts of one block, side by side, do not.
bool overlaps(const TensorBase& a, const TensorBase& b) { return share_memory(a, b) && overlap(a, b) != Overlap::None; }

// What a tensor is and holds, as long as that can be compared.
struct Remembered {
  TensorBase tensor;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  ScalarType dtype = ScalarType::Undefined;
  std::string bytes;  // of its storage, on the CPU

  explicit Remembered(TensorBase t) : tensor(std::move(t)) {
    if (!tensor.defined()) return;
    sizes = tensor.sizes().vec();
    strides = tensor.strides().vec();
    offset = tensor.storage_offset();
    dtype = tensor.dtype();
    bytes = bytes_of();
  }
  std::string bytes_of() const {
    if (!has_memory(tensor) || !tensor.is_cpu()) return {};
    const auto* first = static_cast<const char*>(tensor.storage().data());
    return first == nullptr ? std::string() : std::string(first, tensor.storage().nbytes());
  }
  // What of it is no longer so; empty if nothing.
  const char* changed() const {
    if (!tensor.defined()) return "";
    if (tensor.sizes() != IntArrayRef(sizes)) return "sizes";
    if (tensor.strides() != IntArrayRef(strides)) return "strides";
    if (tensor.storage_offset() != offset) return "storage offset";
    if (tensor.dtype() != dtype) return "dtype";
    return bytes_of() != bytes ? "elements" : "";
  }
};

struct RememberedArgument {
  Argument schema;
  std::vector<Remembered> tensors;
};

// The set of an annotation: "a" of Tensor(a!) and of Tensor(a -> *)[]; empty without one.
std::string set_of(SchemaType type) {
  while (!type.alias() && (type.is(TypeKind::List) || type.is(TypeKind::Optional))) type = type.element();
  const std::string text = type.alias() ? to_string(type.alias()) : std::string();
  return text.empty() ? text : text.substr(1, text.find_first_of("!) ") - 1);
}

class Check {
 public:
  explicit Check(const ObservedCall& call) : call_(call) {
    const ArgumentList schema = call.op.schema().arguments();
    for (std::size_t i = 0; i < schema.size() && call.first + i < call.stack.size(); ++i) {
      RememberedArgument argument{schema[i], {}};
      for (TensorBase& tensor : tensors_of(call.stack[call.first + i]))
        argument.tensors.emplace_back(std::move(tensor));
      arguments_.push_back(std::move(argument));
    }
  }

  void after() const {
    for (const RememberedArgument& argument : arguments_) check_argument(argument);
    const ArgumentList returns = call_.op.schema().returns();
    for (std::size_t i = 0; i < returns.size() && call_.first + i < call_.stack.size(); ++i) {
      for (const TensorBase& result : tensors_of(call_.stack[call_.first + i])) check_result(returns[i], i, result);
    }
    if (!is_composite()) check_between_results();
  }

 private:
  // Whether something is true of a tensor among the arguments.
  template <typename F>
  bool any_argument(const F& holds) const {
    return std::ranges::any_of(arguments_, [&](const RememberedArgument& argument) {
      return std::ranges::any_of(argument.tensors,
                                 [&](const Remembered& one) { return holds(argument.schema, one.tensor); });
    });
  }
  void check_argument(const RememberedArgument& argument) const {
    if (argument.schema.is_write()) return;
    for (const Remembered& tensor : argument.tensors) {
      const std::string changed = tensor.changed();
      if (changed.empty() || is_written(tensor.tensor, changed == "elements")) continue;
      fail("it changed the " + changed + " of argument '" + std::string(argument.schema.name()) +
           "', which the schema does not write to");
    }
  }

  // Whether a tensor is an argument that is written to, too, or if `memory` shares memory with one.
  bool is_written(const TensorBase& tensor, bool memory) const {
    return any_argument([&](Argument schema, const TensorBase& written) {
      return schema.is_write() && (tensor.is_same(written) || (memory && share_memory(tensor, written)));
    });
  }

  void check_result(Argument schema, std::size_t i, const TensorBase& result) const {
    if (!result.defined()) return;
    const std::string set = set_of(schema.type());
    const std::string name = "result " + std::to_string(i + 1);
    bool same = false;
    for (const RememberedArgument& argument : arguments_) {
      const bool own = !set.empty() && set_of(argument.schema.type()) == set;
      for (const Remembered& tensor : argument.tensors) {
        same = same || (own && result.is_same(tensor.tensor));
        if (own || is_composite() || shares_with_set(set, tensor.tensor)) continue;
        if (result.is_same(tensor.tensor) || share_memory(result, tensor.tensor)) {
          fail(name + " shares memory with argument '" + std::string(argument.schema.name()) +
               "', which the schema does not say");
        }
      }
    }
    if (schema.type().is_write() && !same) fail(name + " is not the argument that the schema says is returned");
  }

  // Two results without an annotation, or elements of one, have no element in common: a change of one would be a change
  // of the other, of which autograd knew nothing.
  void check_between_results() const {
    const ArgumentList returns = call_.op.schema().returns();
    std::vector<std::pair<std::size_t, TensorBase>> seen;
    for (std::size_t i = 0; i < returns.size() && call_.first + i < call_.stack.size(); ++i) {
      if (!set_of(returns[i].type()).empty()) continue;
      for (const TensorBase& result : tensors_of(call_.stack[call_.first + i])) {
        if (!result.defined()) continue;
        for (const auto& [earlier, other] : seen) {
          if (!result.is_same(other) && !overlaps(result, other)) continue;
          fail("results " + std::to_string(earlier + 1) + " and " + std::to_string(i + 1) +
               " share memory, which the schema does not say");
        }
        seen.emplace_back(i, result);
      }
    }
  }

  // What is written with other operators may give an argument back as it is, as dropout does where nothing is trained.
  // Within vmap it runs at Batched, with dual tensors at ForwardAD, in a capture at Tracer and Functionalize.
  bool is_composite() const {
    const DispatchKey key = call_.kernel.key;
    return key == DispatchKey::CompositeImplicitAutograd || key == DispatchKey::Batched ||
           key == DispatchKey::ForwardAD || key == DispatchKey::Tracer || key == DispatchKey::Functionalize;
  }

  // Whether an argument of a set has the memory of `tensor` too, so that a result of that set may have it.
  bool shares_with_set(const std::string& set, const TensorBase& tensor) const {
    return !set.empty() && any_argument([&](Argument schema, const TensorBase& one) {
      return set_of(schema.type()) == set && (one.is_same(tensor) || share_memory(one, tensor));
    });
  }

  [[noreturn]] void fail(const std::string& what) const {
    const KernelInfo& kernel = call_.kernel;
    std::string text = "the kernel for " + to_string(kernel.key);
    if (kernel.file[0] != '\0') text += std::string(" (") + kernel.file + ":" + std::to_string(kernel.line) + ")";
    Error error(ErrorKind::Internal, text + " broke the contract " + to_string(call_.op.schema()) + ": " + what,
                __FILE__, __LINE__);
    error.leave_op(call_.op.short_name());
    throw error;
  }

  const ObservedCall& call_;
  std::vector<RememberedArgument> arguments_;
};

class SchemaChecker : public CallObserver {
 public:
  void call(const ObservedCall& call) override {
    const Check check(call);
    call.proceed();
    check.after();
  }
};

}  // namespace

std::shared_ptr<CallObserver> schema_checker() { return std::make_shared<SchemaChecker>(); }

}  // namespace keyway::inline v1
