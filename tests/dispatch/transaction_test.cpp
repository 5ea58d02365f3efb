#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/dispatch/failing_new.h>

#include <algorithm>
#include <memory>
#include <new>

using namespace keyway;
using namespace keyway::testing;

namespace {

// All that is in force, as far as calls and questions can see.
std::string dump() {
  std::string text;
  for (const OperatorHandle& each : Dispatcher::singleton().ops()) {
    const OpInfo& info = each.entry().info();
    text += std::string(info.schema) + " at " + info.file + ":" + std::to_string(info.line) + "\n";
    const Table& table = each.entry().table();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const KernelInfo& from = table.info[table.slots[slot]];
      text += to_string(from.key) + std::to_string(from.line) + " ";
    }
    text += std::to_string(table.mask) + "\n";
  }
  for (const std::string& impl : Dispatcher::singleton().dangling_impls()) text += impl + "\n";
  return text;
}

// Fails the first allocation, the second and so on until `change` succeeds, and checks that each failure left
// everything as it was. Returns how often it failed.
template <typename Change>
int fail_at_every_step(Change&& change) {
  const std::string before = dump();
  for (int n = 0;; ++n) {
    bool done = false;
    allocations_left = n;
    try {
      change();
      done = true;
    } catch (const std::bad_alloc&) {
    }
    allocations_left = -1;
    if (done) return n;
    if (dump() != before) FAIL("a failure of allocation " << n << " changed the registry");
  }
}

}  // namespace

TEST_CASE("a commit or an undo that runs out of memory at any step leaves the registry as it was") {
  const RegistrationHandle base = Block()
                                      .def("oom::a(Tensor t) -> int", 1)
                                      .impl("oom::a", DispatchKey::CPU, counts_one, 2)
                                      .impl("oom::early", DispatchKey::CPU, counts_one, 3)
                                      .commit();
  const std::string before = dump();
  Block block;
  block.owns("oom")
      .def("oom::early(Tensor t) -> int", 4)
      .def("oom::new(Tensor t) -> int", 5)
      .impl("oom::a", DispatchKey::CPU, counts_one, 6)
      .impl("oom::a", DispatchKey::CompositeImplicitAutograd, counts_one, 7)
      .impl("oom::new", DispatchKey::Autograd, counts_one, 8)
      .impl("oom::dangling", DispatchKey::CPU, counts_one, 9)
      .fallback(DispatchKey::Profiler, boxed, 10);
  RegistrationHandle handle;
  CHECK(fail_at_every_step([&] { handle = block.commit(); }) > 50);
  const std::string after = dump();
  CHECK(after != before);
  // The same steps again find what they remember.
  CHECK(fail_at_every_step([&] { handle.undo(); }) > 20);
  CHECK(dump() == before);
  handle = block.commit();
  CHECK(dump() == after);
  handle.undo();
  CHECK(dump() == before);
}

TEST_CASE("a handle whose undo runs out of memory keeps the registration") {
  const RegistrationHandle base = Block().def("oom::b(Tensor t) -> int", 1).commit();
  const std::string before = dump();
  RegistrationHandle handle = Block().impl("oom::b", DispatchKey::CPU, counts_one, 2).commit();
  const std::string with = dump();
  allocations_left = 0;
  CHECK_THROWS_AS(handle.undo(), std::bad_alloc);
  allocations_left = -1;
  CHECK(dump() == with);
  handle.undo();
  CHECK(dump() == before);
}

TEST_CASE("a block with an error changes nothing, whichever of its parts is wrong") {
  const RegistrationHandle base =
      Block().def("oom::c(Tensor t) -> int", 1).fallback(DispatchKey::Python, boxed, 2).commit();
  const std::string before = dump();
  const auto fine = [] {
    Block block;
    block.owns("oom_ns")
        .def("oom::d(Tensor t) -> int")
        .impl("oom::c", DispatchKey::CPU, counts_one)
        .fallthrough(DispatchKey::Batched);
    return block;
  };
  std::vector<Block> bad(6, fine());
  bad[0].def("oom::c(Tensor t) -> int");
  bad[1].def("oom::e(tensor t) -> int");
  bad[2].impl("oom::c", DispatchKey::Meta, [](bool b) { return b; });
  bad[3].fallback(DispatchKey::Python, boxed);
  bad[4].owns("keyway");
  bad[5].impl("oom::d", DispatchKey::Undefined, counts_one);
  for (const Block& block : bad) {
    CHECK_THROWS_AS((void)block.commit(), Error);
    CHECK(dump() == before);
  }
  CHECK_NOTHROW((void)fine().commit());
  CHECK(dump() == before);
}

TEST_CASE("a callable goes with its block, or when that is not registered") {
  const RegistrationHandle base = Block().def("oom::f(Tensor t) -> int", 1).commit();
  const auto counted = std::make_shared<int>(5);
  const auto kernel = [counted](const TensorBase&) { return std::int64_t{*counted}; };
  {
    Block block;
    block.impl("oom::f", DispatchKey::CPU, kernel).def("oom::f(Tensor t) -> int");
    CHECK_THROWS_AS((void)block.commit(), Error);
  }
  CHECK(counted.use_count() == 2);
  {
    const RegistrationHandle handle = Block().impl("oom::f", DispatchKey::CPU, kernel).commit();
    CHECK(op("oom::f").typed<std::int64_t(const TensorBase&)>().call(tensor()) == 5);
    CHECK(counted.use_count() == 3);
  }
  CHECK(counted.use_count() == 2);
}

TEST_CASE("blocks are undone in any order") {
  const RegistrationHandle base = Block().def("oom::g(Tensor t) -> int", 1).commit();
  const auto g = op("oom::g").typed<std::int64_t(const TensorBase&)>();
  const auto layer = [](std::int64_t n) {
    return Block()
        .impl(
            "oom::g", DispatchKey::CPU, [n](const TensorBase&) { return n; }, 2)
        .commit();
  };
  int order[] = {0, 1, 2, 3};
  do {
    RegistrationHandle handles[] = {layer(0), layer(1), layer(2), layer(3)};
    bool live[] = {true, true, true, true};
    for (const int i : order) {
      CHECK(g.call(tensor()) == (live[3] ? 3 : live[2] ? 2 : live[1] ? 1 : 0));
      handles[i].undo();
      handles[i].undo();  // nothing more
      live[i] = false;
    }
    CHECK_THROWS_AS(g.call(tensor()), Error);
  } while (std::next_permutation(std::begin(order), std::end(order)));
}
