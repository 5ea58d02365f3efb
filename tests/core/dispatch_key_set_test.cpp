#include <keyway/core/keys/dispatch_key_set.h>
#include <keyway/tests/catch.h>

#include <random>

using namespace keyway;

namespace {
using F = Functionality;
using K = DispatchKey;

// Every runtime key that stands for something.
std::vector<K> runtime_keys() {
  std::vector<K> keys;
  for (int slot = 1; slot < kSlotCount; ++slot) {
    const auto key = static_cast<K>(slot);
    if (!is_per_backend(functionality_of(key)) || backend_number_of(key) > 0) keys.push_back(key);
  }
  return keys;
}
}  // namespace

TEST_CASE("a key alone in a set is the one that the set finds") {
  CHECK(runtime_keys().size() == 5 * kBackendBits + 9);
  for (const K key : runtime_keys()) {
    const DispatchKeySet set(key);
    CHECK(set.highest_priority_key() == key);
    CHECK(set.has(key));
    CHECK(set.keys() == std::vector<K>{key});
    CHECK(DispatchKeySet::full().has_all(set));
  }
  CHECK(DispatchKeySet().highest_priority_key() == K::Undefined);
  CHECK(!DispatchKeySet::full().has(K::Undefined));
}

TEST_CASE("the functionality of highest priority wins, then the highest backend") {
  CHECK((DispatchKeySet{K::CPU, K::AutogradCPU, K::ADInplaceOrView}.highest_priority_key() == K::AutogradCPU));
  CHECK((DispatchKeySet{K::CPU, K::CUDA}.highest_priority_key() == K::CUDA));
  CHECK((DispatchKeySet{K::CPU, K::Profiler, K::AutocastCPU}.highest_priority_key() == K::Profiler));
  const DispatchKeySet last(runtime_key(F::Sparse, static_cast<DeviceType>(23)));
  CHECK(last.highest_backend_number() == 24);
  CHECK(last.highest_functionality() == F::Sparse);
}

TEST_CASE("a per-backend functionality without a backend finds its own slot, and no backend's") {
  for (const F f : {F::Dense, F::Quantized, F::Sparse, F::Autograd, F::Autocast}) {
    const DispatchKeySet set(f);
    CHECK(set.slot() == static_cast<unsigned>(slot_of(f, 0)));
    CHECK(to_string(set.highest_priority_key()) == std::string(to_string(f)) + " without a backend");
    CHECK(set.keys().empty());
  }
  CHECK(DispatchKeySet(DeviceType::CUDA).slot() == 0);
}

TEST_CASE("sets obey the algebra of bit sets, but difference and remove leave backends") {
  std::mt19937_64 random(3);
  const std::vector<K> keys = runtime_keys();
  for (int i = 0; i < 1000; ++i) {
    const auto draw = [&] { return DispatchKeySet::from_raw(random() & DispatchKeySet::full().raw()); };
    const DispatchKeySet a = draw(), b = draw(), c = draw();
    CHECK(((a | b) | c) == (a | (b | c)));
    CHECK((a & (b | c)) == ((a & b) | (a & c)));
    CHECK((a ^ b) == ((a | b) ^ (a & b)));
    CHECK(((a - b).raw() & ~DispatchKeySet::kBackendMask) == (a.raw() & ~b.raw() & ~DispatchKeySet::kBackendMask));
    CHECK(((a - b).raw() & DispatchKeySet::kBackendMask) == (a.raw() & DispatchKeySet::kBackendMask));
    CHECK(a.has_any(b) == !(a & b).empty());
    CHECK(a.has_all(b) == ((a & b) == b));
    const K key = keys[random() % keys.size()];
    CHECK(a.add(key).has(key));
    CHECK(!a.remove(key).has(functionality_of(key)));
    for (const K k : a.keys()) CHECK(a.has(k));
  }
  const DispatchKeySet both{K::CPU, K::AutogradCPU};
  CHECK(both.remove(K::AutogradCPU) == DispatchKeySet(K::CPU));
  CHECK(both.remove_backend(kCPU).highest_backend_number() == 0);
  CHECK(DispatchKeySet{K::CPU, K::AutogradCUDA} == DispatchKeySet{K::CUDA, K::AutogradCPU});
}

TEST_CASE("iteration crosses functionalities with backends, in rising priority") {
  const DispatchKeySet set{K::CPU, K::CUDA, K::AutogradCPU, K::ADInplaceOrView};
  CHECK(set.keys() == std::vector<K>{K::CPU, K::CUDA, K::ADInplaceOrView, K::AutogradCPU, K::AutogradCUDA});
  CHECK(to_string(set) == "{AutogradCUDA, AutogradCPU, ADInplaceOrView, CUDA, CPU}");
  CHECK(DispatchKeySet::full().keys() == runtime_keys());
}

TEST_CASE("named sets are what lies below their functionality") {
  CHECK(!kAfterAutograd.has(F::Autograd));
  CHECK(kAfterAutograd.has(F::ADInplaceOrView));
  CHECK(!kAfterADInplaceOrView.has(F::ADInplaceOrView));
  CHECK(kAfterADInplaceOrView.has_all({K::CPU, K::BackendSelect, K::Functionalize}));
  CHECK(DispatchKeySet::full_after(F::Undefined).raw() == DispatchKeySet::kBackendMask);
  CHECK(DispatchKeySet::full_after(F::Dense).raw() == DispatchKeySet::kBackendMask);
  // The alias Autograd is its functionality; composites are in no set.
  CHECK(DispatchKeySet(K::Autograd) == kAutogradKeys);
  CHECK(kAutogradKeys.has(K::Autograd));
  CHECK(!DispatchKeySet::full().has(K::CompositeImplicitAutograd));
}

TEST_CASE("keys are written and read by name, also those of backends loaded at run time") {
  const DeviceType npu = register_device_type("npu");
  CHECK(to_string(runtime_key(F::Dense, npu)) == "NPU");
  CHECK(to_string(runtime_key(F::Autograd, npu)) == "AutogradNPU");
  CHECK(to_string(K::Meta) == "Meta");
  CHECK(to_string(K::QuantizedCUDA) == "QuantizedCUDA");
  for (const K key : runtime_keys()) {
    const std::string name = to_string(key);
    if (name.find("UNKNOWN") == std::string::npos) CHECK(parse_dispatch_key(name) == key);
  }
  for (const K key : {K::Autograd, K::CompositeExplicitAutograd, K::CompositeImplicitAutograd, K::Undefined}) {
    CHECK(parse_dispatch_key(to_string(key)) == key);
  }
  for (const char* name : {"", "cpu", "Dense", "UNKNOWN", "AutogradUNKNOWN", "Dense without a backend", "CPUX"}) {
    CHECK(!parse_dispatch_key(name));
  }
}

static_assert(DispatchKeySet{DispatchKey::CPU}.slot() == static_cast<unsigned>(DispatchKey::CPU));
static_assert(sizeof(DispatchKeySet) == 8);
