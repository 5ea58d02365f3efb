#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace keyway;
using namespace keyway::testing;

namespace {

using F = Functionality;

// What stands in a slot: a kernel's line, or one of these.
constexpr int kMissing = -1;
constexpr int kSkipped = -2;

// The reference: paints the slots from the weakest rule to the strongest.
struct Reference {
  std::map<DispatchKey, std::vector<int>> kernels;  // lines, the latest last
  std::map<DispatchKey, int> fallbacks;             // line, or kSkipped

  bool has(DispatchKey key) const { return kernels.contains(key) && !kernels.at(key).empty(); }
  bool has(F f, int backend) const { return has(static_cast<DispatchKey>(slot_of(f, backend))); }

  std::vector<int> paint() const {
    std::vector<int> slots(kSlotCount, kMissing);
    const auto put = [&](F f, int backend, int what) { slots[static_cast<std::size_t>(slot_of(f, backend))] = what; };
    const std::set<F> backends = {F::Dense, F::Quantized, F::Sparse};
    for (F f : {F::CopyOnWrite, F::BackendSelect, F::ADInplaceOrView, F::Tracer, F::Profiler}) put(f, 0, kSkipped);
    for (int b = 1; b <= kBackendBits; ++b) {
      put(F::Autograd, b, kSkipped);
      put(F::Autocast, b, kSkipped);
    }
    for (const auto& [key, line] : fallbacks) slots[static_cast<std::size_t>(key)] = line;
    for (int b = 1; b <= kBackendBits; ++b) {
      const bool own_backend = std::any_of(backends.begin(), backends.end(), [&](F f) { return has(f, b); });
      if (has(DispatchKey::Autograd)) put(F::Autograd, b, kernels.at(DispatchKey::Autograd).back());
      if (has(DispatchKey::Autocast)) put(F::Autocast, b, kernels.at(DispatchKey::Autocast).back());
      if (has(DispatchKey::CompositeImplicitAutograd)) {
        const int line = kernels.at(DispatchKey::CompositeImplicitAutograd).back();
        if (!own_backend && !has(DispatchKey::CompositeExplicitAutograd)) put(F::Autograd, b, line);
        for (F f : backends) put(f, b, line);
        slots[0] = line;
      }
      if (has(DispatchKey::CompositeExplicitAutograd)) {
        const int line = kernels.at(DispatchKey::CompositeExplicitAutograd).back();
        for (F f : backends) put(f, b, line);
        slots[0] = line;
      }
    }
    for (const auto& [key, lines] : kernels) {
      if (!is_alias(key) && !lines.empty()) slots[static_cast<std::size_t>(key)] = lines.back();
    }
    // Without a backend a functionality is an error, if any backend has something for it.
    for (F f : {F::Dense, F::Quantized, F::Sparse, F::Autograd, F::Autocast}) {
      const auto first = slots.begin() + slot_of(f, 1);
      put(f, 0, std::count(first, first + kBackendBits, kSkipped) == kBackendBits ? kSkipped : kMissing);
    }
    return slots;
  }
};

// What the operator's table does with each slot, asked as a call would.
std::vector<int> slots_of(const OperatorEntry& op) {
  const Table& table = op.table();
  std::vector<int> slots;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const DispatchKeySet keys{static_cast<DispatchKey>(slot)};
    const bool stays =
        keys.highest_functionality() == F::Undefined || table.find(keys).keys.has(keys.highest_functionality());
    const std::uint8_t number = table.slots[slot];
    slots.push_back(!stays ? kSkipped : number == 0 ? kMissing : table.info[number].line);
  }
  return slots;
}

Block one(const std::string& name, DispatchKey key, int line) {
  Block block;
  block.impl(name, key, counts_one, line);
  return block;
}

DispatchKey named(const std::string& name) {
  register_device_type("xla");
  if (name == "I") return DispatchKey::CompositeImplicitAutograd;
  if (name == "E") return DispatchKey::CompositeExplicitAutograd;
  if (name == "A") return DispatchKey::Autograd;
  return parse_dispatch_key(name).value();
}

}  // namespace

TEST_CASE("the truth table holds in every order of registration") {
  const Quiet quiet;
  struct Row {
    std::vector<std::string> registered;
    std::vector<std::string> expected;  // of the columns below; "-": skipped, "": missing
  };
  const std::vector<std::string> columns = {"Undefined",   "CPU",          "CUDA",       "XLA",
                                            "AutogradCPU", "AutogradCUDA", "AutogradXLA"};
  const Row rows[] = {
      {{"I"}, {"I", "I", "I", "I", "I", "I", "I"}},
      {{"CPU", "I"}, {"I", "CPU", "I", "I", "-", "I", "I"}},
      {{"CPU", "A", "I"}, {"I", "CPU", "I", "I", "A", "I", "I"}},
      {{"CPU", "XLA", "A", "AutogradCPU", "I"}, {"I", "CPU", "I", "XLA", "AutogradCPU", "I", "A"}},
      {{"A"}, {"", "", "", "", "A", "A", "A"}},
      {{"CPU", "E"}, {"E", "CPU", "E", "E", "-", "-", "-"}},
      {{"CPU", "A", "E"}, {"E", "CPU", "E", "E", "A", "A", "A"}},
      {{"CPU", "A", "I", "E"}, {"E", "CPU", "E", "E", "A", "A", "A"}},
  };
  const RegistrationHandle def = Block().def("truth::op(Tensor self) -> int").commit();
  const OperatorEntry& entry = op("truth::op").entry();
  const Table* empty = &entry.table();
  for (const Row& row : rows) {
    std::vector<std::string> order = row.registered;
    std::sort(order.begin(), order.end());
    std::vector<int> same;
    do {
      std::vector<RegistrationHandle> handles;
      for (const std::string& name : order) {
        handles.push_back(one("truth::op", named(name), static_cast<int>(named(name))).commit());
      }
      const std::vector<int> slots = slots_of(entry);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string& expected = row.expected[i];
        const int line = expected.empty() ? kMissing : expected == "-" ? kSkipped : static_cast<int>(named(expected));
        INFO(columns[i]);
        CHECK(slots[static_cast<std::size_t>(named(columns[i]))] == line);
      }
      if (same.empty()) same = slots;
      CHECK(slots == same);
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(&entry.table() == empty);
  }
}

TEST_CASE("random registrations and undos give the table of the reference") {
  const Quiet quiet;
  const std::vector<DispatchKey> keys = {named("CPU"),
                                         named("CUDA"),
                                         named("XLA"),
                                         named("SparseCPU"),
                                         named("QuantizedCUDA"),
                                         named("AutogradCPU"),
                                         named("AutogradXLA"),
                                         named("AutocastCUDA"),
                                         named("ADInplaceOrView"),
                                         named("BackendSelect"),
                                         named("Python"),
                                         named("Profiler"),
                                         named("I"),
                                         named("E"),
                                         named("A"),
                                         named("Autocast")};
  const RegistrationHandle def = Block().def("random::op(Tensor self) -> int").commit();
  const OperatorEntry& entry = op("random::op").entry();
  const Table* empty = &entry.table();
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };

  for (int sequence = 0; sequence < testing::campaign(2000); ++sequence) {
    struct Live {
      RegistrationHandle handle;
      std::vector<std::pair<DispatchKey, int>> kernels;
      std::vector<DispatchKey> fallbacks;
    };
    std::vector<Live> live;
    Reference reference;
    for (int step = 0; step < 12; ++step) {
      if (!live.empty() && below(3) == 0) {
        const auto gone = live.begin() + static_cast<std::ptrdiff_t>(below(live.size()));
        for (const auto& [key, line] : gone->kernels) std::erase(reference.kernels[key], line);
        for (DispatchKey key : gone->fallbacks) reference.fallbacks.erase(key);
        live.erase(gone);
        continue;
      }
      Block block;
      Live next;
      for (std::size_t n = below(3); n-- > 0;) {
        const std::size_t k = below(keys.size());
        const int line = static_cast<int>(k) * 16 + step + 1;
        if (std::count(next.kernels.begin(), next.kernels.end(), std::pair(keys[k], line)) != 0) continue;
        block.impl("random::op", keys[k], counts_one, line);
        next.kernels.emplace_back(keys[k], line);
      }
      const DispatchKey key = keys[below(12)];
      if (below(4) == 0 && !reference.fallbacks.contains(key)) {
        const bool skipped = below(2) == 0;
        const int line = 1000 + static_cast<int>(key);
        if (skipped) {
          block.fallthrough(key, line);
        } else {
          block.fallback(key, boxed, line);
        }
        reference.fallbacks[key] = skipped ? kSkipped : line;
        next.fallbacks.push_back(key);
      }
      for (const auto& [k, line] : next.kernels) reference.kernels[k].push_back(line);
      next.handle = block.commit();
      live.push_back(std::move(next));
    }
    const std::vector<int> slots = slots_of(entry);
    const std::vector<int> painted = reference.paint();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const auto i = static_cast<std::size_t>(slot);
      if (slots[i] == painted[i]) continue;
      FAIL("sequence " << sequence << ", " << to_string(static_cast<DispatchKey>(slot)) << ": " << slots[i]
                       << " instead of " << painted[i]);
    }
    std::shuffle(live.begin(), live.end(), random);
    live.clear();
    if (&entry.table() != empty) FAIL("sequence " << sequence << " leaves something behind");
  }
}

TEST_CASE("what explain says of a slot is what stands in it") {
  const Quiet quiet;
  const RegistrationHandle def = Block()
                                     .def("why::op(Tensor self) -> int")
                                     .impl("why::op", DispatchKey::CPU, counts_one, 1)
                                     .impl("why::op", DispatchKey::CompositeImplicitAutograd, counts_one, 2)
                                     .impl("why::op", DispatchKey::Autograd, counts_one, 3)
                                     .fallback(DispatchKey::Python, boxed, 4)
                                     .impl("why::op", DispatchKey::Autocast, counts_one, 5)
                                     .commit();
  const OperatorHandle why = op("why::op");
  const auto rule = [&](DispatchKey key) { return explain_slot(why, key); };
  CHECK(rule(DispatchKey::CPU).rule == ResolutionRule::Direct);
  CHECK(rule(DispatchKey::CPU).kernel->site.line == 1);
  CHECK(rule(DispatchKey::CUDA).rule == ResolutionRule::CompositeImplicit);
  CHECK(rule(DispatchKey::AutogradCPU).rule == ResolutionRule::Alias);
  CHECK(rule(DispatchKey::AutogradCPU).kernel->site.line == 3);
  CHECK(rule(DispatchKey::AutogradCUDA).rule == ResolutionRule::CompositeImplicit);
  CHECK(rule(DispatchKey::AutocastCUDA).rule == ResolutionRule::Alias);
  CHECK(rule(DispatchKey::AutocastCUDA).kernel->site.line == 5);
  CHECK(rule(DispatchKey::Python).rule == ResolutionRule::Fallback);
  CHECK(rule(DispatchKey::Python).kernel->site.line == 4);
  CHECK(rule(DispatchKey::Profiler).rule == ResolutionRule::Fallthrough);
  CHECK(rule(DispatchKey::Batched).rule == ResolutionRule::Missing);
  CHECK_FALSE(rule(DispatchKey::Batched).kernel);
}

TEST_CASE("the fallback at CopyOnWrite serves operators that write to an argument; the others skip the key") {
  const RegistrationHandle defs = Block()
                                      .def("copies::read(Tensor self) -> Tensor")
                                      .def("copies::write(Tensor self, Tensor(a!)[] others) -> ()")
                                      .commit();
  const RegistrationHandle fallback = Block().fallback(DispatchKey::CopyOnWrite, boxed, 4).commit();
  CHECK(explain_slot(op("copies::read"), DispatchKey::CopyOnWrite).rule == ResolutionRule::Fallthrough);
  CHECK(explain_slot(op("copies::write"), DispatchKey::CopyOnWrite).rule == ResolutionRule::Fallback);
}
