// Layouts and constants are those of the System V ABI's "Object Files" chapter, as <elf.h> has them.
#include <keyway/dispatch/elf_image.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
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
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
constexpr std::uint32_t kRelative = R_AARCH64_RELATIVE, kIndirect = R_AARCH64_IRELATIVE;
#else
#error "which ELF machine is this?"
#endif
static_assert(sizeof(void*) == 8);
constexpr auto kByteOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
constexpr std::uint64_t kMaxAddress = std::uint64_t{1} << 46;
constexpr const char* kDamaged = "it is damaged: ";
constexpr const char* kWithin = "what runs when it is loaded begins within a function";
constexpr const char* kApart = "its segments or its dynamic table are not where its sections say";

}  // namespace

// Reads one file's tables.
struct ElfImage::Tables {
 public:
  Tables(const char* data, std::uint64_t size) : data_(data), size_(size) {}

  std::string check() {
    if (std::string text = check_header(); !text.empty()) return text;
    if (std::string text = check_segments(); !text.empty()) return text;
    for (const auto step : {&Tables::check_dynamic, &Tables::check_pairs, &Tables::check_names, &Tables::check_hash,
                            &Tables::check_symbols, &Tables::check_versions, &Tables::check_relocations,
                            &Tables::check_functions, &Tables::check_sections}) {
      if (const char* text = (this->*step)()) return kDamaged + std::string(text);
    }
    return {};
  }

  std::optional<std::string_view> object(std::string_view name) const {
    for (std::uint64_t i = 0; i < symbols_; ++i) {
      const auto symbol = at<Symbol>(symbol_table_ + i * sizeof(Symbol));
      if (symbol.st_shndx == SHN_UNDEF || this->name(symbol.st_name) != name) continue;
      if (const char* place = bytes(symbol.st_value, symbol.st_size)) return std::string_view(place, symbol.st_size);
    }
    return std::nullopt;
  }

 private:
  template <typename T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }
  bool in_file(std::uint64_t offset, std::uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

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
  // The same bytes in the file; null if it does not have them all.
  const char* bytes(std::uint64_t address, std::uint64_t count) const {
    const Segment* const in = segment(address, count);
    if (in == nullptr || address - in->p_vaddr > in->p_filesz || count > in->p_filesz - (address - in->p_vaddr)) {
      return nullptr;
    }
    return data_ + in->p_offset + (address - in->p_vaddr);
  }
  // Where they begin in the file; only after bytes() found them.
  std::uint64_t offset(std::uint64_t address) const { return static_cast<std::uint64_t>(bytes(address, 0) - data_); }
  bool is_code(std::uint64_t address) const {
    const Segment* const in = segment(address, 1);
    return in != nullptr && (in->p_flags & PF_X) != 0;
  }
  // Names end within their table, as its last byte is 0.
  std::string_view name(std::uint64_t at) const { return {data_ + names_ + at}; }
  std::uint64_t of(std::int64_t tag) const { return has(tag) ? values_[static_cast<std::size_t>(tag)] : 0; }
  bool has(std::int64_t tag) const { return tag < kTags && present_[static_cast<std::size_t>(tag)]; }

  // As the table of symbols has it.
  static std::uint32_t hash_of(std::string_view name) {
    std::uint32_t hash = 5381;
    for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
  }

  std::string check_header() {
    if (size_ < sizeof(Header) || std::memcmp(data_, ELFMAG, SELFMAG) != 0) return "it is no shared library";
    header_ = at<Header>(0);
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != kByteOrder ||
        header_.e_machine != kMachine) {
      return "it is for another machine";
    }
    if (header_.e_type != ET_DYN || header_.e_phentsize != sizeof(Segment) ||
        header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT || header_.e_phnum == 0) {
      return "it is no shared library";
    }
    if (!in_file(header_.e_phoff, header_.e_phnum * sizeof(Segment))) return "it is cut short";
    return {};
  }

  std::string check_segments() {
    const Segment* dynamic = nullptr;
    std::vector<Segment> all;
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      all.push_back(at<Segment>(header_.e_phoff + i * sizeof(Segment)));
      const Segment& each = all.back();
      if ((each.p_type == PT_LOAD || each.p_type == PT_DYNAMIC) && !in_file(each.p_offset, each.p_filesz)) {
        return "it is cut short";
      }
      if (each.p_type != PT_LOAD) continue;
      const std::uint64_t align = each.p_align;
      const std::uint64_t end = loaded_.empty() ? 0 : loaded_.back().p_vaddr + loaded_.back().p_memsz;
      if (each.p_filesz > each.p_memsz || each.p_vaddr > kMaxAddress || each.p_memsz > kMaxAddress ||
          each.p_vaddr < end || align > kMaxAddress || align < 4096 || (align & (align - 1)) != 0 ||
          (each.p_vaddr - each.p_offset) % align != 0 || (each.p_flags & PF_R) == 0 ||
          (!loaded_.empty() && each.p_offset < loaded_.back().p_offset + loaded_.back().p_filesz)) {
        return kDamaged + std::string("its segments do not fit together");
      }
      loaded_.push_back(each);
    }
    for (const Segment& each : all) {
      if (each.p_type == PT_DYNAMIC) dynamic = &each;
      if (each.p_type == PT_GNU_EH_FRAME) frames_ = each.p_vaddr;
      const bool within = each.p_type == PT_DYNAMIC || each.p_type == PT_TLS || each.p_type == PT_GNU_RELRO ||
                          each.p_type == PT_NOTE || each.p_type == PT_GNU_PROPERTY || each.p_type == PT_GNU_EH_FRAME;
      // What stands in a segment is there at the same distance from its begin.
      const char* const place = bytes(each.p_vaddr, each.p_filesz);
      const bool starts_anew = each.p_type == PT_TLS && each.p_filesz == 0;
      if (within && !starts_anew && (place == nullptr || place != data_ + each.p_offset)) {
        return kDamaged + std::string("a part of its segments lies outside of them");
      }
      if ((each.p_type == PT_TLS && each.p_memsz < each.p_filesz) ||
          (each.p_type == PT_GNU_RELRO && each.p_memsz > each.p_filesz + 4096)) {
        return kDamaged + std::string("a part of its segments has no such size");
      }
      if ((each.p_type == PT_TLS || each.p_type == PT_NOTE || each.p_type == PT_GNU_PROPERTY) &&
          (each.p_align > 4096 || (each.p_align & (each.p_align - 1)) != 0)) {
        return kDamaged + std::string("a part of its segments has no such alignment");
      }
    }
    if (loaded_.empty() || dynamic == nullptr) return "it is no shared library";
    dynamic_ = *dynamic;
    return {};
  }

  const char* check_dynamic() {
    const std::uint64_t count = dynamic_.p_filesz / sizeof(Entry);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry = at<Entry>(dynamic_.p_offset + i * sizeof(Entry));
      entries_.push_back(entry);
      if (entry.d_tag == DT_NULL) return nullptr;
      const auto set = [&](std::int64_t tag) {
        values_[static_cast<std::size_t>(tag)] = entry.d_un.d_val;
        present_[static_cast<std::size_t>(tag)] = true;
      };
      if (entry.d_tag > 0 && entry.d_tag < kTags) set(entry.d_tag);
      if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERSYM) version_of_symbols_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERNEED) needed_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERNEEDNUM) needed_count_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERDEF) defined_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERDEFNUM) defined_count_ = entry.d_un.d_val;
      if (entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT || entry.d_tag == DT_FILTER ||
          entry.d_tag == DT_AUXILIARY || entry.d_tag == DT_SYMINFO || entry.d_tag == DT_REL) {
        return "it has dynamic entries that no plug-in has";
      }
    }
    return "its dynamic table has no end";
  }

  // Entries that come together. What the loader is not told of, it leaves undone.
  const char* check_pairs() {
    constexpr std::int64_t kTogether[][2] = {{DT_RELA, DT_RELASZ},
                                             {DT_RELA, DT_RELAENT},
                                             {DT_JMPREL, DT_PLTRELSZ},
                                             {DT_JMPREL, DT_PLTREL},
                                             {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                             {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
                                             {DT_SYMTAB, DT_SYMENT},
                                             {DT_STRTAB, DT_STRSZ},
                                             {kPacked, kPackedSize},
                                             {kPacked, kPackedEntry}};
    for (const auto& [one, other] : kTogether) {
      if (has(one) != has(other)) return "its dynamic table lacks an entry";
    }
    if ((needed_ == 0) != (needed_count_ == 0) || (defined_ == 0) != (defined_count_ == 0)) {
      return "its dynamic table lacks an entry";
    }
    return nullptr;
  }

  // Whether an address lies within a function, behind its begin, as far as it is known: by the table of frames in the
  // form that linkers write, of which each entry leads to a function, and to a frame that has the same place and a
  // size.
  bool is_within_function(std::uint64_t address) const {
    constexpr char kForm[] = "\x01\x1b\x03\x3b";
    const char* const head = frames_ == 0 ? nullptr : bytes(frames_, 12);
    if (head == nullptr || std::memcmp(head, kForm, 4) != 0) return false;
    const std::uint64_t begin = offset(frames_), count = at<std::uint32_t>(begin + 8);
    if (bytes(frames_ + 12, count * 8) == nullptr) return false;
    const auto led_to = [](std::uint64_t from, std::int32_t by) { return from + static_cast<std::uint64_t>(by); };
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t function = led_to(frames_, at<std::int32_t>(begin + 12 + i * 8));
      const std::uint64_t frame = led_to(frames_, at<std::int32_t>(begin + 16 + i * 8));
      if (address <= function || bytes(frame, 16) == nullptr) continue;
      const std::uint64_t place = offset(frame);
      if (led_to(frame + 8, at<std::int32_t>(place + 8)) != function) continue;
      if (address - function < at<std::uint32_t>(place + 12)) return true;
    }
    return false;
  }

  // Where the file has its sections too, for linkers, both say the same. One that was cut behind the last segment has
  // none, and the loader does not ask for them.
  const char* check_sections() {
    const std::uint64_t count = header_.e_shnum;
    if (count == 0 || header_.e_shentsize != sizeof(Section) || !in_file(header_.e_shoff, count * sizeof(Section)))
      return nullptr;
    bool got = !has(DT_PLTGOT);
    const auto names =
        at<Section>(header_.e_shoff + std::min<std::uint64_t>(header_.e_shstrndx, count - 1) * sizeof(Section));
    const auto is_called = [&](const Section& section, std::string_view name) {
      const std::uint64_t place = names.sh_offset + section.sh_name;
      return in_file(place, name.size() + 1) && std::string_view(data_ + place, name.size()) == name;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto section = at<Section>(header_.e_shoff + i * sizeof(Section));
      if ((section.sh_flags & SHF_ALLOC) == 0 || (section.sh_flags & SHF_TLS) != 0) continue;
      // These are one function each, which no table of frames has.
      const bool is_function = is_called(section, ".init") || is_called(section, ".fini");
      for (const std::int64_t tag : {DT_INIT, DT_FINI}) {
        if (is_function && has(tag) && of(tag) > section.sh_addr && of(tag) - section.sh_addr < section.sh_size)
          return kWithin;
      }
      got |= section.sh_addr == of(DT_PLTGOT);
      if (const char* text = check_section(section)) return text;
    }
    return got ? nullptr : kApart;
  }

  const char* check_section(const Section& section) const {
    const std::uint64_t address = section.sh_addr, size = section.sh_size;
    const Segment* const in = segment(address, size);
    if (in == nullptr || ((section.sh_flags & SHF_EXECINSTR) != 0 && (in->p_flags & PF_X) == 0) ||
        ((section.sh_flags & SHF_WRITE) != 0 && (in->p_flags & PF_W) == 0)) {
      return kApart;
    }
    if (section.sh_type == SHT_NOBITS || size == 0) return nullptr;
    if (bytes(address, size) != data_ + section.sh_offset) return kApart;
    const auto within = [&](std::int64_t table, std::int64_t bytes) {
      return has(table) && address >= of(table) && address + size <= of(table) + of(bytes);
    };
    bool fits = true;
    switch (section.sh_type) {
      case SHT_DYNAMIC: fits = address == dynamic_.p_vaddr && section.sh_offset == dynamic_.p_offset; break;
      case SHT_DYNSYM: fits = has(DT_SYMTAB) && address == of(DT_SYMTAB); break;
      case SHT_STRTAB: fits = address == of(DT_STRTAB) && size == of(DT_STRSZ); break;
      case SHT_RELA: fits = within(DT_RELA, DT_RELASZ) || within(DT_JMPREL, DT_PLTRELSZ); break;
      case kPackedSection: fits = has(kPacked) && address == of(kPacked) && size == of(kPackedSize); break;
      case SHT_INIT_ARRAY:
        fits = has(DT_INIT_ARRAY) && address == of(DT_INIT_ARRAY) && size == of(DT_INIT_ARRAYSZ);
        break;
      case SHT_FINI_ARRAY:
        fits = has(DT_FINI_ARRAY) && address == of(DT_FINI_ARRAY) && size == of(DT_FINI_ARRAYSZ);
        break;
      case SHT_GNU_HASH: fits = address == gnu_hash_ || has(DT_HASH); break;
      case SHT_GNU_versym: fits = address == version_of_symbols_; break;
      case SHT_GNU_verneed: fits = address == needed_; break;
      case SHT_GNU_verdef: fits = address == defined_; break;
      default: break;
    }
    return fits ? nullptr : kApart;
  }

  const char* check_names() {
    const std::uint64_t size = of(DT_STRSZ);
    const char* const names = has(DT_STRTAB) && size != 0 ? bytes(of(DT_STRTAB), size) : nullptr;
    if (names == nullptr || names[size - 1] != 0) return "its names lie outside of it";
    names_ = offset(of(DT_STRTAB));
    for (const Entry& entry : entries_) {
      const bool is_name =
          entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME || entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      if (is_name && entry.d_un.d_val >= size) return "a name of a library lies outside of it";
    }
    return nullptr;
  }

  // The table says how many symbols there are. Without one, the loader could look up nothing.
  const char* check_hash() {
    if (gnu_hash_ == 0) {
      const char* const hash = has(DT_HASH) ? bytes(of(DT_HASH), 8) : nullptr;
      if (hash == nullptr) return "it has no table of its symbols";
      const auto buckets = at<std::uint32_t>(offset(of(DT_HASH))), chains = at<std::uint32_t>(offset(of(DT_HASH)) + 4);
      const std::uint64_t words = 2 + std::uint64_t{buckets} + chains;
      if (buckets == 0 || bytes(of(DT_HASH), words * 4) == nullptr) return "the table of its symbols is cut short";
      for (std::uint64_t i = 2; i < words; ++i) {
        if (at<std::uint32_t>(offset(of(DT_HASH)) + i * 4) >= chains) return "the table of its symbols leads outside";
      }
      symbols_ = chains;
      return nullptr;
    }
    if (bytes(gnu_hash_, 16) == nullptr) return "the table of its symbols lies outside of it";
    const std::uint64_t begin = offset(gnu_hash_);
    const std::uint64_t buckets = at<std::uint32_t>(begin), first = at<std::uint32_t>(begin + 4);
    const std::uint64_t words = at<std::uint32_t>(begin + 8), shift = at<std::uint32_t>(begin + 12);
    const std::uint64_t head = 16 + words * 8 + buckets * 4;
    if (buckets == 0 || words == 0 || (words & (words - 1)) != 0 || shift > 31 || bytes(gnu_hash_, head) == nullptr) {
      return "the table of its symbols is cut short";
    }
    symbols_ = first_hashed_ = first;
    for (std::uint64_t i = 0; i < buckets; ++i) {
      std::uint64_t symbol = at<std::uint32_t>(begin + head - buckets * 4 + i * 4);
      if (symbol == 0) continue;
      if (symbol < first) return "the table of its symbols leads outside";
      for (;; ++symbol) {
        const std::uint64_t place = head + (symbol - first) * 4;
        if (bytes(gnu_hash_ + place, 4) == nullptr) return "the table of its symbols has no end";
        hashes_.push_back(at<std::uint32_t>(begin + place));
        if ((hashes_.back() & 1) != 0) break;
      }
      symbols_ = std::max(symbols_, symbol + 1);
    }
    return nullptr;
  }

  const char* check_symbols() {
    // Relocations may name ones that nobody looks up.
    for (const auto& [table, size] : {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
      const char* const place = has(table) ? bytes(of(table), of(size)) : nullptr;
      if (has(table) && (place == nullptr || of(size) % sizeof(Relocation) != 0))
        return "its relocations are cut short";
      for (std::uint64_t i = 0; has(table) && i < of(size) / sizeof(Relocation); ++i) {
        relocations_.push_back(at<Relocation>(offset(of(table)) + i * sizeof(Relocation)));
        symbols_ = std::max<std::uint64_t>(symbols_, ELF64_R_SYM(relocations_.back().r_info) + 1);
      }
    }
    if (has(DT_RELAENT) && of(DT_RELAENT) != sizeof(Relocation)) return "its relocations have another size";
    if (has(DT_JMPREL) && of(DT_PLTREL) != DT_RELA) return "its relocations have another size";
    if (!has(DT_SYMTAB) || of(DT_SYMENT) != sizeof(Symbol) ||
        bytes(of(DT_SYMTAB), symbols_ * sizeof(Symbol)) == nullptr) {
      return "its symbols lie outside of it";
    }
    symbol_table_ = offset(of(DT_SYMTAB));
    for (std::uint64_t i = 0; i < symbols_; ++i) {
      const auto symbol = at<Symbol>(symbol_table_ + i * sizeof(Symbol));
      if (symbol.st_name >= of(DT_STRSZ)) return "the name of a symbol lies outside of it";
      if (i >= first_hashed_ && i - first_hashed_ < hashes_.size() &&
          ((hash_of(name(symbol.st_name)) ^ hashes_[i - first_hashed_]) & ~1U) != 0) {
        return "a symbol is not that of the table";
      }
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || type == STT_TLS) continue;
      if (segment(symbol.st_value, type == STT_OBJECT ? symbol.st_size : 0) == nullptr) {
        return "a symbol lies outside of it";
      }
      if (type == STT_GNU_IFUNC && !is_code(symbol.st_value)) return "a function lies outside of its code";
    }
    return nullptr;
  }

  // Chains of libraries and, for each, of the versions that are asked of it.
  const char* check_versions() {
    constexpr const char* kCut = "the versions of its symbols are cut short";
    if (version_of_symbols_ != 0 && bytes(version_of_symbols_, symbols_ * 2) == nullptr) return kCut;
    std::uint64_t last = 1;  // numbers 0 and 1 have a meaning of their own
    std::uint64_t place = needed_;
    for (std::uint64_t i = 0; needed_ != 0 && i < needed_count_; ++i) {
      if (bytes(place, sizeof(ElfW(Verneed))) == nullptr) return kCut;
      const auto library = at<ElfW(Verneed)>(offset(place));
      if (library.vn_file >= of(DT_STRSZ) || library.vn_version != 1) return kCut;
      const std::string_view file = name(library.vn_file);
      if (std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return entry.d_tag == DT_NEEDED && name(entry.d_un.d_val) == file;
          })) {
        return "a version is asked of a library that it does not need";
      }
      std::uint64_t each = place + library.vn_aux;
      for (unsigned n = 0;; ++n) {
        if (bytes(each, sizeof(ElfW(Vernaux))) == nullptr || n > 65535) return kCut;
        const auto version = at<ElfW(Vernaux)>(offset(each));
        if (version.vna_name >= of(DT_STRSZ)) return kCut;
        last = std::max<std::uint64_t>(last, version.vna_other & 0x7fff);
        if (version.vna_next == 0) break;
        each += version.vna_next;
      }
      if (library.vn_next == 0 && i + 1 != needed_count_) return kCut;
      if (library.vn_next != 0 && i + 1 == needed_count_) return kCut;
      place += library.vn_next;
    }
    place = defined_;
    for (std::uint64_t i = 0; defined_ != 0 && i < defined_count_; ++i) {
      if (bytes(place, sizeof(ElfW(Verdef))) == nullptr) return kCut;
      const auto version = at<ElfW(Verdef)>(offset(place));
      last = std::max<std::uint64_t>(last, version.vd_ndx & 0x7fff);
      const std::uint64_t first = place + version.vd_aux;
      if (version.vd_version != 1 || bytes(first, sizeof(ElfW(Verdaux))) == nullptr ||
          at<ElfW(Verdaux)>(offset(first)).vda_name >= of(DT_STRSZ) ||
          (version.vd_next == 0) != (i + 1 == defined_count_)) {
        return kCut;
      }
      place += version.vd_next;
    }
    for (std::uint64_t i = 0; version_of_symbols_ != 0 && i < symbols_; ++i) {
      if ((at<std::uint16_t>(offset(version_of_symbols_) + i * 2) & 0x7fffU) > last) return kCut;
    }
    return nullptr;
  }

  const char* check_relocations() {
    for (const Relocation& each : relocations_) {
      const Segment* const in = segment(each.r_offset, 8);
      if (ELF64_R_TYPE(each.r_info) == 0) continue;
      if (in == nullptr || (in->p_flags & PF_W) == 0) return "a relocation lies outside of its data";
      const auto target = static_cast<std::uint64_t>(each.r_addend);
      const std::uint32_t type = ELF64_R_TYPE(each.r_info);
      if (type == kRelative && segment(target, 0) == nullptr) return "a relocation leads outside of it";
      if (type == kIndirect && !is_code(target)) return "a relocation calls what is no code";
    }
    if (const char* text = check_packed()) return text;
    if (has(DT_PLTGOT) && segment(of(DT_PLTGOT), 24) == nullptr) return "its table of addresses lies outside of it";
    return nullptr;
  }

  // Relocations as addresses, each with bits for the 63 words behind the latest ones.
  const char* check_packed() {
    if (!has(kPacked)) return nullptr;
    const std::uint64_t size = of(kPackedSize);
    if (size % 8 != 0 || of(kPackedEntry) != 8 || bytes(of(kPacked), size) == nullptr) {
      return "its relocations are cut short";
    }
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < size; i += 8) {
      const auto word = at<std::uint64_t>(offset(of(kPacked)) + i);
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
    for (const std::uint64_t place : packed_) {
      const Segment* const in = segment(place, 8);
      if (in == nullptr || (in->p_flags & PF_W) == 0 || bytes(place, 8) == nullptr) {
        return "a relocation lies outside of its data";
      }
      if (segment(at<std::uint64_t>(offset(place)), 0) == nullptr) return "a relocation leads outside of it";
    }
    return nullptr;
  }

  // Whether the loader writes the address of code to a place.
  bool becomes_code(std::uint64_t place) const {
    if (std::find(packed_.begin(), packed_.end(), place) != packed_.end()) {
      return is_code(at<std::uint64_t>(offset(place)));
    }
    return std::any_of(relocations_.begin(), relocations_.end(), [&](const Relocation& each) {
      const bool relative = ELF64_R_TYPE(each.r_info) == kRelative;
      return each.r_offset == place && (!relative || is_code(static_cast<std::uint64_t>(each.r_addend)));
    });
  }

  // What the loader calls. Linkers may be told of any function to begin and end with, with a symbol or without.
  const char* check_functions() {
    constexpr const char* kNoCode = "what runs when it is loaded is no code of it";
    for (const std::int64_t tag : {DT_INIT, DT_FINI}) {
      if (has(tag) && !is_code(of(tag))) return kNoCode;
      if (has(tag) && is_within_function(of(tag))) return kWithin;
    }
    for (const auto& [table, size] :
         {std::pair{DT_INIT_ARRAY, DT_INIT_ARRAYSZ}, std::pair{DT_FINI_ARRAY, DT_FINI_ARRAYSZ}}) {
      if (!has(table)) continue;
      if (of(size) % 8 != 0 || bytes(of(table), of(size)) == nullptr) return kNoCode;
      for (std::uint64_t place = of(table); place < of(table) + of(size); place += 8) {
        if (!becomes_code(place)) return kNoCode;
      }
    }
    return nullptr;
  }

  // DT_RELRSZ, DT_RELR, DT_RELRENT and SHT_RELR, which older <elf.h> lack.
  static constexpr std::int64_t kPackedSize = 35, kPacked = 36, kPackedEntry = 37, kTags = 38;
  static constexpr std::uint32_t kPackedSection = 19;

  const char* const data_;
  const std::uint64_t size_;
  Header header_{};
  Segment dynamic_{};
  std::vector<Segment> loaded_;
  std::vector<Entry> entries_;
  std::array<std::uint64_t, kTags> values_{};
  std::array<bool, kTags> present_{};
  std::uint64_t gnu_hash_ = 0, version_of_symbols_ = 0, needed_ = 0, needed_count_ = 0, defined_ = 0,
                defined_count_ = 0;
  std::vector<std::uint32_t> hashes_;  // of symbols from first_hashed_ on
  std::uint64_t first_hashed_ = 0;
  std::uint64_t names_ = 0, symbol_table_ = 0, symbols_ = 0;
  std::uint64_t frames_ = 0;  // 0: there is no table of them
  std::vector<Relocation> relocations_;
  std::vector<std::uint64_t> packed_;  // places of relative relocations
};

ElfImage::ElfImage(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || fstat(file, &about) != 0) {
    problem_ = "it cannot be opened";
  } else if (!S_ISREG(about.st_mode) || about.st_size == 0) {
    problem_ = "it is no shared library";
  } else {
    void* const memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
      problem_ = "it cannot be read";
    } else {
      data_ = static_cast<const char*>(memory);
      size_ = static_cast<std::size_t>(about.st_size);
      tables_ = std::make_unique<Tables>(data_, size_);
      problem_ = tables_->check();
    }
  }
  if (file >= 0) close(file);
}

ElfImage::~ElfImage() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

std::optional<std::string_view> ElfImage::object(std::string_view name) const { return tables_->object(name); }

}  // namespace keyway::inline v1
