// Layouts and constants are those of the System V ABI's "Object Files" chapter, as <elf.h> has them.
#include <keyway/dispatch/plugin/elf_image.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);
using Symbol = ElfW(Sym);
using Relocation = ElfW(Rela);
using Section = ElfW(Shdr);

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
constexpr std::uint32_t kRelative = R_X86_64_RELATIVE, kIndirect = R_X86_64_IRELATIVE;
constexpr std::uint64_t kLargestPage = 4096;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
constexpr std::uint32_t kRelative = R_AARCH64_RELATIVE, kIndirect = R_AARCH64_IRELATIVE;
constexpr std::uint64_t kLargestPage = 65536;
#else
#error "which ELF machine is this?"
#endif
static_assert(sizeof(void*) == 8);
constexpr auto kByteOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
constexpr std::uint64_t kMaxAddress = std::uint64_t{1} << 46;
constexpr std::uint64_t kMaxThreadLocal = std::uint64_t{1} << 24;
constexpr const char* kWithin = "what runs when it is loaded begins within a function";
constexpr const char* kApart = "its segments or its dynamic table are not where its sections say";
constexpr const char* kNoCode = "what runs when it is loaded is no code of it";

// DT_RELRSZ, DT_RELR, DT_RELRENT and SHT_RELR, which older <elf.h> lack.
constexpr std::int64_t kPackedSize = 35, kPacked = 36, kPackedEntry = 37;
constexpr std::uint32_t kPackedSection = 19;

// Why a file cannot be loaded.
struct Unfit {
  std::string text;
};
[[noreturn]] void refuse(const char* text) { throw Unfit{text}; }
[[noreturn]] void refuse_damaged(const char* text) { throw Unfit{std::string("it is damaged: ") + text}; }
void require(bool condition, const char* text) {
  if (!condition) refuse_damaged(text);
}

// A part of the file. Nothing is read outside of it.
struct Bytes {
  const char* data = nullptr;
  std::uint64_t size = 0;

  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= size && count <= size - offset; }
  template <typename T>
  T at(std::uint64_t offset) const {
    require(has(offset, sizeof(T)), "a table is cut short");
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> all() const {
    std::vector<T> values(size / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), data, values.size() * sizeof(T));
    return values;
  }
};

// As the table of symbols has it.
std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

// Reads one file's tables, each part after those that it builds on.
struct ElfImage::Tables {
 public:
  explicit Tables(Bytes file) : file_(file) {
    read_header();
    read_segments();
    read_dynamic();
    check_pairs();
    read_names();
    read_hash();
    read_relocations();
    read_symbols();
    check_versions();
    check_relocations();
    check_functions();
    check_sections();
  }

  std::optional<std::string_view> object(std::string_view name) const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.st_shndx == SHN_UNDEF || this->name(symbol.st_name) != name) continue;
      if (const auto bytes = memory(symbol.st_value, symbol.st_size)) return std::string_view(bytes->data, bytes->size);
    }
    return std::nullopt;
  }

  std::vector<std::string_view> needed() const {
    std::vector<std::string_view> names;
    for (const Entry& entry : entries_) {
      if (entry.d_tag == DT_NEEDED) names.push_back(name(entry.d_un.d_val));
    }
    return names;
  }
  std::vector<std::string_view> undefined() const {
    std::vector<std::string_view> names;
    for (const Symbol& symbol : symbols_) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0) names.push_back(name(symbol.st_name));
    }
    return names;
  }

 private:
  // The segment that holds `count` bytes of memory at an address; null if none does.
  const Segment* segment(std::uint64_t address, std::uint64_t count) const {
    for (const Segment& each : loaded_) {
      if (address >= each.p_vaddr && address - each.p_vaddr <= each.p_memsz &&
          count <= each.p_memsz - (address - each.p_vaddr)) {
        return &each;
      }
    }
    return nullptr;
  }
  // The bytes that the file has for an address; nullopt if it does not have them all.
  std::optional<Bytes> memory(std::uint64_t address, std::uint64_t count) const {
    for (const Segment& each : loaded_) {
      if (address >= each.p_vaddr && address - each.p_vaddr <= each.p_filesz &&
          count <= each.p_filesz - (address - each.p_vaddr)) {
        return Bytes{file_.data + each.p_offset + (address - each.p_vaddr), count};
      }
    }
    return std::nullopt;
  }
  Bytes memory(std::uint64_t address, std::uint64_t count, const char* text) const {
    const std::optional<Bytes> bytes = memory(address, count);
    require(bytes.has_value(), text);
    return *bytes;
  }
  // What two entries of the dynamic table say where it is, and of how many bytes; nothing if it has them not.
  Bytes table(std::int64_t address, std::int64_t size, std::uint64_t item, const char* text) const {
    if (!has(address)) return {};
    require(of(size) % item == 0, text);
    return memory(of(address), of(size), text);
  }

  bool is_code(std::uint64_t address) const {
    const Segment* const in = segment(address, 1);
    return in != nullptr && (in->p_flags & PF_X) != 0;
  }
  bool is_data(std::uint64_t address) const {
    const Segment* const in = segment(address, 8);
    return in != nullptr && (in->p_flags & PF_W) != 0;
  }
  // Names end within their table, as its last byte is 0.
  std::string_view name(std::uint64_t at) const { return {names_.data + at}; }
  bool has(std::int64_t tag) const { return values_.contains(tag); }
  std::uint64_t of(std::int64_t tag) const {
    const auto at = values_.find(tag);
    return at == values_.end() ? 0 : at->second;
  }

  void read_header() {
    if (!file_.has(0, sizeof(Header)) || std::memcmp(file_.data, ELFMAG, SELFMAG) != 0) {
      refuse("it is no shared library");
    }
    header_ = file_.at<Header>(0);
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != kByteOrder ||
        header_.e_machine != kMachine) {
      refuse("it is for another machine");
    }
    if (header_.e_type != ET_DYN || header_.e_phentsize != sizeof(Segment) ||
        header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT || header_.e_phnum == 0) {
      refuse("it is no shared library");
    }
    if (!file_.has(header_.e_phoff, header_.e_phnum * sizeof(Segment))) refuse("it is cut short");
  }

  void read_segments() {
    const Bytes table{file_.data + header_.e_phoff, header_.e_phnum * sizeof(Segment)};
    const std::vector<Segment> all = table.all<Segment>();
    for (const Segment& each : all) {
      if ((each.p_type == PT_LOAD || each.p_type == PT_DYNAMIC) && !file_.has(each.p_offset, each.p_filesz)) {
        refuse("it is cut short");
      }
      if (each.p_type != PT_LOAD) continue;
      const std::uint64_t align = each.p_align;
      const std::uint64_t end = loaded_.empty() ? 0 : loaded_.back().p_vaddr + loaded_.back().p_memsz;
      const std::uint64_t end_in_file = loaded_.empty() ? 0 : loaded_.back().p_offset + loaded_.back().p_filesz;
      require(each.p_filesz <= each.p_memsz && each.p_vaddr <= kMaxAddress && each.p_memsz <= kMaxAddress &&
                  each.p_vaddr >= end && align <= kMaxAddress && align >= 4096 && is_power_of_two(align) &&
                  (each.p_vaddr - each.p_offset) % align == 0 && (each.p_flags & PF_R) != 0 &&
                  each.p_offset >= end_in_file,
              "its segments do not fit together");
      loaded_.push_back(each);
    }
    for (const Segment& each : all) read_part(each);
    if (loaded_.empty() || dynamic_.p_type != PT_DYNAMIC) refuse("it is no shared library");
  }

  // A segment that lies within others: it is there at the same distance from its begin.
  void read_part(const Segment& each) {
    if (each.p_type == PT_DYNAMIC) dynamic_ = each;
    if (each.p_type == PT_GNU_EH_FRAME) frames_ = each.p_vaddr;
    if (each.p_type == PT_TLS) thread_local_ = each;
    const bool within = each.p_type == PT_DYNAMIC || each.p_type == PT_TLS || each.p_type == PT_GNU_RELRO ||
                        each.p_type == PT_NOTE || each.p_type == PT_GNU_PROPERTY || each.p_type == PT_GNU_EH_FRAME;
    const bool starts_anew = each.p_type == PT_TLS && each.p_filesz == 0;
    if (within && !starts_anew) {
      const Bytes bytes = memory(each.p_vaddr, each.p_filesz, "a part of its segments lies outside of them");
      require(bytes.data == file_.data + each.p_offset, "a part of its segments lies outside of them");
    }
    // Linkers fill what is protected up to the next page, and nothing beyond.
    require((each.p_type != PT_TLS || (each.p_memsz >= each.p_filesz && each.p_memsz <= kMaxThreadLocal)) &&
                (each.p_type != PT_GNU_RELRO || each.p_memsz < each.p_filesz + kLargestPage),
            "a part of its segments has no such size");
    const bool is_aligned = each.p_type == PT_TLS || each.p_type == PT_NOTE || each.p_type == PT_GNU_PROPERTY;
    require(!is_aligned || each.p_align == 0 || (each.p_align <= 4096 && is_power_of_two(each.p_align)),
            "a part of its segments has no such alignment");
  }

  void read_dynamic() {
    const Bytes table{file_.data + dynamic_.p_offset, dynamic_.p_filesz};
    for (const Entry& entry : table.all<Entry>()) {
      if (entry.d_tag == DT_NULL) return;
      entries_.push_back(entry);
      values_[entry.d_tag] = entry.d_un.d_val;
      for (const std::int64_t tag : {DT_AUDIT, DT_DEPAUDIT, DT_FILTER, DT_AUXILIARY, DT_SYMINFO, DT_REL}) {
        require(entry.d_tag != tag, "it has dynamic entries that no plug-in has");
      }
    }
    refuse_damaged("its dynamic table has no end");
  }

  // Entries that come together. What the loader is not told of, it leaves undone.
  void check_pairs() const {
    constexpr std::int64_t kTogether[][2] = {{DT_RELA, DT_RELASZ},
                                             {DT_RELA, DT_RELAENT},
                                             {DT_JMPREL, DT_PLTRELSZ},
                                             {DT_JMPREL, DT_PLTREL},
                                             {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                             {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
                                             {DT_SYMTAB, DT_SYMENT},
                                             {DT_STRTAB, DT_STRSZ},
                                             {DT_VERNEED, DT_VERNEEDNUM},
                                             {DT_VERDEF, DT_VERDEFNUM},
                                             {kPacked, kPackedSize},
                                             {kPacked, kPackedEntry}};
    for (const auto& [one, other] : kTogether) require(has(one) == has(other), "its dynamic table lacks an entry");
  }

  void read_names() {
    constexpr const char* kOutside = "its names lie outside of it";
    names_ = table(DT_STRTAB, DT_STRSZ, 1, kOutside);
    require(names_.size != 0 && names_.data[names_.size - 1] == 0, kOutside);
    for (const Entry& entry : entries_) {
      const bool is_name =
          entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME || entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      require(!is_name || entry.d_un.d_val < names_.size, "a name of a library lies outside of it");
    }
  }

  // The table says how many symbols there are. Without one, the loader could look up nothing.
  void read_hash() {
    constexpr const char* kCut = "the table of its symbols is cut short";
    constexpr const char* kOutside = "the table of its symbols leads outside";
    if (has(DT_GNU_HASH)) return read_gnu_hash(kCut, kOutside);
    require(has(DT_HASH), "it has no table of its symbols");
    const Bytes head = memory(of(DT_HASH), 8, kCut);
    const auto buckets = head.at<std::uint32_t>(0), chains = head.at<std::uint32_t>(4);
    const Bytes words = memory(of(DT_HASH), (2 + std::uint64_t{buckets} + chains) * 4, kCut);
    require(buckets != 0, kCut);
    for (std::uint64_t i = 8; i < words.size; i += 4) require(words.at<std::uint32_t>(i) < chains, kOutside);
    symbol_count_ = chains;
  }

  // Chains of hashes, one a bucket, that follow each other as the symbols do; the last of each is odd.
  void read_gnu_hash(const char* cut, const char* outside) {
    const std::uint64_t begin = of(DT_GNU_HASH);
    const Bytes head = memory(begin, 16, cut);
    const std::uint64_t buckets = head.at<std::uint32_t>(0), words = head.at<std::uint32_t>(8);
    require(buckets != 0 && is_power_of_two(words) && head.at<std::uint32_t>(12) <= 31, cut);
    const std::uint64_t first_bucket = 16 + words * 8, first_hash = first_bucket + buckets * 4;
    const Bytes starts = memory(begin, first_hash, cut);
    symbol_count_ = first_hashed_ = head.at<std::uint32_t>(4);
    for (std::uint64_t i = first_bucket; i < first_hash; i += 4) {
      const auto start = starts.at<std::uint32_t>(i);
      if (start == 0) continue;
      require(start == symbol_count_, outside);
      do {
        const Bytes word = memory(begin + first_hash + hashes_.size() * 4, 4, "the table of its symbols has no end");
        hashes_.push_back(word.at<std::uint32_t>(0));
        ++symbol_count_;
      } while ((hashes_.back() & 1) == 0);
    }
  }

  void read_relocations() {
    constexpr const char* kCut = "its relocations are cut short";
    constexpr const char* kSize = "its relocations have another size";
    require(!has(DT_RELAENT) || of(DT_RELAENT) == sizeof(Relocation), kSize);
    require(!has(DT_JMPREL) || of(DT_PLTREL) == DT_RELA, kSize);
    relocations_ = table(DT_RELA, DT_RELASZ, sizeof(Relocation), kCut).all<Relocation>();
    // The loader goes through the first ones quicker.
    require(of(DT_RELACOUNT) <= relocations_.size(), kCut);
    for (std::uint64_t i = 0; i < of(DT_RELACOUNT); ++i) {
      require(ELF64_R_TYPE(relocations_[i].r_info) == kRelative, "its relocations are of another kind");
    }
    const auto calls = table(DT_JMPREL, DT_PLTRELSZ, sizeof(Relocation), kCut).all<Relocation>();
    relocations_.insert(relocations_.end(), calls.begin(), calls.end());
    read_packed(kCut);
  }

  // Relocations as addresses, each with bits for the 63 words behind the latest ones.
  void read_packed(const char* cut) {
    const Bytes words = table(kPacked, kPackedSize, 8, cut);
    require(!has(kPacked) || of(kPackedEntry) == 8, cut);
    std::uint64_t next = 0;
    for (const auto word : words.all<std::uint64_t>()) {
      if ((word & 1) == 0) {
        packed_.push_back(word);
        next = word + 8;
        continue;
      }
      for (std::uint64_t bit = 0; bit < 63; ++bit) {
        if ((word >> (bit + 1) & 1) != 0) packed_.push_back(next + bit * 8);
      }
      next += std::uint64_t{63} * 8;
    }
  }

  void read_symbols() {
    // Relocations may name ones that nobody looks up.
    for (const Relocation& each : relocations_) {
      symbol_count_ = std::max<std::uint64_t>(symbol_count_, ELF64_R_SYM(each.r_info) + 1);
    }
    constexpr const char* kOutside = "its symbols lie outside of it";
    require(has(DT_SYMTAB) && of(DT_SYMENT) == sizeof(Symbol), kOutside);
    symbols_ = memory(of(DT_SYMTAB), symbol_count_ * sizeof(Symbol), kOutside).all<Symbol>();
    for (std::uint64_t i = 0; i < symbol_count_; ++i) {
      const Symbol& symbol = symbols_[i];
      require(symbol.st_name < names_.size, "the name of a symbol lies outside of it");
      const bool is_hashed = i >= first_hashed_ && i - first_hashed_ < hashes_.size();
      require(!is_hashed || ((hash_of(name(symbol.st_name)) ^ hashes_[i - first_hashed_]) & ~1U) == 0,
              "a symbol is not that of the table");
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || type == STT_TLS) continue;
      require(segment(symbol.st_value, type == STT_OBJECT ? symbol.st_size : 0) != nullptr,
              "a symbol lies outside of it");
      require(type != STT_GNU_IFUNC || is_code(symbol.st_value), "a function lies outside of its code");
    }
  }

  // Chains of libraries and, for each, of the versions that are asked of it; then those that it has itself.
  void check_versions() const {
    constexpr const char* kCut = "the versions of its symbols are cut short";
    std::uint64_t last = 1;  // numbers 0 and 1 have a meaning of their own
    std::uint64_t address = of(DT_VERNEED), versions = 0;
    for (std::uint64_t i = 0; i < of(DT_VERNEEDNUM); ++i) {
      const auto library = memory(address, sizeof(ElfW(Verneed)), kCut).at<ElfW(Verneed)>(0);
      require(library.vn_file < names_.size && library.vn_version == 1, kCut);
      const auto is_it = [&](const Entry& entry) {
        return entry.d_tag == DT_NEEDED && name(entry.d_un.d_val) == name(library.vn_file);
      };
      require(std::any_of(entries_.begin(), entries_.end(), is_it),
              "a version is asked of a library that it does not need");
      for (std::uint64_t each = address + library.vn_aux;;) {
        const auto version = memory(each, sizeof(ElfW(Vernaux)), kCut).at<ElfW(Vernaux)>(0);
        require(version.vna_name < names_.size && ++versions <= 65535, kCut);
        last = std::max<std::uint64_t>(last, version.vna_other & 0x7fff);
        if (version.vna_next == 0) break;
        each += version.vna_next;
      }
      require((library.vn_next == 0) == (i + 1 == of(DT_VERNEEDNUM)), kCut);
      address += library.vn_next;
    }
    address = of(DT_VERDEF);
    for (std::uint64_t i = 0; i < of(DT_VERDEFNUM); ++i) {
      const auto version = memory(address, sizeof(ElfW(Verdef)), kCut).at<ElfW(Verdef)>(0);
      last = std::max<std::uint64_t>(last, version.vd_ndx & 0x7fff);
      const auto first = memory(address + version.vd_aux, sizeof(ElfW(Verdaux)), kCut).at<ElfW(Verdaux)>(0);
      require(version.vd_version == 1 && first.vda_name < names_.size &&
                  (version.vd_next == 0) == (i + 1 == of(DT_VERDEFNUM)),
              kCut);
      address += version.vd_next;
    }
    if (!has(DT_VERSYM)) return;
    for (const auto number : memory(of(DT_VERSYM), symbol_count_ * 2, kCut).all<std::uint16_t>()) {
      require((number & 0x7fffU) <= last, kCut);
    }
  }

  void check_relocations() const {
    constexpr const char* kOutside = "a relocation lies outside of its data";
    constexpr const char* kAway = "a relocation leads outside of it";
    for (const Relocation& each : relocations_) {
      const std::uint32_t type = ELF64_R_TYPE(each.r_info);
      if (type == 0) continue;
      require(is_data(each.r_offset), kOutside);
      const auto target = static_cast<std::uint64_t>(each.r_addend);
      require(type != kRelative || segment(target, 0) != nullptr, kAway);
      require(type != kIndirect || is_code(target), "a relocation calls what is no code");
    }
    for (const std::uint64_t address : packed_) {
      require(is_data(address), kOutside);
      require(segment(memory(address, 8, kOutside).at<std::uint64_t>(0), 0) != nullptr, kAway);
    }
    require(!has(DT_PLTGOT) || segment(of(DT_PLTGOT), 24) != nullptr, "its table of addresses lies outside of it");
  }

  // Whether the loader writes the address of code there.
  bool becomes_code(std::uint64_t address) const {
    if (std::find(packed_.begin(), packed_.end(), address) != packed_.end()) {
      return is_code(memory(address, 8, kNoCode).at<std::uint64_t>(0));
    }
    return std::any_of(relocations_.begin(), relocations_.end(), [&](const Relocation& each) {
      const bool relative = ELF64_R_TYPE(each.r_info) == kRelative;
      return each.r_offset == address && (!relative || is_code(static_cast<std::uint64_t>(each.r_addend)));
    });
  }

  // What the loader calls. Linkers may be told of any function to begin and end with, with a symbol or without.
  void check_functions() const {
    for (const std::int64_t tag : {DT_INIT, DT_FINI}) {
      require(!has(tag) || is_code(of(tag)), kNoCode);
      require(!has(tag) || !is_within_function(of(tag)), kWithin);
    }
    for (const auto& [address, size] :
         {std::pair{DT_INIT_ARRAY, DT_INIT_ARRAYSZ}, std::pair{DT_FINI_ARRAY, DT_FINI_ARRAYSZ}}) {
      const Bytes functions = table(address, size, 8, kNoCode);
      for (std::uint64_t i = 0; i < functions.size; i += 8) require(becomes_code(of(address) + i), kNoCode);
    }
  }

  // Whether an address lies within a function, behind its begin, as far as it is known: by the table of frames in the
  // form that linkers write, of which each entry leads to a function, and to a frame that has the same address and a
  // size.
  bool is_within_function(std::uint64_t address) const {
    constexpr char kForm[] = "\x01\x1b\x03\x3b";
    const auto head = frames_ == 0 ? std::nullopt : memory(frames_, 12);
    if (!head || std::memcmp(head->data, kForm, 4) != 0) return false;
    const auto table = memory(frames_ + 12, std::uint64_t{head->at<std::uint32_t>(8)} * 8);
    if (!table) return false;
    const auto led_to = [](std::uint64_t from, std::int32_t by) { return from + static_cast<std::uint64_t>(by); };
    for (std::uint64_t i = 0; i < table->size; i += 8) {
      const std::uint64_t function = led_to(frames_, table->at<std::int32_t>(i));
      const std::uint64_t frame_address = led_to(frames_, table->at<std::int32_t>(i + 4));
      const auto frame = memory(frame_address, 16);
      if (address <= function || !frame || led_to(frame_address + 8, frame->at<std::int32_t>(8)) != function) continue;
      if (address - function < frame->at<std::uint32_t>(12)) return true;
    }
    return false;
  }

  // Where the file has its sections too, for linkers, both say the same. One that was cut behind the last segment has
  // none, and the loader does not ask for them.
  void check_sections() const {
    const std::uint64_t count = header_.e_shnum;
    if (header_.e_shentsize != sizeof(Section) || !file_.has(header_.e_shoff, count * sizeof(Section)) || count == 0)
      return;
    const auto sections = Bytes{file_.data + header_.e_shoff, count * sizeof(Section)}.all<Section>();
    const Section& names = sections[std::min<std::uint64_t>(header_.e_shstrndx, count - 1)];
    const auto is_called = [&](const Section& section, std::string_view name) {
      const std::uint64_t offset = names.sh_offset + section.sh_name;
      return file_.has(offset, name.size() + 1) && std::string_view(file_.data + offset, name.size()) == name;
    };
    bool got = !has(DT_PLTGOT);
    std::uint64_t end_of_thread_local = thread_local_.p_vaddr;
    for (const Section& section : sections) {
      if ((section.sh_flags & SHF_ALLOC) == 0) continue;
      if ((section.sh_flags & SHF_TLS) != 0) {
        end_of_thread_local = std::max<std::uint64_t>(end_of_thread_local, section.sh_addr + section.sh_size);
        continue;
      }
      // These are one function each, which no table of frames has.
      const bool is_function = is_called(section, ".init") || is_called(section, ".fini");
      for (const std::int64_t tag : {DT_INIT, DT_FINI}) {
        const bool is_behind = of(tag) > section.sh_addr && of(tag) - section.sh_addr < section.sh_size;
        require(!is_function || !is_behind, kWithin);
      }
      got |= section.sh_addr == of(DT_PLTGOT);
      check_section(section);
    }
    require(got, kApart);
    require(thread_local_.p_vaddr + thread_local_.p_memsz <= end_of_thread_local + thread_local_.p_align, kApart);
  }

  void check_section(const Section& section) const {
    const std::uint64_t address = section.sh_addr, size = section.sh_size;
    const Segment* const in = segment(address, size);
    require(in != nullptr && ((section.sh_flags & SHF_EXECINSTR) == 0 || (in->p_flags & PF_X) != 0) &&
                ((section.sh_flags & SHF_WRITE) == 0 || (in->p_flags & PF_W) != 0),
            kApart);
    if (section.sh_type == SHT_NOBITS || size == 0) return;
    require(memory(address, size, kApart).data == file_.data + section.sh_offset, kApart);
    const auto is = [&](std::int64_t table) { return has(table) && address == of(table); };
    const auto within = [&](std::int64_t table, std::int64_t bytes) {
      return has(table) && address >= of(table) && address + size <= of(table) + of(bytes);
    };
    bool fits = true;
    switch (section.sh_type) {
      case SHT_DYNAMIC: fits = address == dynamic_.p_vaddr && section.sh_offset == dynamic_.p_offset; break;
      case SHT_DYNSYM: fits = is(DT_SYMTAB); break;
      case SHT_STRTAB: fits = is(DT_STRTAB) && size == of(DT_STRSZ); break;
      case SHT_RELA: fits = within(DT_RELA, DT_RELASZ) || within(DT_JMPREL, DT_PLTRELSZ); break;
      case kPackedSection: fits = is(kPacked) && size == of(kPackedSize); break;
      case SHT_INIT_ARRAY: fits = is(DT_INIT_ARRAY) && size == of(DT_INIT_ARRAYSZ); break;
      case SHT_FINI_ARRAY: fits = is(DT_FINI_ARRAY) && size == of(DT_FINI_ARRAYSZ); break;
      case SHT_GNU_HASH: fits = is(DT_GNU_HASH); break;
      case SHT_GNU_versym: fits = is(DT_VERSYM); break;
      case SHT_GNU_verneed: fits = is(DT_VERNEED); break;
      case SHT_GNU_verdef: fits = is(DT_VERDEF); break;
      default: break;
    }
    require(fits, kApart);
  }

  const Bytes file_;
  Header header_{};
  std::vector<Segment> loaded_;
  Segment dynamic_{}, thread_local_{};
  std::uint64_t frames_ = 0;  // 0: there is no table of them
  std::vector<Entry> entries_;
  std::map<std::int64_t, std::uint64_t> values_;  // of entries, by tag
  Bytes names_;
  std::uint64_t symbol_count_ = 0;
  std::vector<Symbol> symbols_;
  std::uint64_t first_hashed_ = 0;
  std::vector<std::uint32_t> hashes_;  // of symbols from first_hashed_ on
  std::vector<Relocation> relocations_;
  std::vector<std::uint64_t> packed_;  // addresses of relative relocations
};

ElfImage::ElfImage(const std::string& path) {
  try {
    map(path);
    tables_ = std::make_unique<Tables>(Bytes{data_, size_});
  } catch (const Unfit& unfit) {
    problem_ = unfit.text;
  } catch (...) {
    unmap();
    throw;
  }
}

ElfImage::~ElfImage() { unmap(); }

void ElfImage::map(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0) refuse("it cannot be opened");
  const bool is_known = fstat(file, &about) == 0;
  const bool is_regular = is_known && S_ISREG(about.st_mode) && about.st_size != 0;
  void* memory = MAP_FAILED;
  if (is_regular) memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (!is_known) refuse("it cannot be opened");
  if (!is_regular) refuse("it is no shared library");
  if (memory == MAP_FAILED) refuse("it cannot be read");
  data_ = static_cast<const char*>(memory);
  size_ = static_cast<std::size_t>(about.st_size);
}

void ElfImage::unmap() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

std::optional<std::string_view> ElfImage::object(std::string_view name) const { return tables_->object(name); }
std::vector<std::string_view> ElfImage::needed() const { return tables_->needed(); }
std::vector<std::string_view> ElfImage::undefined() const { return tables_->undefined(); }

}  // namespace keyway::inline v1
