// Layouts and constants are those of the System V ABI's "Object Files" chapter, as <elf.h> has them.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/elf_note.h>

#include <cstddef>
#include <cstring>
#include <elf.h>
#include <vector>

namespace keyway::inline v1 {

namespace {

bool has(std::string_view bytes, std::uint64_t offset, std::uint64_t count) {
  return offset <= bytes.size() && count <= bytes.size() - offset;
}

template <typename T>
std::optional<T> struct_at(std::string_view bytes, std::uint64_t offset) {
  if (!has(bytes, offset, sizeof(T))) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

constexpr std::uint64_t padded(std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; }

std::optional<Elf64_Ehdr> header_of(std::string_view file) {
  constexpr auto kThisOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  const auto header = struct_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != kThisOrder) {
    return std::nullopt;
  }
  return header;
}

// The table of sections; empty if the file has none, or not all of it.
std::vector<Elf64_Shdr> sections_of(std::string_view file, const Elf64_Ehdr& header) {
  const std::uint64_t count = header.e_shnum;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= count ||
      !has(file, header.e_shoff, count * sizeof(Elf64_Shdr))) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(count);
  std::memcpy(sections.data(), file.data() + header.e_shoff, count * sizeof(Elf64_Shdr));
  return sections;
}

bool is_called(std::string_view file, const Elf64_Shdr& names, const Elf64_Shdr& section, std::string_view name) {
  if (!has(file, names.sh_offset, names.sh_size)) return false;
  const std::string_view rest = file.substr(names.sh_offset, names.sh_size);
  return section.sh_name < rest.size() && rest.substr(section.sh_name).starts_with(std::string(name) + '\0');
}

std::optional<std::string_view> text_of_note(std::string_view note) {
  const auto head = struct_at<Elf64_Nhdr>(note, 0);
  if (!head || head->n_type != kManifestNote || head->n_namesz != kManifestOwner.size() + 1) return std::nullopt;
  const std::uint64_t text = sizeof(Elf64_Nhdr) + padded(head->n_namesz, 4);
  if (!has(note, text, head->n_descsz)) return std::nullopt;
  if (!note.substr(sizeof(Elf64_Nhdr)).starts_with(std::string(kManifestOwner) + '\0')) return std::nullopt;
  return note.substr(text, head->n_descsz);
}

std::string note_of(std::string_view text) {
  const Elf64_Nhdr head{static_cast<Elf64_Word>(kManifestOwner.size() + 1), static_cast<Elf64_Word>(text.size()),
                        kManifestNote};
  std::string note(bytes_of(head));
  note += kManifestOwner;
  note.resize(sizeof(head) + padded(kManifestOwner.size() + 1, 4));
  note += text;
  note.resize(padded(note.size(), 4));
  return note;
}

struct Note {
  std::string_view text;
  std::uint64_t section;  // where in the file its row of the table is
};

std::optional<Note> find_note(std::string_view file) {
  const auto header = header_of(file);
  if (!header) return std::nullopt;
  const std::vector<Elf64_Shdr> sections = sections_of(file, *header);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_NOTE || !has(file, section.sh_offset, section.sh_size) ||
        !is_called(file, sections[header->e_shstrndx], section, kManifestSection)) {
      continue;
    }
    if (const auto text = text_of_note(file.substr(section.sh_offset, section.sh_size))) {
      return Note{*text, header->e_shoff + i * sizeof(Elf64_Shdr)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> find_manifest_note(std::string_view file) {
  const auto note = find_note(file);
  return note ? std::optional(note->text) : std::nullopt;
}

std::string without_manifest_note(std::string_view file) {
  std::string out(file);
  while (const auto note = find_note(out)) {
    const std::uint32_t type = SHT_NULL;
    std::memcpy(out.data() + note->section + offsetof(Elf64_Shdr, sh_type), &type, sizeof(type));
  }
  return out;
}

std::string with_manifest_note(std::string_view file, std::string_view text) {
  std::optional<Elf64_Ehdr> header = header_of(file);
  std::vector<Elf64_Shdr> sections = header ? sections_of(file, *header) : std::vector<Elf64_Shdr>();
  KEYWAY_CHECK_AS(Registration, !sections.empty(), "it has no table of sections to put a manifest in");
  Elf64_Shdr& names = sections[header->e_shstrndx];
  KEYWAY_CHECK_AS(Registration, has(file, names.sh_offset, names.sh_size), "the names of its sections are cut short");

  std::string out(file);
  const auto append = [&](std::string_view bytes) {
    out.resize(padded(out.size(), 8));
    out += bytes;
    return out.size() - bytes.size();
  };
  std::size_t at = 0;
  while (at < sections.size() && !is_called(file, names, sections[at], kManifestSection)) ++at;
  if (at == sections.size()) {
    KEYWAY_CHECK_AS(Registration, at + 1 < SHN_LORESERVE, "it has too many sections to add one");
    std::string all(file.substr(names.sh_offset, names.sh_size));
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(all.size());
    all += std::string(kManifestSection) + '\0';
    names.sh_offset = append(all);
    names.sh_size = all.size();
    sections.push_back(section);  // `names` is no longer to be used
    header->e_shnum = static_cast<Elf64_Half>(sections.size());
  }
  const std::string note = note_of(text);
  sections[at].sh_type = SHT_NOTE;
  sections[at].sh_addralign = 4;
  sections[at].sh_offset = append(note);
  sections[at].sh_size = note.size();
  header->e_shoff = append({reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr)});
  std::memcpy(out.data(), &*header, sizeof(*header));
  return out;
}

}  // namespace keyway::inline v1
