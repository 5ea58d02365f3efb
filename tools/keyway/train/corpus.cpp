#include <keyway/core/base/error.h>
#include <keyway/tools/keyway/train/corpus.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace keyway::inline v1::tools {

namespace {

constexpr const char* kLicences = "/usr/share/common-licenses";
constexpr std::size_t kShortest = 1000;

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  KEYWAY_CHECK(!std::filesystem::is_directory(path, error), "cannot read {}: it is a folder", path.string());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  KEYWAY_CHECK(file.is_open(), "cannot read {}: {}", path.string(), std::generic_category().message(errno));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  KEYWAY_CHECK(!file.bad(), "cannot read {}: {}", path.string(), std::generic_category().message(errno));
  return text;
}

// Links there are second names of files.
std::string read_licences() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kLicences, error)) {
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  }
  KEYWAY_CHECK(!files.empty(), "there are no texts in {}: give a text with --file", kLicences);
  std::ranges::sort(files);
  std::string text;
  for (const auto& file : files) text += read_file(file) + "\n\n";
  return text;
}

}  // namespace

Corpus::Corpus(const std::string& text, double held_out) {
  KEYWAY_CHECK(text.size() >= kShortest, "the text has {} bytes; at least {} are needed", text.size(), kShortest);
  KEYWAY_CHECK(held_out > 0 && held_out < 1, "the part to hold out is {}, but must be between 0 and 1", held_out);
  std::array<bool, 256> occurs{};
  for (const char c : text) occurs[static_cast<unsigned char>(c)] = true;
  std::array<std::uint8_t, 256> number{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    number[byte] = static_cast<std::uint8_t>(alphabet_.size());
    if (occurs[byte]) alphabet_ += static_cast<char>(byte);
  }
  characters_.reserve(text.size());
  for (const char c : text) characters_.push_back(number[static_cast<unsigned char>(c)]);
  training_size_ = static_cast<std::size_t>(static_cast<double>(text.size()) * (1 - held_out));
}

std::string Corpus::text(Characters characters) const {
  std::string text;
  for (const std::uint8_t c : characters) text += alphabet_[c];
  return text;
}

std::string read_training_text(const std::string& path) { return path.empty() ? read_licences() : read_file(path); }

}  // namespace keyway::inline v1::tools
