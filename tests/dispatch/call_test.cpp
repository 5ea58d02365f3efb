#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

using namespace keyway;
using namespace keyway::testing;

namespace {
using F = Functionality;

// The keys that a typed call and a boxed call of one operator are resolved by.
template <typename... Args>
DispatchKeySet keys_of(std::string_view name, const std::remove_reference_t<Args>&... args) {
  Stack stack;
  (stack.push_back(detail::box(args)), ...);
  const DispatchKeySet typed = call_keys<Args...>(args...);
  CHECK(boxed_call_keys(op(name).entry(), stack) == typed);
  return typed;
}
}  // namespace

TEST_CASE("a call has the keys of its tensors, of lists and of the thread") {
  const RegistrationHandle def =
      Block().def("keys::one(Tensor self, Tensor? other) -> ()").def("keys::list(Tensor?[] all, int n) -> ()").commit();
  using T = const TensorBase&;
  using L = ArrayRef<TensorBase>;
  const DispatchKeySet cpu = tensor().key_set();
  const DispatchKeySet meta = tensor(kMeta).key_set();
  CHECK(cpu == DispatchKeySet{DispatchKey::CPU, DispatchKey::ADInplaceOrView});
  CHECK(keys_of<T, T>("keys::one", tensor(), tensor(kMeta)) == (cpu | meta));
  CHECK(keys_of<T, T>("keys::one", tensor(), TensorBase()) == cpu);
  CHECK(keys_of<T, T>("keys::one", TensorBase(), TensorBase()).empty());
  const TensorBase list[] = {TensorBase(), tensor(), tensor(kMeta)};
  CHECK(keys_of<L, std::int64_t>("keys::list", L(list), 1) == (cpu | meta));
  CHECK(keys_of<L, std::int64_t>("keys::list", L(), 1).empty());

  const IncludeDispatchKeyGuard include{DispatchKeySet(F::Tracer) | DispatchKeySet(F::Batched)};
  CHECK(keys_of<T, T>("keys::one", tensor(), TensorBase()) == cpu.add(F::Tracer).add(F::Batched));
  const ExcludeDispatchKeyGuard exclude{DispatchKeySet(DispatchKey::AutogradCPU) | DispatchKeySet(F::Batched) |
                                        DispatchKeySet(DispatchKey::ADInplaceOrView)};
  // Exclusion wins, and leaves the backend.
  CHECK(keys_of<T, T>("keys::one", tensor(), TensorBase()) == DispatchKeySet(DispatchKey::CPU).add(F::Tracer));
}

TEST_CASE("a factory has its device's keys, and passes BackendSelect") {
  static DispatchKeySet selected;
  const RegistrationHandle def =
      Block()
          .def("keys::make(int n, *, Device? device=None) -> str")
          .def("keys::make_on(Device device) -> str")
          .impl("keys::make", DispatchKey::CPU, [](std::int64_t, std::optional<Device>) { return std::string("cpu"); })
          .impl("keys::make", DispatchKey::Meta,
                [](std::int64_t, std::optional<Device>) { return std::string("meta"); })
          .impl("keys::make_on", DispatchKey::Meta, [](Device) { return std::string("meta"); })
          .commit();
  using D = std::optional<Device>;
  CHECK(keys_of<std::int64_t, D>("keys::make", 1, D()) == DispatchKeySet{DispatchKey::CPU, DispatchKey::BackendSelect});
  CHECK(keys_of<std::int64_t, D>("keys::make", 1, D(kMeta)) ==
        DispatchKeySet{DispatchKey::Meta, DispatchKey::BackendSelect});
  CHECK(keys_of<Device>("keys::make_on", Device("cuda:1")) ==
        DispatchKeySet{DispatchKey::CUDA, DispatchKey::BackendSelect});

  const auto make = op("keys::make").typed<std::string(std::int64_t, D)>();
  CHECK(make.call(1, std::nullopt) == "cpu");
  CHECK(make.call(1, Device(kMeta)) == "meta");
  CHECK(op("keys::make_on").typed<std::string(Device)>().call(kMeta) == "meta");
  CHECK(error_of([&] { make.call(1, Device(kCUDA)); })
            .find("keys::make: it has no kernel for CUDA, which argument 'device' names; no backend of device type "
                  "cuda is loaded: a program that links the archive loads no libkeyway_cuda.so.") == 0);

  const RegistrationHandle select =
      Block()
          .impl("keys::make", DispatchKey::BackendSelect,
                [make](DispatchKeySet keys, std::int64_t n, D device) {
                  selected = keys;
                  return make.redispatch(keys.remove(F::BackendSelect), n, device) + " selected";
                })
          .commit();
  CHECK(make.call(1, Device(kMeta)) == "meta selected");
  CHECK(selected == DispatchKeySet{DispatchKey::Meta, DispatchKey::BackendSelect});
}

TEST_CASE("a call without tensors is served by composites") {
  const RegistrationHandle def =
      Block().def("keys::none(Tensor? t) -> int").impl("keys::none", DispatchKey::CPU, gives<1>).commit();
  const auto none = op("keys::none").typed<std::int64_t(const TensorBase&)>();
  CHECK(none.call(tensor()) == 1);
  CHECK(error_of([&] { none.call(TensorBase()); }) ==
        "keys::none: no tensor is given for 't', and it has no kernel that works without one. Keys of the call: {}. "
        "Registered: CPU (test.cpp:1).");
  const RegistrationHandle composite =
      Block().impl("keys::none", DispatchKey::CompositeExplicitAutograd, gives<2>).commit();
  CHECK(none.call(TensorBase()) == 2);
  CHECK(none.redispatch(DispatchKeySet(), tensor()) == 2);
}

TEST_CASE("redispatch uses its keys as they are") {
  const RegistrationHandle def = Block()
                                     .def("keys::re(Tensor t) -> int")
                                     .impl("keys::re", DispatchKey::CPU, gives<1>)
                                     .impl("keys::re", DispatchKey::Meta, gives<2>)
                                     .impl("keys::re", DispatchKey::Tracer, gives<3>)
                                     .commit();
  const auto re = op("keys::re").typed<std::int64_t(const TensorBase&)>();
  const TensorBase cpu = tensor();
  const IncludeDispatchKeyGuard include{DispatchKeySet(F::Tracer)};
  CHECK(re.call(cpu) == 3);
  CHECK(re.redispatch(cpu.key_set(), cpu) == 1);
  CHECK(re.redispatch(tensor(kMeta).key_set(), cpu) == 2);
  Stack stack = {cpu};
  re.redispatch_boxed(tensor(kMeta).key_set(), stack);
  CHECK(stack.at(0).to_int() == 2);
}

TEST_CASE("what falls through is skipped, for each backend by itself") {
  // A composite with a kernel of the CPU: the CPU's autograd key falls through, the others' have the composite.
  const RegistrationHandle def = Block()
                                     .def("keys::fall(Tensor t) -> int")
                                     .impl("keys::fall", DispatchKey::CompositeImplicitAutograd, gives<1>)
                                     .impl("keys::fall", DispatchKey::CPU, gives<2>)
                                     .commit();
  const auto fall = op("keys::fall").typed<std::int64_t(const TensorBase&)>();
  const TensorBase t = tensor();
  CHECK(fall.entry().table().backend_masks != nullptr);
  CHECK(fall.redispatch({DispatchKey::CPU, DispatchKey::AutogradCPU}, t) == 2);
  CHECK(fall.redispatch({DispatchKey::Meta, DispatchKey::AutogradMeta}, t) == 1);
  CHECK(error_of([&] {
          fall.redispatch(DispatchKeySet(F::Dense), t);
        }).find("keys::fall: the key set {Dense} names no backend.") == 0);
  CHECK(fall.redispatch(DispatchKeySet(F::ADInplaceOrView), t) == 1);  // to Undefined

  const RegistrationHandle skip = Block()
                                      .impl("keys::fall", DispatchKey::AutogradMeta, Fallthrough{})
                                      .impl("keys::fall", DispatchKey::CPU, Fallthrough{})
                                      .commit();
  CHECK(fall.redispatch({DispatchKey::Meta, DispatchKey::AutogradMeta}, t) == 1);
  CHECK(explain_slot(fall, DispatchKey::AutogradMeta).rule == ResolutionRule::Fallthrough);
  CHECK(fall.redispatch({DispatchKey::CPU, DispatchKey::AutogradCPU}, t) == 1);  // Undefined's
}

TEST_CASE("a fallback serves what has no kernel of its own") {
  static std::string log;
  const RegistrationHandle def =
      Block().def("keys::first(Tensor t) -> int").impl("keys::first", DispatchKey::CPU, gives<1>).commit();
  const auto first = op("keys::first").typed<std::int64_t(const TensorBase&)>();
  const TensorBase t = tensor(kMeta);
  RegistrationHandle fallback =
      Block()
          .fallback(DispatchKey::Meta,
                    [](const OperatorEntry& called, const KernelBase&, DispatchKeySet keys, Stack& stack) {
                      log += called.short_name() + to_string(keys) + ";";
                      stack.back() = tensor();
                      redispatch_boxed(called, DispatchKeySet{DispatchKey::CPU}, stack);
                    })
          .commit();
  CHECK(first.call(t) == 1);
  // An operator that comes later has it too.
  const RegistrationHandle later =
      Block().def("keys::later(Tensor t) -> int").impl("keys::later", DispatchKey::CPU, gives<2>).commit();
  CHECK(op("keys::later").typed<std::int64_t(const TensorBase&)>().call(t) == 2);
  CHECK(log == "keys::first{Meta};keys::later{Meta};");
  Stack stack = {t};
  first.redispatch_boxed(DispatchKeySet{DispatchKey::Meta}, stack);
  CHECK(stack.at(0).to_int() == 1);
  fallback.undo();
  CHECK(error_of([&] { first.call(t); }).find("keys::first: it has no kernel for Meta") == 0);
}

TEST_CASE("a handle asks for the schema's signature") {
  const RegistrationHandle def = Block().def("keys::sig(Tensor self, int[]? dim, Scalar s=1) -> Tensor").commit();
  const OperatorHandle sig = op("keys::sig");
  (void)sig.typed<TensorBase(const TensorBase&, std::optional<ArrayRef<std::int64_t>>, const Scalar&)>();
  CHECK(error_of([&] { (void)sig.typed<TensorBase(const TensorBase&, const Scalar&)>(); }) ==
        "a handle of keys::sig is asked for with a C++ signature of its own: argument 2, 'dim', is const Scalar&, not "
        "std::optional<ArrayRef<std::int64_t>>\n"
        "      schema  keys::sig(Tensor self, int[]? dim, Scalar s=1) -> Tensor\n"
        "      kernel  keys::sig(Tensor     , Scalar    ,           ) -> Tensor\n"
        "                                     ^^^^^^^^^^");
}

TEST_CASE("a tensor or a generator that is absent may be given as nothing") {
  const RegistrationHandle def = Block()
                                     .def("calls::absent(Tensor? a, Generator? g) -> bool[]")
                                     .impl("calls::absent", DispatchKey::CompositeExplicitAutograd,
                                           [](const std::optional<TensorBase>& a, const std::optional<Generator>& g) {
                                             return std::vector<bool>{a.has_value(), g.has_value()};
                                           })
                                     .commit();
  using Sig = std::vector<bool>(const std::optional<TensorBase>&, std::optional<Generator>);
  const auto absent = op("calls::absent").typed<Sig>();
  CHECK(absent.call(std::nullopt, std::nullopt) == std::vector<bool>{false, false});
  CHECK(absent.call(tensor(), std::nullopt) == std::vector<bool>{true, false});
}
