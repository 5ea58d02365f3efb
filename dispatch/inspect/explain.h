// explain: why a call of an operator ends where it ends, and what_if: what a registration would change. Both ask the
// resolver that computes the tables; they work in every build and change nothing.
//
//   std::cout << to_string(explain(op("add.Tensor"), stack));
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// A kernel, and where it was registered.
struct RegisteredKernel {
  DispatchKey key;  // what it was registered to: a runtime or an alias key
  std::string name;
  RegistrationSite site;
  friend bool operator==(const RegisteredKernel&, const RegisteredKernel&) = default;
};

// A key that the call asks for and that it does not end at, though it stands above the one that it ends at.
struct PassedKey {
  DispatchKey key;
  std::string why;
};

// A kernel of the operator that the call does not reach.
struct OtherKernel {
  RegisteredKernel kernel;
  std::string why;
};

struct ArgumentKeys {
  std::string name;
  DispatchKeySet keys;
};

struct Explanation {
  std::string op;                       // "add.Tensor"
  std::vector<ArgumentKeys> arguments;  // those that have keys; none if it was asked by a key set
  DispatchKeySet included, excluded;    // by the thread
  DispatchKeySet asked;                 // of all of these
  DispatchKeySet effective;             // without what falls through
  DispatchKey key = DispatchKey::Undefined;
  ResolutionRule rule = ResolutionRule::Missing;
  std::optional<RegisteredKernel> kernel;  // the one that is called; none: the call throws
  std::vector<PassedKey> passed;           // highest priority first
  std::vector<OtherKernel> others;         // in order of registration
};

// Of a call with these arguments on this thread. Throws keyway::Error for fewer arguments than the schema has.
KEYWAY_API Explanation explain(const OperatorHandle& op, const Stack& arguments);
// Of a call whose arguments carry these keys, on this thread.
KEYWAY_API Explanation explain(const OperatorHandle& op, DispatchKeySet keys);

// What a slot of an operator's table holds, and by which rule.
struct SlotContent {
  ResolutionRule rule = ResolutionRule::Missing;
  std::optional<RegisteredKernel> kernel;
  friend bool operator==(const SlotContent&, const SlotContent&) = default;
};
// What what_if would change.
struct SlotChange {
  DispatchKey key;
  SlotContent before, after;
};

// Of a slot of the operator's table: what calls find that end at this key.
KEYWAY_API SlotContent explain_slot(const OperatorHandle& op, DispatchKey slot);

// The slots that another kernel of the operator, registered to `key`, would change; none of it happens. Throws
// keyway::Error(Registration) for a key that takes no kernels.
KEYWAY_API std::vector<SlotChange> what_if(const OperatorHandle& op, DispatchKey key, std::string name = "what if",
                                           RegistrationSite site = {});

// For people, in lines.
KEYWAY_API std::string to_string(const Explanation& explanation);
KEYWAY_API std::string to_string(const SlotContent& content);
// One JSON object.
KEYWAY_API std::string to_json(const Explanation& explanation);

}  // namespace keyway::inline v1
