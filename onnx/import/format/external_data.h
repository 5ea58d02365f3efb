// ExternalData: files beside a model that hold data of its tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1::onnx {

// Files that a model may name: regular ones in its folder or below it, by paths without "..", none of whose parts is a
// link.
class ExternalData {
 public:
  // Without a folder there are no such files.
  explicit ExternalData(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  // Fills `to` with `bytes` bytes from `offset` on of the file. Throws keyway::Error(Parse) if the model may not name
  // it, or if it has fewer bytes.
  class File {
   public:
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();
    std::uint64_t size() const { return size_; }
    // Requires: they lie within size().
    void read(void* to, std::uint64_t bytes, std::uint64_t offset) const;

   private:
    friend class ExternalData;
    File(int file, std::string path);
    int file_;
    std::string path_;
    std::uint64_t size_ = 0;
  };
  File open(std::string_view location) const;

  // The whole of a file that a user names.
  static std::string read_file(const std::string& path);

 private:
  std::optional<std::string> folder_;
};

}  // namespace keyway::inline v1::onnx
