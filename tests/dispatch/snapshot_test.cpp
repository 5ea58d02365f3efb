// Snapshots of the registry, and how they are compared.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <nlohmann/json.hpp>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a snapshot has operators, kernels, fallbacks and what dangles, and no order of registration") {
  const auto take = [](bool turned) {
    const Block defs = Block().def("snap::op(Tensor self) -> int", 1).def("snap::other(Tensor self) -> int", 2);
    const Block cpu =
        Block().impl("snap::op", DispatchKey::CPU, counts_one, 3).impl("snap::late", DispatchKey::CPU, counts_one, 4);
    const Block meta = Block().impl("snap::op", DispatchKey::Meta, Fallthrough{}, 5);
    std::vector<RegistrationHandle> handles;
    for (const Block* block : turned ? std::vector{&meta, &cpu, &defs} : std::vector{&defs, &cpu, &meta}) {
      handles.push_back(block->commit());
    }
    return registry_snapshot("snap::");
  };
  const std::string text = take(false);
  CHECK(text == take(true));
  const nlohmann::json json = nlohmann::json::parse(text);
  CHECK(json.at("format") == 1);
  CHECK(json.at("backends").size() >= 3);
  REQUIRE(json.at("operators").size() == 2);
  const nlohmann::json op = json.at("operators").at(0);
  CHECK(op.at("name") == "snap::op");
  CHECK(op.at("schema") == "snap::op(Tensor self) -> int");
  CHECK(op.at("file") == "test.cpp");
  CHECK(op.at("line") == 1);
  CHECK(op.at("kernels") == nlohmann::json::parse(R"([
    {"key": "CPU", "name": "", "file": "test.cpp", "line": 3},
    {"key": "Meta", "name": "", "file": "test.cpp", "line": 5, "fallthrough": true}])"));
  CHECK(json.at("dangling").at(0).at("name") == "snap::late");
}

TEST_CASE("what was undone is in no snapshot") {
  const std::string before = registry_snapshot();
  {
    const RegistrationHandle def = Block().def("snap::gone(Tensor self) -> int").commit();
    const RegistrationHandle impl = Block().impl("snap::gone", DispatchKey::CPU, counts_one).commit();
    const RegistrationHandle fallback = Block().fallback(DispatchKey::Python, boxed, 7).commit();
    const SnapshotDifference difference = compare_snapshots(before, registry_snapshot());
    REQUIRE(difference.operators.size() == 1);
    CHECK(difference.operators[0].op == "snap::gone");
    CHECK(difference.operators[0].kind == OperatorDifference::Kind::Added);
    CHECK(difference.fallbacks == std::vector<std::string>{"+ Python"});
    CHECK(difference.is_backward_compatible());
    CHECK_FALSE(difference.is_forward_compatible());
  }
  CHECK(registry_snapshot() == before);
  CHECK(compare_snapshots(before, before).empty());
}

TEST_CASE("a comparison says which kernels came and went, and what a new schema breaks") {
  std::string before, after;
  {
    const RegistrationHandle one = Block()
                                       .def("snap::changed(Tensor self) -> int")
                                       .def("snap::kernels(Tensor self) -> int")
                                       .def("snap::removed(Tensor self) -> int")
                                       .impl("snap::kernels", DispatchKey::CPU, counts_one, 1)
                                       .commit();
    before = registry_snapshot("snap::");
  }
  {
    const RegistrationHandle two = Block()
                                       .def("snap::changed(Tensor self, int n) -> int")
                                       .def("snap::kernels(Tensor self) -> int", 80)
                                       .impl("snap::kernels", DispatchKey::Meta, counts_one, 2)
                                       .commit();
    after = registry_snapshot("snap::");
  }
  const SnapshotDifference difference = compare_snapshots(before, after);
  REQUIRE(difference.operators.size() == 3);
  const OperatorDifference& changed = difference.operators[0];
  CHECK(changed.kind == OperatorDifference::Kind::SchemaChanged);
  CHECK(changed.lines ==
        std::vector<std::string>{"- snap::changed(Tensor self) -> int", "+ snap::changed(Tensor self, int n) -> int"});
  CHECK(changed.backward == std::vector<std::string>{"argument 'n' has no default"});
  CHECK(changed.forward == std::vector<std::string>{"there is no argument 'n'"});
  CHECK(difference.operators[1].kind == OperatorDifference::Kind::KernelsChanged);
  CHECK(difference.operators[1].lines == std::vector<std::string>{"- CPU", "+ Meta"});
  CHECK(difference.operators[2].kind == OperatorDifference::Kind::Removed);
  CHECK_FALSE(difference.is_backward_compatible());
}

TEST_CASE("what is no snapshot is refused") {
  const std::string good = registry_snapshot("snap::");
  for (const std::string bad : {"", "{", "[]", "{}", R"({"format": 2})", R"({"format": 1})",
                                R"({"format": 1, "operators": [{"name": 3}], "fallbacks": []})",
                                R"({"format": 1, "operators": 7, "fallbacks": []})"}) {
    INFO(bad);
    CHECK(error_of([&] { (void)compare_snapshots(bad, good); }).starts_with("this is no snapshot of a registry: "));
    CHECK(error_of([&] { (void)compare_snapshots(good, bad); }).starts_with("this is no snapshot of a registry: "));
  }
}
