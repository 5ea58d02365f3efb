// What plug-ins say of themselves, and what becomes of those that lie.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/keyway.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/plugins/file_copy.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <functional>
#include <random>
#include <set>
#include <string>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Texts = std::set<std::string>;

PluginManifest manifest_in(const std::string& name) {
  const auto manifest = read_plugin_manifest(plugin_module(name).string());
  REQUIRE(manifest.has_value());
  return *manifest;
}

std::string refusal_of(const std::filesystem::path& file) {
  const std::string before = registry_snapshot();
  const std::string text = error_of([&] { static_cast<void>(load_plugin(file.string())); });
  CHECK(registry_snapshot() == before);
  const std::string start = "plug-in " + file.string() + ": ";
  REQUIRE(text.starts_with(start));
  return text.substr(start.size());
}

// Why `twice` is refused when its manifest is changed.
std::string refusal_with(const std::function<void(PluginManifest&)>& change) {
  const FileCopy copy(plugin_module("twice"));
  PluginManifest manifest = manifest_in("twice");
  change(manifest);
  write_plugin_manifest(copy.path.string(), manifest);
  return refusal_of(copy.path);
}

constexpr const char* kLies =
    "it registers other things (+) than its manifest says (-); if that is right, write its manifest anew with `keyway "
    "plugin describe`:\n  ";

}  // namespace

TEST_CASE("a plug-in says what it registers, and what it needs") {
  const PluginManifest twice = manifest_in("twice");
  CHECK(twice.name == "twice");
  CHECK(twice.version == "7.1");
  CHECK(twice.abi == kPluginAbi);
  CHECK(twice.registers.operators == Texts{"doubling::twice(Tensor self, *, int times=1) -> Tensor"});
  CHECK(twice.registers.kernels.size() == 1);
  CHECK(twice.registers.kernels.at("doubling::twice") == Texts{"CompositeImplicitAutograd"});
  CHECK(twice.registers.fallbacks.empty());
  CHECK(twice.registers.device_types.empty());
  CHECK(twice.schemas.empty());
  CHECK(twice.needs == PluginNeeds());

  CHECK(manifest_in("devices").registers.device_types == Texts{"dev5"});
  const PluginManifest kernel = manifest_in("kernel");
  CHECK(kernel.registers.kernels.at("plugins::shared") == Texts{"CPU"});
  CHECK(kernel.needs.operators == Texts{"plugins::shared"});  // the test defines it, nobody else
  CHECK(manifest_in("fragile7").needs.plugins == Texts{"fragile"});

  const PluginManifest waits = manifest_in("waits");
  CHECK(waits.registers.kernels.at("keyway::relu") == Texts{"AutogradNPU", "NPU"});
  CHECK(waits.registers.fallbacks == Texts{"CUDA"});
  CHECK(waits.schemas.size() == 1);
  CHECK(waits.schemas.at("keyway::relu") == "relu(Tensor self) -> Tensor");
  CHECK(waits.needs.device_types == Texts{"cuda", "npu"});
}

TEST_CASE("a plug-in that is loaded says what its manifest says") {
  for (const std::string name : {"twice", "devices", "waits"}) {
    const LoadedPlugin plugin = load_plugin(plugin_module(name).string());
    CHECK(plugin.registers() == manifest_in(name).registers);
  }
}

TEST_CASE("a manifest that says something else is refused with the difference, and nothing of the plug-in stays") {
  CHECK(refusal_with([](PluginManifest& m) { m.registers.operators.clear(); }) ==
        kLies + std::string("+ operator doubling::twice(Tensor self, *, int times=1) -> Tensor"));
  CHECK(refusal_with([](PluginManifest& m) { m.registers.kernels.clear(); }) ==
        kLies + std::string("+ kernel of doubling::twice for CompositeImplicitAutograd"));
  CHECK(refusal_with([](PluginManifest& m) {
          m.registers.operators.insert("doubling::thrice(Tensor self) -> Tensor");
        }) == kLies + std::string("- operator doubling::thrice(Tensor self) -> Tensor"));
  CHECK(refusal_with([](PluginManifest& m) { m.registers.kernels["keyway::relu"] = {"CPU"}; }) ==
        kLies + std::string("- kernel of keyway::relu for CPU"));
  CHECK(refusal_with([](PluginManifest& m) { m.registers.kernels["doubling::twice"] = {"CPU"}; }) ==
        kLies + std::string("- kernel of doubling::twice for CPU\n  + kernel of doubling::twice for "
                            "CompositeImplicitAutograd"));
  CHECK(refusal_with([](PluginManifest& m) { m.registers.fallbacks = {"CUDA"}; }) ==
        kLies + std::string("- fallback for CUDA"));
  CHECK(refusal_with([](PluginManifest& m) { m.registers.device_types = {"npu"}; }) ==
        kLies + std::string("- device type npu"));
  CHECK(refusal_with([](PluginManifest& m) { m.name = "thrice"; }) ==
        "it is called twice, and its manifest says thrice");
  const LoadedPlugin plugin = load_plugin(plugin_module("twice").string());
  CHECK(plugin.loaded());
}

TEST_CASE("a plug-in that was built against another schema is refused with both, before its code runs") {
  const std::string changed = refusal_with([](PluginManifest& m) {
    m.schemas["keyway::mm"] = "mm(Tensor self, Tensor mat2, *, bool exact=False) -> Tensor";
  });
  INFO(changed);
  CHECK(
      changed.starts_with("it was built against operators with other schemas (there) than they have here; rebuild it:"
                          "\n  keyway::mm: "));
  CHECK(changed.find("mm(Tensor self, Tensor mat2, *, bool exact=False) -> Tensor") != std::string::npos);
  CHECK(changed.find("here   mm(Tensor self, Tensor mat2") != std::string::npos);
  CHECK(refusal_with([](PluginManifest& m) {
          m.schemas["keyway::mm"] = "mm(Tensor";
        }).find("its manifest has no schema of it") != std::string::npos);
  // Of an operator that is not here, nothing can be said.
  const FileCopy copy(plugin_module("twice"));
  PluginManifest manifest = manifest_in("twice");
  manifest.schemas["absent::op"] = "absent::op(Tensor self) -> Tensor";
  write_plugin_manifest(copy.path.string(), manifest);
  CHECK(load_plugin(copy.path.string()).loaded());
  const RegistrationHandle def = Block().def("absent::op(Tensor self, int more) -> Tensor").commit();
  CHECK(refusal_of(copy.path).find("absent::op(Tensor self, int more) -> Tensor") != std::string::npos);
}

TEST_CASE("kernels of overloads that this registry has beside those of the manifest are no lie") {
  const FileCopy copy(plugin_module("sums"));
  PluginManifest manifest = manifest_in("sums");
  REQUIRE(manifest.registers.kernels.erase("keyway::add.out") == 1);
  write_plugin_manifest(copy.path.string(), manifest);
  CHECK(load_plugin(copy.path.string()).loaded());
  // A build with some operators only has fewer.
  manifest.registers.kernels["keyway::add.absent_out"] = {"NPU"};
  manifest.schemas["keyway::add.absent_out"] =
      "add.absent_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
  manifest.registers.kernels["keyway::mm"] = {"NPU"};
  write_plugin_manifest(copy.path.string(), manifest);
  CHECK(refusal_of(copy.path) == kLies + std::string("- kernel of keyway::mm for NPU"));
}

TEST_CASE("a plug-in that needs another one is refused without it") {
  CHECK(refusal_of(plugin_module("fragile7")) == "it needs the plug-in fragile, which is not loaded");
  const LoadedPlugin needed = load_plugin(plugin_module("fragile4").string());
  CHECK(load_plugin(plugin_module("fragile7").string()).loaded());
}

TEST_CASE("what is wrong with a file is known without loading it") {
  CHECK(check_plugin(plugin_module("twice").string()) == manifest_in("twice"));
  CHECK_FALSE(check_plugin(plugin_module("bare").string()).has_value());
  CHECK_FALSE(read_plugin_manifest(plugin_module("bare").string()).has_value());
  const auto problem = [](const std::filesystem::path& file) {
    return error_of([&] { static_cast<void>(check_plugin(file.string())); });
  };
  CHECK(problem(plugin_module("other_tensor_impl")).find("it is built against other headers") != std::string::npos);
  CHECK(problem("/nowhere.so") == "plug-in /nowhere.so: it cannot be opened");
  // One for another machine can be read, and not loaded.
  std::string foreign = bytes_of(plugin_module("twice"));
  foreign[18] = 40;  // e_machine: 32-bit Arm
  const FileCopy copy;
  copy.write(foreign);
  CHECK(problem(copy.path).ends_with("it is for another machine"));
  CHECK(read_plugin_manifest(copy.path.string()) == manifest_in("twice"));
}

TEST_CASE("a manifest takes the place of the one before") {
  const FileCopy copy(plugin_module("bare"));
  PluginManifest manifest = manifest_in("twice");
  for (const std::string& version : {std::string("1"), std::string(5000, '2'), std::string()}) {
    manifest.version = version;
    write_plugin_manifest(copy.path.string(), manifest);
    CHECK(read_plugin_manifest(copy.path.string()) == manifest);
    CHECK(load_plugin(copy.path.string()).loaded());
  }
  remove_plugin_manifest(copy.path.string());
  CHECK_FALSE(read_plugin_manifest(copy.path.string()).has_value());
  CHECK(load_plugin(copy.path.string()).loaded());
  manifest.version.clear();
  write_plugin_manifest(copy.path.string(), manifest);
  manifest.version = "\xff";
  CHECK(error_of([&] { write_plugin_manifest(copy.path.string(), manifest); }).find("not UTF-8") != std::string::npos);
  CHECK(read_plugin_manifest(copy.path.string())->version.empty());
}

TEST_CASE("text that is no manifest is an error, whatever it is") {
  const std::string whole = to_json(manifest_in("waits"));
  CHECK(parse_plugin_manifest(whole) == manifest_in("waits"));
  const auto refuses = [](const std::string& text) {
    return error_of([&] { parse_plugin_manifest(text); }).starts_with("this is no manifest of a plug-in: ");
  };
  for (const std::string text : {"", "7", "[]", "{}", "{\"format\": 2}", "null", "\"\"", "{\"format\": 1}"}) {
    INFO(text);
    CHECK(refuses(text));
  }
  CHECK(refuses(std::string(1000000, '[')));
  std::mt19937_64 random(1);
  int refused = 0;
  const int count = campaign(5000);
  for (int i = 0; i < count; ++i) {
    std::string text = whole;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 40); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
        default: text[at] = "[]{},:\"0-\\"[random() % 10]; break;
      }
      if (text.empty()) break;
    }
    try {
      parse_plugin_manifest(text);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Parse);
      ++refused;
    }
  }
  CHECK(refused > count / 2);
}
