#include <keyway/core/base/error.h>
#include <keyway/core/device/device.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/scaffold/scaffold.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace keyway::inline v1::tools {

namespace {

namespace fs = std::filesystem;

struct Template {
  std::string_view path, text;
};

constexpr Template kTemplates[] = {
#include <keyway/tools/keyway/scaffold/templates.inc>
};

constexpr std::string_view kPlaceholder = "@name@";

std::string_view folder_of(ProjectKind kind) {
  constexpr std::array<std::string_view, 3> kFolders{"backend/", "ops/", "plugin/"};
  return kFolders[static_cast<std::size_t>(kind)];
}

std::string with_name(std::string_view text, std::string_view name) {
  std::string out;
  for (std::size_t at; (at = text.find(kPlaceholder)) != std::string_view::npos;
       text.remove_prefix(at + kPlaceholder.size())) {
    out.append(text.substr(0, at)).append(name);
  }
  return out.append(text);
}

// Words that C++ or Python keeps, of those that a name could be, and what is there in a project anyway.
constexpr std::string_view kTaken[] = {
    "alignas",  "alignof",  "and",      "as",       "asm",    "assert",   "async",     "auto",      "await",
    "bool",     "break",    "build",    "case",     "catch",  "char",     "class",     "concept",   "const",
    "continue", "decltype", "def",      "default",  "del",    "delete",   "do",        "double",    "elif",
    "else",     "enum",     "except",   "explicit", "export", "extern",   "false",     "finally",   "float",
    "for",      "friend",   "from",     "global",   "goto",   "if",       "import",    "in",        "inline",
    "int",      "is",       "keyway",   "lambda",   "long",   "mutable",  "namespace", "new",       "noexcept",
    "nonlocal", "not",      "nullptr",  "operator", "or",     "pass",     "private",   "protected", "public",
    "raise",    "register", "requires", "return",   "short",  "signed",   "sizeof",    "src",       "static",
    "std",      "struct",   "switch",   "template", "test",   "tests",    "this",      "throw",     "true",
    "try",      "typedef",  "typeid",   "typename", "union",  "unsigned", "using",     "virtual",   "void",
    "volatile", "while",    "with",     "xor",      "yield"};

void check_name(ProjectKind kind, std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool is_well_formed =
      !name.empty() && name.size() <= 31 && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
  KEYWAY_CHECK(is_well_formed, "a name is up to 31 of a to z, 0 to 9 and _, a letter first, not '{}'", name);
  KEYWAY_CHECK(std::find(std::begin(kTaken), std::end(kTaken), name) == std::end(kTaken),
               "'{}' is a word of C++, of Python or of a project's folders", name);
  if (kind != ProjectKind::Backend) return;
  KEYWAY_CHECK(name != "unknown" && !find_device_type(name), "there is a device type '{}' already", name);
  // keyway.<name> and tensor.<name>() are to be the device type's.
  const std::string op = "keyway::" + std::string(name);
  for (const OperatorHandle& known : Dispatcher::singleton().ops()) {
    const std::string full_name = known.name();
    KEYWAY_CHECK(full_name.substr(0, full_name.find('.')) != op,
                 "'{}' is an operator of Keyway: a device type of that name would have no tensor.{}()", name, name);
  }
}

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  KEYWAY_CHECK(file.good(), "cannot write {}", path.string());
}

}  // namespace

std::vector<ProjectFile> project_files(ProjectKind kind, std::string_view name) {
  check_name(kind, name);
  std::vector<ProjectFile> files;
  const std::string_view folder = folder_of(kind);
  for (const Template& file : kTemplates) {
    if (file.path.starts_with(folder)) {
      files.push_back({with_name(file.path.substr(folder.size()), name), with_name(file.text, name)});
    }
  }
  return files;
}

void write_project(const std::vector<ProjectFile>& files, const std::string& folder) {
  std::error_code none;  // a folder that is not there is empty
  const bool was_there = fs::exists(folder, none);
  KEYWAY_CHECK(!was_there || (fs::is_directory(folder, none) && fs::is_empty(folder, none)),
               "'{}' is there and is no empty folder", folder);
  try {
    for (const ProjectFile& file : files) write_file(fs::path(folder) / file.path, file.text);
  } catch (const std::exception& error) {
    for (const ProjectFile& file : files) {
      const fs::path top = fs::path(folder) / *fs::path(file.path).begin();
      fs::remove_all(top, none);
    }
    if (!was_there) fs::remove(folder, none);
    KEYWAY_FAIL(Value, "no project in '{}': {}", folder, error.what());
  }
}

}  // namespace keyway::inline v1::tools
