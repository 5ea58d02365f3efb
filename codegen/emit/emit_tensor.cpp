// The class Tensor and its methods: those of the schemas, and a few that stand in no schema (kExtras).
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/public_api.h>

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace keyway::inline v1 {
namespace {

// Methods that PyTorch's Tensor has and its schemas do not; each is there if the operator that it calls is.
struct Extra {
  std::string_view op;  // full name
  std::string_view declaration;
  std::string_view definition;
};
constexpr Extra kExtras[] = {
    {"_backward",
     "  // Computes the gradients of the leaves that this was computed from, or of `inputs`. Without "
     "`gradient` this\n"
     "  // must have one element.\n"
     "  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,\n"
     "                bool create_graph = false, ArrayRef<Tensor> inputs = {}) const;\n",
     "inline void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool "
     "create_graph,\n"
     "                             ArrayRef<Tensor> inputs) const {\n"
     "  _backward(inputs, gradient, retain_graph, create_graph);\n"
     "}\n"},
    {"item",
     "  // The only element, as a T. Throws keyway::Error if T cannot hold it.\n"
     "  template <typename T>\n"
     "  T item() const {\n"
     "    return item().to<T>();\n"
     "  }\n",
     ""},
    {"data",
     "  // PyTorch's older name of data_ptr().\n"
     "  template <typename T>\n"
     "  T* data() const {\n"
     "    return data_ptr<T>();\n"
     "  }\n",
     ""},
    {"copy_",
     "  // Writing into an expression writes elements: `x[0] = y`.\n"
     "  Tensor& operator=(const Tensor& source) && { return copy_(source); }\n",
     ""},
    {"fill.Scalar", "  Tensor& operator=(const Scalar& value) && { return fill_(value); }\n", ""},
    {"index_put_",
     "  // What x[...] and x[...] = value are in Python (ops/indexing/get_item.h): x.index({0, Slice(1, None), "
     "mask}).\n"
     "  KEYWAY_API Tensor index(ArrayRef<indexing::TensorIndex> indices) const;\n"
     "  KEYWAY_API Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;\n"
     "  KEYWAY_API Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value) const;\n"
     "  KEYWAY_API Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const;\n"
     "  KEYWAY_API Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value) "
     "const;\n"
     "  KEYWAY_API Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) "
     "const;\n"
     "  KEYWAY_API Tensor operator[](const Tensor& index) const;\n",
     ""},
    {"select.int", "  Tensor operator[](std::int64_t index) const;\n",
     "inline Tensor Tensor::operator[](std::int64_t index) const { return select(0, index); }\n"},
    {"to.dtype_layout",
     "  Tensor cpu() const;\n"
     "  Tensor cuda() const;\n"
     "  Tensor toType(ScalarType dtype) const;\n",
     "inline Tensor Tensor::cpu() const { return to(DeviceType::CPU); }\n"
     "inline Tensor Tensor::cuda() const { return to(DeviceType::CUDA); }\n"
     "inline Tensor Tensor::toType(ScalarType dtype) const { return to(dtype); }\n"},
};

bool has_op(const std::vector<Family>& families, std::string_view name) {
  return std::ranges::any_of(families, [&](const Family& family) {
    return std::ranges::any_of(family.ops, [&](const Op& op) { return op.name() == name; });
  });
}

// Those parts of the extras that there are, below a title.
std::string extras_text(const std::vector<Family>& families, std::string_view Extra::*part, std::string_view indent) {
  std::string out;
  for (const Extra& extra : kExtras)
    if (has_op(families, extra.op)) out += extra.*part;
  return out.empty() ? out : fmt::format("\n{}// --- Short forms\n\n{}", indent, out);
}

constexpr std::string_view kClassHead = R"(
namespace keyway::inline v1 {

namespace indexing {
class TensorIndex;  // one item between the brackets of x[...]
}

// A tensor with the operators that are methods. Copies share one tensor; a default-made one is undefined.
class Tensor : public TensorBase {
 public:
  using TensorBase::TensorBase;
  Tensor() = default;
  Tensor(const TensorBase& base) : TensorBase(base) {}                 // NOLINT
  Tensor(TensorBase&& base) noexcept : TensorBase(std::move(base)) {}  // NOLINT
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  ~Tensor() = default;

  // The address of the first element. What is not const is to write to, or to keep: bytes that are shared until they
  // are written to (_lazy_clone) become the tensor's own first. Throws keyway::Error if T is not the tensor's dtype.
  void* data_ptr() const { return mutable_data_ptr(); }
  template <typename T>
  T* data_ptr() const {
    if constexpr (std::is_const_v<T>) {
      return TensorBase::data_ptr<T>();
    } else {
      return mutable_data_ptr<T>();
    }
  }

  // What backward() has accumulated; undefined if there is nothing yet.
  Tensor grad() const {
    const AutogradMetaInterface* meta = defined() ? impl_->autograd_meta() : nullptr;
    return meta == nullptr ? Tensor() : Tensor(meta->grad());
  }
)";

constexpr std::string_view kClassTail = R"(
 private:
  // Methods that write are const, as in PyTorch: a handle is constant, what it refers to is not.
  Tensor& mutable_self() const { return const_cast<Tensor&>(*this); }
};
static_assert(sizeof(Tensor) == sizeof(TensorBase) && alignof(Tensor) == alignof(TensorBase));

}  // namespace keyway::inline v1

)";

std::string method_declaration(const PublicFunction& method) {
  return public_comment(method, "  ", true) +
         Doc::list(fmt::format("{} {}(", method.result, method.name), declared(method.parameters), ") const;").lines(2);
}

std::string method_definition(const PublicFunction& method) {
  return Doc::list(fmt::format("inline {} Tensor::{}(", method.result, method.name), defined(method.parameters),
                   ") const {")
             .lines() +
         public_body(method) + "}\n";
}

}  // namespace

std::string emit_tensor(const std::vector<Family>& families) {
  std::string out =
      file_banner(families) + "#pragma once\n\n" +
      includes({"keyway/core/base/optional_array_ref.h", "keyway/core/random/generator.h",
                "keyway/core/tensor/reduction.h", "keyway/core/dtype/scalar.h", "keyway/core/tensor/tensor_base.h"}) +
      "\n#include <cstdint>\n#include <initializer_list>\n#include <optional>\n#include <string_view>\n#include "
      "<tuple>\n"
      "#include <type_traits>\n#include <utility>\n#include <vector>\n";
  out += kClassHead;
  for (const Family& family : families) {
    const std::vector<PublicFunction> methods = public_methods(family);
    if (methods.empty()) continue;
    out += fmt::format("\n  // --- {}\n\n", family.name);
    for (const PublicFunction& method : methods) out += method_declaration(method);
  }
  out += extras_text(families, &Extra::declaration, "  ");
  out += kClassTail;
  std::vector<std::string> parts = {"keyway/ops/methods.h"};
  if (!emit_tensor_operators(families).empty()) parts.emplace_back("keyway/ops/tensor_operators.h");
  if (has_op(families, "index_put_")) parts.emplace_back("keyway/ops/indexing/tensor_index.h");
  return out + includes(std::move(parts));
}

std::string emit_methods(const std::vector<Family>& families) {
  std::vector<std::string> paths = {"keyway/dispatch/call/call.h", "keyway/dispatch/call/user_kernel.h",
                                    "keyway/ops/adapters.h", "keyway/tensor.h"};
  std::string methods;
  for (const Family& family : families) {
    const std::vector<PublicFunction> of_family = public_methods(family);
    if (of_family.empty()) continue;
    paths.push_back(own_header(family, "ops/{}_entries.h"));
    methods += fmt::format("\n// --- {}\n\n", family.name);
    for (const PublicFunction& method : of_family) methods += method_definition(method);
  }
  return header_text(file_banner(families) + "// Included by tensor.h.\n", std::move(paths), families.front(), "",
                     methods + extras_text(families, &Extra::definition, ""));
}

}  // namespace keyway::inline v1
