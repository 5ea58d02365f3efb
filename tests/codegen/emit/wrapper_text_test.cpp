// What wrappers promise to kernels (docs/backends.md), asked of every entry of Keyway's own.
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/emit/wrapper_text.h>
#include <keyway/tests/codegen/test_files.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace keyway;

namespace {

std::vector<Family> own_families() {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(KEYWAY_OP_SCHEMA).parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name != "op.schema.json" && name.ends_with(".json")) files.push_back({name, read_file(entry.path())});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  Diagnostics diagnostics;
  auto families = build_model(files, diagnostics);
  INFO(diagnostics.str());
  REQUIRE(families.has_value());
  return std::move(*families);
}

bool has_kernel(const Op& op) {
  const WrapperKind kind = wrapper_kind(op);
  return kind != WrapperKind::View && kind != WrapperKind::Composite;
}

bool is_dimension(const Argument& argument) {
  const SchemaType type = argument.type().is(TypeKind::Optional) ? argument.type().element() : argument.type();
  const bool ints = type.is(TypeKind::Int) || (type.is(TypeKind::List) && type.element().is(TypeKind::Int));
  return ints && (argument.name() == "dims" || argument.name() == "axis" || argument.name().starts_with("dim"));
}

}  // namespace

TEST_CASE("every dimension that is given to a kernel counts from the front") {
  int seen = 0;
  for (const Family& family : own_families()) {
    for (const Op& op : family.ops) {
      if (!has_kernel(op)) continue;
      const std::string text = wrapper_struct(op);
      const std::string run = text.substr(text.find(" run(Kernel* kernel_"));
      const std::string call = run.substr(run.find("kernel_(", run.find(") {")));
      for (const Argument argument : op.schema->arguments()) {
        if (!is_dimension(argument)) continue;
        INFO(op.schema->text());
        const std::string name(argument.name());
        const bool wrapped = std::ranges::any_of(
            std::vector<std::string>{"wrap_dim", "wrap_optional_dim", "WrappedDims"},
            [&](const std::string& by) { return call.find(by + "(" + name + ", ") != std::string::npos; });
        CHECK(wrapped);
        ++seen;
      }
    }
  }
  CHECK(seen > 30);
}
