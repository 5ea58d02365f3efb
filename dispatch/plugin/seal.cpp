#include <keyway/dispatch/plugin/seal.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <vector>

namespace keyway::inline v1 {

namespace {

// Each step can be undone, given the word: two inputs that differ in one word have different values.
class WordHash {
 public:
  // A text is hashed as its words, the last of them filled up with zeros.
  void append(std::string_view bytes) {
    std::uint64_t word = 0;
    while (bytes.size() >= sizeof(word)) {
      std::memcpy(&word, bytes.data(), sizeof(word));
      append(word);
      bytes.remove_prefix(sizeof(word));
    }
    if (bytes.empty()) return;
    word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    append(word);
  }
  void append(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 32;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

// Bytes of the file that count as zeros.
struct Blank {
  std::uint64_t offset, size;
};

template <typename T>
std::vector<T> structs_at(std::string_view file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<T> values(bytes / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), file.data() + offset, values.size() * sizeof(T));
  return values;
}

// One file, as it is when all blanks are zeros.
class SealedFile {
 public:
  SealedFile(std::string_view file, std::uint64_t seal_offset) : file_(file) {
    const auto header = structs_at<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr)).front();
    segments_ = structs_at<Elf64_Phdr>(file, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    blanks_ = {{offsetof(Elf64_Ehdr, e_shoff), sizeof(header.e_shoff)},
               {offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Ehdr) - offsetof(Elf64_Ehdr, e_shentsize)},
               {seal_offset, sizeof(std::uint64_t)}};
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_DYNAMIC) read_dynamic(segment);
    }
  }

  void append_to(WordHash& hash) const {
    for (const Elf64_Phdr& segment : segments_) {
      hash.append({reinterpret_cast<const char*>(&segment), sizeof(segment)});
      if (segment.p_type == PT_LOAD) append_bytes(hash, segment.p_offset, segment.p_filesz);
    }
    for (const Elf64_Dyn& entry : entries_) {
      hash.append(static_cast<std::uint64_t>(entry.d_tag));
      hash.append(entry.d_un.d_val);
    }
  }

 private:
  // The table counts without the entries for search paths, which are removed by moving those behind them.
  void read_dynamic(const Elf64_Phdr& dynamic) {
    blanks_.push_back({dynamic.p_offset, dynamic.p_filesz});
    std::uint64_t names = 0;
    std::vector<std::uint64_t> paths;
    for (const Elf64_Dyn& entry : structs_at<Elf64_Dyn>(file_, dynamic.p_offset, dynamic.p_filesz)) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) names = offset_of(entry.d_un.d_ptr);
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
        paths.push_back(entry.d_un.d_val);
      } else {
        entries_.push_back(entry);
      }
    }
    for (const std::uint64_t path : paths) {
      const std::string_view rest = file_.substr(names + path);
      blanks_.push_back({names + path, std::min(rest.find('\0'), rest.size())});
    }
  }

  std::uint64_t offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return 0;
  }

  void append_bytes(WordHash& hash, std::uint64_t begin, std::uint64_t size) const {
    std::array<char, 4096> part;
    for (std::uint64_t done = 0; done < size; done += part.size()) {
      const std::uint64_t from = begin + done, count = std::min<std::uint64_t>(part.size(), size - done);
      std::memcpy(part.data(), file_.data() + from, count);
      for (const Blank& blank : blanks_) {
        const std::uint64_t first = std::max(blank.offset, from),
                            end = std::min(blank.offset + blank.size, from + count);
        if (first < end) std::memset(part.data() + (first - from), 0, end - first);
      }
      hash.append({part.data(), count});
    }
  }

  std::string_view file_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> entries_;  // without those for search paths
  std::vector<Blank> blanks_;
};

}  // namespace

std::uint64_t seal_of(std::string_view file, std::uint64_t seal_offset, std::string_view manifest) {
  WordHash hash;
  SealedFile(file, seal_offset).append_to(hash);
  hash.append(manifest.size());
  hash.append(manifest);
  return std::max<std::uint64_t>(hash.value(), 1);
}

}  // namespace keyway::inline v1
