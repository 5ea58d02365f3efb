// Tables at run time: laid out in memory as a StaticTable is, interned, never freed.
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/registry/registry.h>
#include <keyway/dispatch/registry/static_table.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <set>

namespace keyway::inline v1 {

namespace {

// A table in the making, and its parts.
struct Draft {
  std::vector<ErasedKernel> kernels;
  std::vector<KernelInfo> info;
  std::uint8_t slots[kSlotCount] = {};
  SlotMasks masks;

  std::uint8_t add(const ErasedKernel& kernel, const KernelInfo& from) {
    KEYWAY_CHECK_AS(Registration, kernels.size() < 256, "an operator has at most 255 kernels, with fallbacks");
    kernels.push_back(kernel);
    kernels.back().index = static_cast<std::uint16_t>(kernels.size() - 1);
    if (from.in_flight != nullptr) kernels.back().flags |= kCounted;
    info.push_back(from);
    return static_cast<std::uint8_t>(kernels.size() - 1);
  }
};

// Texts of a table outlive what they were copied from, and are never freed: each distinct one is kept once.
const char* keep(const std::string& text) {
  static auto& texts = *new std::set<std::string>;
  return texts.insert(text).first->c_str();
}

bool is_tensor(SchemaType type) {
  if (type.is(TypeKind::Optional) || type.is(TypeKind::List)) return is_tensor(type.element());
  return type.is(TypeKind::Tensor);
}

// Whether it is a user's operator with results that may have a gradient. In-place calls and those with out= give back
// what they were given.
bool may_have_gradient(const OperatorEntry& op) {
  if (op.info().boxed.tensors == 0 || Registry::find_builtin(op.full_name()) != nullptr) return false;
  for (const Argument result : op.schema().returns()) {
    if (is_tensor(result.type()) && !result.is_write()) return true;
  }
  return false;
}

// What stands at a mark, should anyone call it: as if there were none.
void pass_mark(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(op, keys.remove(Functionality::Autograd), stack);
}

// Puts marks where nothing stands at Autograd and nobody said that nothing is to, if there are kernels below, until the
// operator is warned of. Backends without a kernel get one too, so that as a rule one mask serves all.
void mark_lost_gradients(Draft& draft, const OperatorState& state, bool* falls_through) {
  if (!may_have_gradient(*state.entry) || is_lost_gradient_settled(*state.entry)) return;
  if (state.find(DispatchKey::Autograd) >= 0) return;
  bool loses = false, everywhere = true;
  std::vector<int> slots;
  for (int backend = 1; backend <= kBackendBits; ++backend) {
    const int autograd = slot_of(Functionality::Autograd, backend);
    if (!falls_through[autograd] || state.find(static_cast<DispatchKey>(autograd)) >= 0) {
      everywhere = false;
      continue;
    }
    slots.push_back(autograd);
    for (Functionality f : kBackendFunctionalities) {
      const std::uint8_t kernel = draft.slots[slot_of(f, backend)];
      loses = loses || (kernel != 0 && (draft.kernels[kernel].flags & kOfFallback) == 0);
    }
  }
  if (!loses) return;
  if (everywhere) slots.push_back(slot_of(Functionality::Autograd, 0));
  const std::uint8_t mark =
      draft.add({{pass_mark, nullptr, 0, kBoxedOnly | kLosesGradient}, nullptr}, {DispatchKey::Autograd, "", "", 0});
  for (const int slot : slots) {
    draft.slots[slot] = mark;
    falls_through[slot] = false;
  }
}

Draft make_draft(const OperatorState& state, const Fallbacks& fallbacks) {
  Draft draft;
  draft.add({{missing_kernel, nullptr, 0, kBoxedOnly}, nullptr}, KernelInfo{});
  std::vector<std::uint8_t> number(state.registrations.size(), 0);  // of a registration's kernel, once it has one
  bool falls_through[kSlotCount] = {};
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const auto key = static_cast<DispatchKey>(slot);
    const auto& fallback = fallbacks[static_cast<std::size_t>(slot)];
    const Resolution r = state.resolve(key, fallbacks);
    if (r.registration >= 0) {
      const auto i = static_cast<std::size_t>(r.registration);
      const Registration& from = state.registrations[i];
      falls_through[slot] = (from.kernel.flags & kFallthrough) != 0;
      if (falls_through[slot]) continue;
      if (number[i] == 0) {
        number[i] =
            draft.add(from.kernel, {from.key, keep(from.name), keep(from.site.file), from.site.line, from.in_flight});
      }
      draft.slots[slot] = number[i];
    } else if (r.rule == ResolutionRule::Fallback) {
      falls_through[slot] = (fallback->kernel.flags & kFallthrough) != 0;
      if (falls_through[slot]) continue;
      ErasedKernel kernel = fallback->kernel;
      kernel.flags |= kOfFallback;
      draft.slots[slot] = draft.add(
          kernel, {key, keep(fallback->name), keep(fallback->site.file), fallback->site.line, fallback->in_flight});
    } else {
      falls_through[slot] = r.rule == ResolutionRule::Fallthrough;
    }
  }
  mark_lost_gradients(draft, state, falls_through);
  draft.masks = compute_masks([&](int slot) { return falls_through[slot]; });
  return draft;
}

bool same(const KernelInfo& a, const KernelInfo& b) {
  return a.key == b.key && a.in_flight == b.in_flight && std::strcmp(a.name, b.name) == 0 &&
         std::strcmp(a.file, b.file) == 0 && a.line == b.line;
}

bool same(const ErasedKernel& a, const ErasedKernel& b) {
  return a.boxed == b.boxed && a.context == b.context && a.flags == b.flags && a.fn == b.fn;
}

// Whether every call finds the same, however the kernels are numbered: a static table has its own order, and kernels
// that no slot uses.
bool equal(const Table& table, const OperatorEntry* op, const Draft& draft) {
  if (table.op != op) return false;
  if ((table.backend_masks == nullptr) != draft.masks.all_equal) return false;
  if (table.mask != draft.masks.common) return false;
  if (table.backend_masks != nullptr &&
      std::memcmp(table.backend_masks, draft.masks.by_scan, sizeof(draft.masks.by_scan)) != 0) {
    return false;
  }
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const std::size_t i = table.slots[slot];
    const std::size_t j = draft.slots[slot];
    if (!same(table.kernel(i), draft.kernels[j]) || !same(table.info[i], draft.info[j])) return false;
  }
  return true;
}

// Of what every call finds. Equal tables have equal ones.
std::size_t digest(const std::uint8_t* slots, const ErasedKernel* kernels, const KernelInfo* info) {
  std::size_t sum = 0;
  const auto mix = [&](auto value) { sum = (sum ^ std::hash<decltype(value)>()(value)) * 0x9e3779b97f4a7c15ULL; };
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const std::size_t i = slots[slot];
    if (i == 0 || (slot > 0 && slots[slot - 1] == i)) continue;
    mix(slot);
    mix(kernels[i].context);
    mix(reinterpret_cast<void*>(kernels[i].boxed));
    mix(info[i].line);
  }
  return sum;
}

const Table* lay_out(const OperatorEntry* op, const Draft& draft) {
  const std::size_t count = draft.kernels.size();
  auto info = std::make_unique<KernelInfo[]>(count);
  std::copy(draft.info.begin(), draft.info.end(), info.get());
  std::unique_ptr<std::uint64_t[]> masks;
  if (!draft.masks.all_equal) {
    masks = std::make_unique<std::uint64_t[]>(kBackendBits + 1);
    std::memcpy(masks.get(), draft.masks.by_scan, sizeof(draft.masks.by_scan));
  }
  auto* memory = static_cast<char*>(::operator new(sizeof(Table) + count * sizeof(ErasedKernel)));
  auto* table = new (memory)
      Table{op, draft.masks.common, masks.release(), info.release(), static_cast<std::uint16_t>(count), {}};
  std::memcpy(table->slots, draft.slots, sizeof(table->slots));
  for (std::size_t i = 0; i < count; ++i) {
    new (memory + sizeof(Table) + i * sizeof(ErasedKernel)) ErasedKernel(draft.kernels[i]);
  }
  return table;
}

}  // namespace

void TableSet::add(const Table& table) { tables_.emplace(digest(table.slots, &table.kernel(0), table.info), &table); }

const Table* TableSet::build(const OperatorState& state, const Fallbacks& fallbacks) {
  const Draft draft = make_draft(state, fallbacks);
  const std::size_t sum = digest(draft.slots, draft.kernels.data(), draft.info.data());
  for (auto [at, end] = tables_.equal_range(sum); at != end; ++at) {
    if (equal(*at->second, state.entry, draft)) return at->second;
  }
  const auto at = tables_.emplace(sum, nullptr);  // before what cannot be taken back
  try {
    at->second = lay_out(state.entry, draft);
  } catch (...) {
    tables_.erase(at);
    throw;
  }
  return at->second;
}

const Table& table_of_errors() {
  struct Errors : Table {
    ErasedKernel kernel;
  };
  static constexpr KernelInfo kInfo{};
  static constinit Errors errors{{nullptr, DispatchKeySet::full().raw(), nullptr, &kInfo, 1, {}},
                                 {{missing_kernel, nullptr, 0, kBoxedOnly}, nullptr}};
  return errors;
}

}  // namespace keyway::inline v1
