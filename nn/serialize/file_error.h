// FileError: what the system refuses about a file. In Python it is OSError, or what that has for its number.
#pragma once

#include <keyway/core/base/error.h>

#include <memory>
#include <string>

namespace keyway::inline v1::nn {

class KEYWAY_API FileError : public Error {
 public:
  // `number` is errno's.
  FileError(std::string message, std::string path, int number, const char* file, int line);
  FileError(const FileError&) noexcept;
  ~FileError() override;

  const std::string& path() const { return *path_; }
  int number() const { return number_; }

 private:
  std::shared_ptr<const std::string> path_;  // copying cannot throw
  int number_;
};

}  // namespace keyway::inline v1::nn
