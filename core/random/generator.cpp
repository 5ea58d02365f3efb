#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/keys/thread_bound.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/random/generator_listener.h>
#include <keyway/core/random/thread_seed.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace keyway::inline v1 {
namespace {
constexpr std::uint64_t kCalls = std::uint64_t{1} << 48;  // PhiloxCall has 48 bits for the call

// Guards the states of all generators, which are read and changed in a few instructions.
constinit ForkSafeMutex states_mutex(LockOrder::Generators);
}  // namespace

struct Generator::Impl : RefCounted {
  explicit Impl(Device d) : device(d) {}
  const Device device;
  bool is_default = false;  // of its device
  GeneratorState state{kDefaultSeed, 0};
  // What the calling thread sees as its state. Requires: states_mutex is held.
  GeneratorState& seen();
};

struct ThreadSeedStates {
  std::uint64_t seed;
  ThreadSeedStates* const outer;
  std::vector<std::pair<const void*, GeneratorState>> of{};  // of default generators that were asked for
};

namespace {

thread_local constinit GeneratorListener generator_listener = nullptr;

GeneratorState& state_in(ThreadSeedStates& states, const void* generator) {
  for (auto& [owner, state] : states.of) {
    if (owner == generator) return state;
  }
  return states.of.emplace_back(generator, GeneratorState{states.seed, 0}).second;
}

}  // namespace

void tell_generator_listener() {
  if (generator_listener != nullptr) [[unlikely]]
    generator_listener();
}

GeneratorState& Generator::Impl::seen() {
  return is_default && thread_bound.seed != nullptr ? state_in(*thread_bound.seed, this) : state;
}

ThreadSeed::ThreadSeed(std::uint64_t seed) : states_(new ThreadSeedStates{seed, thread_bound.seed}) {
  tell_generator_listener();
  thread_bound.seed = states_.get();
}
ThreadSeed::~ThreadSeed() {
  try {
    tell_generator_listener();
  } catch (const std::exception&) {  // who listens has noted it, and tells when it ends
  }
  thread_bound.seed = states_->outer;
}

Generator::Generator(Device device) : impl_(make_intrusive<Impl>(device)) { tell_generator_listener(); }
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
  tell_generator_listener();
  const std::lock_guard lock(states_mutex);
  return impl_->seen();
}

GeneratorListener exchange_generator_listener(GeneratorListener listener) {
  return std::exchange(generator_listener, listener);
}

void Generator::set_state(GeneratorState state) {
  tell_generator_listener();
  KEYWAY_CHECK(state.call <= kCalls, "A generator's state has call number {}, but a sequence has only 2^48 calls.",
               state.call);
  const std::lock_guard lock(states_mutex);
  impl_->seen() = state;
}

Generator Generator::clone() const {
  Generator copy(impl_->device);
  copy.set_state(get_state());
  return copy;
}

PhiloxCall Generator::next_call() {
  const GeneratorState state = take_calls(1);
  return {state.seed, state.call};
}

GeneratorState Generator::take_calls(std::uint64_t count) {
  const std::lock_guard lock(states_mutex);
  GeneratorState& state = impl_->seen();
  KEYWAY_CHECK(count <= kCalls - state.call,
               "The random numbers of seed {} are used up after 2^48 calls; seed the generator anew.", state.seed);
  return {state.seed, std::exchange(state.call, state.call + count)};
}

namespace {

thread_local constinit CapturedDraws* captured_draws = nullptr;

}  // namespace

CapturedDraws::CapturedDraws(Device device, const PhiloxStart* start) : device_(device), start_(start) {
  captured_draws = this;
}
CapturedDraws::~CapturedDraws() { captured_draws = nullptr; }

namespace {

// Of devices with an index, as they are asked for. Never destroyed: operators may run while the program exits.
struct Defaults {
  std::uint64_t seed = Generator::kDefaultSeed;
  std::map<std::pair<DeviceType, int>, Generator> of;
};
Defaults& defaults() {
  static Defaults& all = *new Defaults;
  return all;
}

}  // namespace

Generator& default_cpu_generator() { return default_generator(DeviceType::CPU); }

Generator& default_generator(Device device) {
  if (device.is_cpu()) {
    static Generator* const generator = [] {
      auto* const made = new Generator(nullptr);
      made->impl_ = make_intrusive<Generator::Impl>(DeviceType::CPU);
      made->impl_->is_default = true;
      return made;
    }();
    return *generator;
  }
  const Device own = device.has_index() ? device : current_device(device.type());
  const std::lock_guard lock(states_mutex);
  auto& [seed, generators] = defaults();
  const auto [entry, is_new] = generators.try_emplace({own.type(), own.index()}, nullptr);
  if (is_new) {
    entry->second.impl_ = make_intrusive<Generator::Impl>(own);
    entry->second.impl_->is_default = true;
    entry->second.impl_->state.seed = seed;
  }
  return entry->second;
}

void manual_seed(std::uint64_t seed) {
  default_cpu_generator().manual_seed(seed);
  const std::lock_guard lock(states_mutex);
  if (thread_bound.seed != nullptr) {
    thread_bound.seed->seed = seed;
    thread_bound.seed->of.clear();
    return;
  }
  defaults().seed = seed;
  for (auto& [device, generator] : defaults().of) generator.impl_->state = {seed, 0};
}

PhiloxCall next_call(const Generator& generator, Device device) {
  if (captured_draws != nullptr && captured_draws->device_ == device) {
    KEYWAY_CHECK(
        !generator.defined() || generator == default_generator(device),
        "a graph of {} is captured: its replays draw from the default generator of the device, and the call names "
        "another one",
        device);
    return {0, captured_draws->calls_++, captured_draws->start_};
  }
  if (!generator.defined()) return default_generator(device).next_call();
  const Device own = generator.device();
  KEYWAY_CHECK(own.type() == device.type() && (!own.has_index() || own.index() == device.index()),
               "the generator is for device {}, but the tensor is on {}", own, device);
  Generator handle = generator;
  return handle.next_call();
}

}  // namespace keyway::inline v1
