#include <keyway/core/base/error.h>
#include <keyway/core/generator.h>

#include <mutex>
#include <random>

namespace keyway::inline v1 {
namespace {
constexpr std::uint64_t kCalls = std::uint64_t{1} << 48;  // PhiloxCall has 48 bits for the call
}

struct Generator::Impl : RefCounted {
  explicit Impl(Device d) : device(d) {}
  const Device device;
  std::mutex mutex;
  GeneratorState state{kDefaultSeed, 0};
};

Generator::Generator(Device device) : impl_(make_intrusive<Impl>(device)) {}
Generator::Generator(const Generator&) = default;
Generator& Generator::operator=(const Generator&) = default;
Generator::~Generator() = default;
Generator::Generator(std::nullptr_t) {}

Device Generator::device() const { return impl_->device; }

void Generator::manual_seed(std::uint64_t seed) { set_state({seed, 0}); }

std::uint64_t Generator::seed() {
  std::random_device entropy;
  const std::uint64_t high = entropy();
  const std::uint64_t seed = high << 32 | entropy();
  manual_seed(seed);
  return seed;
}

std::uint64_t Generator::initial_seed() const { return get_state().seed; }

GeneratorState Generator::get_state() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state;
}

void Generator::set_state(GeneratorState state) {
  KEYWAY_CHECK(state.call <= kCalls, "A generator's state has call number {}, but a sequence has only 2^48 calls.",
               state.call);
  const std::lock_guard lock(impl_->mutex);
  impl_->state = state;
}

Generator Generator::clone() const {
  Generator copy(impl_->device);
  copy.set_state(get_state());
  return copy;
}

PhiloxCall Generator::next_call() {
  const std::lock_guard lock(impl_->mutex);
  GeneratorState& state = impl_->state;
  KEYWAY_CHECK(state.call < kCalls,
               "The random numbers of seed {} are used up after 2^48 calls; seed the generator anew.", state.seed);
  return {state.seed, state.call++};
}

Generator& default_cpu_generator() {
  // Never destroyed: operators may run while the program exits.
  static Generator* const generator = new Generator(DeviceType::CPU);
  return *generator;
}

void manual_seed(std::uint64_t seed) { default_cpu_generator().manual_seed(seed); }

}  // namespace keyway::inline v1
