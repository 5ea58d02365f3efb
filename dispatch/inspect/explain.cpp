#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/registry/registry.h>
#include <keyway/dispatch/registry/transaction.h>

namespace keyway::inline v1 {

namespace {

RegisteredKernel site_of(const Registration& r) { return {r.key, r.name, r.site}; }

// What an operator has in force, with the resolver's answers. Requires: the registry's lock.
class Resolved {
 public:
  Resolved(const OperatorState& state, const Fallbacks& fallbacks) : state_(state), fallbacks_(fallbacks) {}

  Resolution at(DispatchKey slot) const { return state_.resolve(slot, fallbacks_); }
  // A fallthrough that is registered has the rule of a fallthrough, and its site.
  SlotContent content(DispatchKey slot) const {
    const Resolution r = at(slot);
    if (r.registration >= 0) {
      const Registration& from = state_.registrations[static_cast<std::size_t>(r.registration)];
      const bool skips = (from.kernel.flags & kFallthrough) != 0;
      return {skips ? ResolutionRule::Fallthrough : r.rule, site_of(from)};
    }
    if (r.rule != ResolutionRule::Fallback) return {r.rule, std::nullopt};
    const Fallback& from = *fallbacks_[static_cast<std::size_t>(slot)];
    const bool skips = (from.kernel.flags & kFallthrough) != 0;
    return {skips ? ResolutionRule::Fallthrough : r.rule, RegisteredKernel{slot, from.name, from.site}};
  }

  // Why registration `i` does not serve `slot`.
  std::string why_not(std::size_t i, DispatchKey slot) const {
    const Registration& mine = state_.registrations[i];
    const int latest = state_.find(mine.key);
    if (latest != static_cast<int>(i)) {
      return "overridden at " + state_.registrations[static_cast<std::size_t>(latest)].site.str();
    }
    if (!is_alias(mine.key)) return "it serves " + to_string(mine.key) + ", the call ends at " + to_string(slot);
    const Functionality f = functionality_of(slot);
    const bool autograd = f == Functionality::Autograd;
    const bool backend = computes(f);
    if (mine.key == DispatchKey::Autograd && !autograd) return "it serves the backends' autograd keys";
    if (mine.key == DispatchKey::Autocast && f != Functionality::Autocast)
      return "it serves the backends' autocast keys";
    if (mine.key == DispatchKey::CompositeExplicitAutograd && !backend) return "it serves backends";
    if (mine.key == DispatchKey::CompositeImplicitAutograd && !backend && !autograd) {
      return "it serves backends and their autograd keys";
    }
    return shadow(mine.key, slot);
  }

  // Why a key that no kernel is registered to falls through.
  std::string why_nothing(DispatchKey slot) const {
    std::string why = "it has no kernel there and falls through";
    const bool autograd = functionality_of(slot) == Functionality::Autograd;
    if (autograd && state_.find(DispatchKey::CompositeImplicitAutograd) >= 0) {
      why += ": " + shadow(DispatchKey::CompositeImplicitAutograd, slot);
    }
    return why;
  }

 private:
  // What stands before an alias key's kernel at a slot that it could serve.
  std::string shadow(DispatchKey alias, DispatchKey slot) const {
    const auto first = [&](DispatchKey key, const char* what) {
      return "the kernel " + std::string(what) + " at " + at_key(key).site.str() + " comes first";
    };
    if (state_.find(slot) >= 0) return first(slot, "of that very key");
    if (is_per_backend(functionality_of(slot)) && backend_number_of(slot) == 0) {
      return "the key set names no backend";
    }
    const DispatchKey composites[] = {DispatchKey::CompositeExplicitAutograd, DispatchKey::CompositeImplicitAutograd};
    if (functionality_of(slot) == Functionality::Autograd && alias == DispatchKey::CompositeImplicitAutograd) {
      for (Functionality b : kBackendFunctionalities) {
        const auto key = static_cast<DispatchKey>(slot_of(b, backend_number_of(slot)));
        if (state_.find(key) >= 0) {
          return "the kernel for " + to_string(key) + " at " + at_key(key).site.str() +
                 " takes the composite's gradient away: it needs an Autograd kernel";
        }
      }
      return "the kernel for every backend at " + at_key(DispatchKey::CompositeExplicitAutograd).site.str() +
             " takes the composite's gradient away: it needs an Autograd kernel";
    }
    for (const DispatchKey other : composites) {
      if (other != alias && state_.find(other) >= 0) return first(other, "for every backend");
    }
    return "another comes first";
  }

  // Requires: a kernel is registered to it.
  const Registration& at_key(DispatchKey key) const {
    return state_.registrations[static_cast<std::size_t>(state_.find(key))];
  }

  const OperatorState& state_;
  const Fallbacks& fallbacks_;
};

// The keys that stand in `asked` above the one that the call ends at.
std::vector<PassedKey> passed_keys(const Resolved& resolved, DispatchKeySet asked, DispatchKeySet effective,
                                   DispatchKeySet excluded) {
  std::vector<PassedKey> passed;
  const int backend = (asked | effective).highest_backend_number();
  for (int f = kFunctionalityCount - 1; f > static_cast<int>(effective.highest_functionality()); --f) {
    const auto functionality = static_cast<Functionality>(f);
    const auto key = static_cast<DispatchKey>(slot_of(functionality, backend));
    if (excluded.has(functionality)) {
      passed.push_back({key, "the thread excludes it"});
    } else if (asked.has(functionality)) {
      const SlotContent content = resolved.content(key);
      passed.push_back({key, content.kernel ? "a fallthrough is registered at " + content.kernel->site.str()
                                            : resolved.why_nothing(key)});
    }
  }
  return passed;
}

// Fills in all that follows from what the arguments and the thread ask for.
void resolve_call(Explanation& out, const OperatorEntry& op, DispatchKeySet arguments) {
  out.op = op.short_name();
  out.included = included_keys();
  out.excluded = excluded_keys();
  out.asked = DispatchKeySet::from_raw((arguments.raw() | out.included.raw()) & ~out.excluded.raw());
  const DispatchKeySet taken = (arguments | out.included) & out.excluded;
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const OperatorState& state = registry.record(op.full_name()).state;
  out.effective = op.table().find_past_mark(out.asked).keys;
  out.key = out.effective.highest_priority_key();
  if (state.entry != &op) return;  // no longer defined
  const Resolved resolved(state, registry.fallbacks);
  const SlotContent content = resolved.content(out.key);
  out.rule = content.rule;
  if (content.rule != ResolutionRule::Missing && content.rule != ResolutionRule::Fallthrough)
    out.kernel = content.kernel;
  out.passed = passed_keys(resolved, out.asked, out.effective, taken);
  const int serves = resolved.at(out.key).registration;
  for (std::size_t i = 0; i < state.registrations.size(); ++i) {
    if (static_cast<int>(i) == serves && out.kernel) continue;
    out.others.push_back({site_of(state.registrations[i]), resolved.why_not(i, out.key)});
  }
}

}  // namespace

Explanation explain(const OperatorHandle& op, const Stack& arguments) {
  Explanation out;
  const ArgumentList schema = op.schema().arguments();
  DispatchKeySet asked = boxed_call_keys(op.entry(), arguments);  // refuses too few; has the keys of a factory's device
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const DispatchKeySet keys = arguments[arguments.size() - schema.size() + i].tensor_keys();
    asked = asked | keys;  // with what the thread excludes
    if (!keys.empty()) out.arguments.push_back({std::string(schema[i].name()), keys});
  }
  resolve_call(out, op.entry(), asked);
  return out;
}

Explanation explain(const OperatorHandle& op, DispatchKeySet keys) {
  Explanation out;
  resolve_call(out, op.entry(), keys);
  return out;
}

SlotContent explain_slot(const OperatorHandle& op, DispatchKey slot) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const OperatorState& state = registry.record(op.name()).state;
  if (state.entry != &op.entry()) return {};  // no longer defined
  return Resolved(state, registry.fallbacks).content(slot);
}

std::vector<SlotChange> what_if(const OperatorHandle& op, DispatchKey key, std::string name, RegistrationSite site) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const std::string problem = Transaction::problem_of(key);
  KEYWAY_CHECK_AS(Registration, problem.empty(), "kernel of {}: {}", op.name(), problem);
  const OperatorState& before = registry.record(op.name()).state;
  OperatorState after = before;
  after.registrations.push_back({key, {}, nullptr, "", std::move(name), std::move(site), 0});
  std::vector<SlotChange> changes;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const auto at = static_cast<DispatchKey>(slot);
    SlotContent from = Resolved(before, registry.fallbacks).content(at);
    SlotContent to = Resolved(after, registry.fallbacks).content(at);
    if (from != to) changes.push_back({at, std::move(from), std::move(to)});
  }
  return changes;
}

}  // namespace keyway::inline v1
