// FileBytes: a file that is read at offsets, or mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace keyway::inline v1::nn {

// Errors of the system are keyway::Errors that name the file. A file that shrinks while it is open is an error (Parse)
// of read(); of map() it is a fault of the process, as with any mapping.
class FileBytes {
 public:
  explicit FileBytes(std::string path);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::uint64_t size() const { return size_; }
  // Fills `to` with the `bytes` bytes from `offset` on. Requires: they lie within size().
  void read(void* to, std::uint64_t bytes, std::uint64_t offset) const;
  // The whole file in memory, as long as somebody holds it. What is written there stays in this process.
  std::shared_ptr<char> map() const;

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

}  // namespace keyway::inline v1::nn
