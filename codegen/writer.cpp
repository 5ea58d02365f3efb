#include <keyway/codegen/writer.h>
#include <keyway/core/base/error.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace keyway::inline v1 {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> try_read(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return in.bad() ? std::nullopt : std::optional(std::move(text));
}

[[noreturn]] void refuse(const char* what, const fs::path& path, const std::error_code& error) {
  KEYWAY_FAIL(Value, "cannot {} {}: {}", what, path.string(), error.message());
}

}  // namespace

bool write_if_changed(const fs::path& path, std::string_view text) {
  if (try_read(path) == text) return false;
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) refuse("make the folder of", path, error);
  fs::path draft = path;
  draft += ".new";
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) refuse("write", draft, std::error_code(errno, std::generic_category()));
  }
  fs::rename(draft, path, error);
  if (error) refuse("rename to", path, error);
  return true;
}

std::string read_file(const fs::path& path) {
  auto text = try_read(path);
  KEYWAY_CHECK(text.has_value(), "cannot read {}", path.string());
  return std::move(*text);
}

}  // namespace keyway::inline v1
