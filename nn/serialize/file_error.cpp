#include <keyway/nn/serialize/file_error.h>

#include <utility>

namespace keyway::inline v1::nn {

FileError::FileError(std::string message, std::string path, int number, const char* file, int line)
    : Error(ErrorKind::Value, std::move(message), file, line),
      path_(std::make_shared<const std::string>(std::move(path))),
      number_(number) {}

FileError::FileError(const FileError&) noexcept = default;
FileError::~FileError() = default;

}  // namespace keyway::inline v1::nn
