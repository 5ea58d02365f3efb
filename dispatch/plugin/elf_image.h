// ElfImage: a shared library as it lies in its file, looked at before the loader maps it. Internal to dispatch/.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The loader trusts headers and tables: where they lead out of the file, the process dies.
class ElfImage {
 public:
  explicit ElfImage(const std::string& path);
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  // Why it cannot be a shared library of this machine; empty if all that the loader follows leads to where it may. What
  // the instructions are, nobody can know from tables.
  const std::string& problem() const { return problem_; }
  // All of the file; empty if it cannot be read.
  std::string_view bytes() const { return {data_, size_}; }
  // The bytes that the file has for an exported object; nullopt if there is none of that name. They are those before
  // relocation: pointers in them are not set. Requires: problem() is empty.
  std::optional<std::string_view> object(std::string_view name) const;
  // The libraries that it names as needed, and the symbols that it leaves to others. Requires: problem() is empty.
  std::vector<std::string_view> needed() const;
  std::vector<std::string_view> undefined() const;

 private:
  struct Tables;
  void map(const std::string& path);
  void unmap();

  std::unique_ptr<Tables> tables_;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::string problem_;
};

}  // namespace keyway::inline v1
