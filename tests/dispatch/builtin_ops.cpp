#include <keyway/tests/dispatch/builtin_ops.h>

namespace keyway::inline v1 {
namespace testing {

namespace {
template <std::int64_t n>
std::int64_t returns(const KernelBase&, DispatchKeySet, const TensorBase&) {
  return n;
}

constexpr OpInfo kFull{.name = "keyway::builtin",
                       .overload = "",
                       .schema = "builtin(Tensor self) -> int",
                       .file = "ops.json",
                       .line = 5,
                       .signature = signature_hash<BuiltinSig>,
                       .boxed = {.tensors = 1, .device = -1, .arguments = 1}};
constexpr OpInfo kOverload{.name = "keyway::builtin",
                           .overload = "other",
                           .schema = "builtin.other(Tensor self) -> int",
                           .file = "ops.json",
                           .line = 9,
                           .signature = signature_hash<BuiltinSig>,
                           .boxed = {.tensors = 1, .device = -1, .arguments = 1}};
constexpr KernelInfo kFullKernels[] = {{},
                                       {DispatchKey::CPU, "cpu::builtin", "ops.json", 6},
                                       {DispatchKey::Autograd, "autograd::builtin", "ops.json", 7},
                                       {DispatchKey::CompositeImplicitAutograd, "builtin", "ops.json", 8}};
constexpr KernelInfo kOverloadKernels[] = {{}, {DispatchKey::CompositeExplicitAutograd, "builtin", "ops.json", 9}};
}  // namespace

// constinit: the compiler refuses what needs an initialiser at run time.
constinit const StaticTable<BuiltinSig, 4> builtin_full_table =
    make_static_table<BuiltinSig>(builtin_full, kFullKernels,
                                  {{DispatchKey::CPU, returns<1>},
                                   {DispatchKey::Autograd, returns<2>},
                                   {DispatchKey::CompositeImplicitAutograd, returns<3>}});
constinit const StaticTable<BuiltinSig, 2> builtin_overload_table = make_static_table<BuiltinSig>(
    builtin_overload, kOverloadKernels, {{DispatchKey::CompositeExplicitAutograd, returns<4>}});
constinit OperatorEntry builtin_full(kFull, builtin_full_table);
constinit OperatorEntry builtin_overload(kOverload, builtin_overload_table);

}  // namespace testing

namespace {
constinit OperatorEntry* const builtin_ops[] = {&testing::builtin_full, &testing::builtin_overload};
}
constinit const OpList kBuiltinOps{builtin_ops, 2};

}  // namespace keyway::inline v1
