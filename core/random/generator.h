// Generator: the state behind random operators. It hands out call numbers; the numbers themselves are pure
// functions of seed, call and element (base/philox.h), so a seed gives the same tensors on any device and
// with any thread count.
#pragma once

#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/base/macros.h>
#include <keyway/core/base/philox.h>
#include <keyway/core/device/device.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

class Generator;
KEYWAY_API Generator& default_generator(Device device);
KEYWAY_API void manual_seed(std::uint64_t seed);

// What a Generator is at one moment; set_state() takes it there again.
struct GeneratorState {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;  // the number that the next call gets
  friend constexpr bool operator==(GeneratorState, GeneratorState) = default;
};

// A handle: copies share one state. Every function may be called from any thread.
class Generator {
 public:
  static constexpr std::uint64_t kDefaultSeed = 67280421310721;

  // A new state with the default seed.
  KEYWAY_API explicit Generator(Device device = DeviceType::CPU);
  // No generator: what stands for an absent argument. Of it only defined() may be asked.
  KEYWAY_API Generator(std::nullptr_t);  // NOLINT
  bool defined() const { return static_cast<bool>(impl_); }
  KEYWAY_API Generator(const Generator&);
  KEYWAY_API Generator& operator=(const Generator&);
  KEYWAY_API ~Generator();

  // Begins the sequence of `seed`.
  KEYWAY_API void manual_seed(std::uint64_t seed);
  // Begins a sequence that nobody can foresee, and returns its seed.
  KEYWAY_API std::uint64_t seed();
  // The seed of the current sequence.
  KEYWAY_API std::uint64_t initial_seed() const;

  KEYWAY_API GeneratorState get_state() const;
  // Errors: a call number above 2^48.
  KEYWAY_API void set_state(GeneratorState state);
  // A new generator in the same state.
  KEYWAY_API Generator clone() const;

  // What one call of a random operator draws from. Errors: after 2^48 calls a sequence is used up.
  KEYWAY_API PhiloxCall next_call();
  // The next `count` calls; returns what the generator was before. The same errors.
  KEYWAY_API GeneratorState take_calls(std::uint64_t count);

  KEYWAY_API Device device() const;
  // Whether both are handles of one state.
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }

 private:
  friend Generator& default_generator(Device device);
  friend void manual_seed(std::uint64_t seed);
  struct Impl;
  intrusive_ptr<Impl> impl_;
};

// The generator that random operators on a device use when they are given none. Each device has one of its own, whose
// state the host keeps. Without an index it is the current device of its type.
KEYWAY_API Generator& default_generator(Device device);
KEYWAY_API Generator& default_cpu_generator();
// Seeds those of all devices.
KEYWAY_API void manual_seed(std::uint64_t seed);

// While it lives, random operators that its thread calls on a device do not draw from a generator, but take numbers
// that count from `start`: they become part of a graph, whose replays take as many calls from the default generator.
class KEYWAY_API CapturedDraws {
 public:
  // Requires: the thread has no other one.
  CapturedDraws(Device device, const PhiloxStart* start);
  ~CapturedDraws();
  CapturedDraws(const CapturedDraws&) = delete;
  CapturedDraws& operator=(const CapturedDraws&) = delete;
  // How many calls there were.
  std::uint64_t calls() const { return calls_; }

 private:
  friend KEYWAY_API PhiloxCall next_call(const Generator& generator, Device device);

  Device device_;
  const PhiloxStart* start_;
  std::uint64_t calls_ = 0;
};

// What a call of a random operator on a device draws from: the next one of `generator`, or of the device's default one
// if it is absent. Errors: it is for another device; the call becomes part of a graph, and the generator is not the
// default one.
KEYWAY_API PhiloxCall next_call(const Generator& generator, Device device);

}  // namespace keyway::inline v1
