// A file with a manifest is loaded as it was linked, or refused: whatever is done to it.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/keyway.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/plugins/file_copy.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

template <typename T>
std::vector<T> structs_at(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  std::vector<T> values(size / sizeof(T));
  std::memcpy(values.data(), bytes.data() + offset, values.size() * sizeof(T));
  return values;
}

// A part of a file: from, to.
using Range = std::pair<std::uint64_t, std::uint64_t>;

// The parts of the plug-in's file that decide what runs: its segments, without what only names the sections or says
// where libraries are looked for.
std::vector<Range> decisive_parts(std::string_view whole) {
  const auto header = structs_at<Elf64_Ehdr>(whole, 0, sizeof(Elf64_Ehdr)).front();
  std::vector<Range> parts, without{{offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_shoff) + 8},
                                    {offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Ehdr)}};
  std::uint64_t names = 0, path = 0;
  const auto segments = structs_at<Elf64_Phdr>(whole, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) parts.emplace_back(segment.p_offset, segment.p_offset + segment.p_filesz);
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto entries = structs_at<Elf64_Dyn>(whole, segment.p_offset, segment.p_filesz);
    bool behind_end = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::uint64_t at = segment.p_offset + i * sizeof(Elf64_Dyn);
      if (entries[i].d_tag == DT_STRTAB) names = entries[i].d_un.d_ptr;  // its segment begins at 0
      if (entries[i].d_tag == DT_RUNPATH || entries[i].d_tag == DT_RPATH) path = entries[i].d_un.d_val;
      if (behind_end || entries[i].d_tag == DT_RUNPATH || entries[i].d_tag == DT_RPATH || entries[i].d_tag == DT_NULL) {
        without.emplace_back(at, at + sizeof(Elf64_Dyn));
      }
      behind_end |= entries[i].d_tag == DT_NULL;
    }
  }
  REQUIRE(segments.front().p_type == PT_LOAD);
  if (path != 0) without.emplace_back(names + path, names + path + std::strlen(whole.data() + names + path));
  std::vector<Range> decisive;
  for (const auto& [begin, end] : parts) {
    std::uint64_t from = begin;
    std::sort(without.begin(), without.end());
    for (const auto& [out, in] : without) {
      if (out < from || out >= end) continue;
      decisive.emplace_back(from, out);
      from = in;
    }
    decisive.emplace_back(from, end);
  }
  return decisive;
}

bool is_intact(std::string_view whole, std::string_view changed, const std::vector<Range>& decisive) {
  return std::all_of(decisive.begin(), decisive.end(), [&](const Range& part) {
    return changed.size() >= part.second &&
           changed.substr(part.first, part.second - part.first) == whole.substr(part.first, part.second - part.first);
  });
}

using Random = std::mt19937_64;

std::string noise(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

Range some_range(Random& random, std::size_t size, std::size_t longest) {
  const std::size_t begin = random() % size;
  return {begin, std::min<std::size_t>(size, begin + 1 + random() % longest)};
}

// The file with one kind of damage.
std::string damaged(const std::string& whole, Range note, Random& random) {
  const auto header = structs_at<Elf64_Ehdr>(whole, 0, sizeof(Elf64_Ehdr)).front();
  const std::uint64_t table = header.e_shoff, table_size = header.e_shnum * sizeof(Elf64_Shdr);
  std::string bytes = whole;
  const auto put = [&](std::uint64_t at, const std::string& what) { bytes.replace(at, what.size(), what); };
  switch (random() % 10) {
    case 0: bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8); break;
    case 1: bytes[random() % 4096] ^= static_cast<char>(1 << random() % 8); break;  // headers and first tables
    case 2: {
      const auto [begin, end] = some_range(random, bytes.size(), 64);
      put(begin, noise(random, end - begin));
      break;
    }
    case 3: {
      const auto [begin, end] = some_range(random, bytes.size(), 4096);
      put(begin, std::string(end - begin, '\0'));
      break;
    }
    case 4: bytes.resize(random() % bytes.size()); break;
    case 5: {  // two parts change places
      const std::size_t size = 1 + random() % 512, one = random() % (bytes.size() - size);
      const std::size_t other = random() % (bytes.size() - size);
      const std::string first = bytes.substr(one, size), second = bytes.substr(other, size);
      put(one, second);
      put(other, first);
      break;
    }
    case 6: {  // two sections change places
      const std::uint64_t one = table + random() % header.e_shnum * sizeof(Elf64_Shdr);
      const std::uint64_t other = table + random() % header.e_shnum * sizeof(Elf64_Shdr);
      const std::string first = bytes.substr(one, sizeof(Elf64_Shdr)), second = bytes.substr(other, sizeof(Elf64_Shdr));
      put(one, second);
      put(other, first);
      break;
    }
    case 7: bytes[table + random() % table_size] = static_cast<char>(random()); break;
    case 8: bytes[note.first + random() % (note.second - note.first)] = static_cast<char>(random()); break;
    default: put(note.first, noise(random, note.second - note.first)); break;
  }
  return bytes;
}

Range note_of(const std::string& whole, const std::string& name) {
  const std::string text = to_json(*read_plugin_manifest(plugin_module(name).string()));
  const std::size_t at = whole.find(text);
  REQUIRE(at != std::string::npos);
  return {at - 20, at + text.size()};  // with its head and its owner
}

}  // namespace

TEST_CASE("a damaged plug-in is refused, or loaded where what is damaged decides nothing") {
  const std::string whole = bytes_of(plugin_module("twice"));
  const Range note = note_of(whole, "twice");
  std::vector<Range> decisive = decisive_parts(whole);
  decisive.emplace_back(note.first, note.first + 19);  // behind its owner's name stands a byte that fills up
  decisive.emplace_back(note.first + 20, note.second);
  const std::string before = registry_snapshot();
  const std::uint64_t generation = Dispatcher::singleton().generation();
  const FileCopy file;
  Random random(1);
  int loaded = 0, refused = 0, unsealed = 0;
#if defined(KEYWAY_SANITIZED)  // where nothing that was mapped is unmapped
  const int count = campaign(300);
#else
  const int count = campaign(10000);
#endif
  const Tensor one = ones({1});
  for (int i = 0; i < count; ++i) {
    const std::string bytes = damaged(whole, note, random);
    const std::uint64_t now = Dispatcher::singleton().generation();
    file.write(bytes);
    INFO("case " << i);
    try {
      const LoadedPlugin plugin = load_plugin(file.path.string());
      ++loaded;
      CHECK(is_intact(whole, bytes, decisive));
      CHECK(op("doubling::twice").typed<Tensor(const Tensor&, std::int64_t)>().call(one, 3).item<double>() == 8);
    } catch (const Error& error) {
      ++refused;
      const std::string_view text = error.what();
      CHECK(text.starts_with("plug-in " + file.path.string() + ": "));
      unsealed += text.find("it is no more what its manifest was made for") != text.npos ? 1 : 0;
      CHECK(Dispatcher::singleton().generation() == now);
    }
  }
  CHECK(registry_snapshot() == before);
  CHECK(Dispatcher::singleton().generation() == generation + 2 * static_cast<std::uint64_t>(loaded));
  CHECK(loaded + refused == count);
  CHECK(loaded > 0);
  CHECK(unsealed > count / 4);
  WARN(count << " damaged files: " << refused << " refused, " << unsealed << " of them by the seal alone; " << loaded
             << " loaded");
}

TEST_CASE("a plug-in whose manifest is gone is refused") {
  const std::string whole = bytes_of(plugin_module("twice"));
  const FileCopy file;
  const auto refusal = [&](const std::string& bytes) {
    file.write(bytes);
    return error_of([&] { static_cast<void>(load_plugin(file.path.string())); });
  };
  std::string renamed = whole;
  const std::size_t name = renamed.rfind(".note.keyway");
  REQUIRE(name != std::string::npos);
  renamed[name + 6] = 'K';
  CHECK(refusal(renamed).find("its manifest is gone") != std::string::npos);
  auto header = structs_at<Elf64_Ehdr>(whole, 0, sizeof(Elf64_Ehdr)).front();
  CHECK(refusal(whole.substr(0, header.e_shoff)).find("its manifest is gone") != std::string::npos);
  // A manifest of another file.
  std::string other = whole;
  const auto [begin, end] = note_of(whole, "twice");
  const std::size_t version = other.find("7.1", begin);
  REQUIRE(version < end);
  other[version] = '8';
  CHECK(refusal(other).find("it is no more what its manifest was made for") != std::string::npos);
}

TEST_CASE("a megabyte is checked within some milliseconds") {
  const std::string path = plugin_module("large").string();
  const auto size = std::filesystem::file_size(path);
  REQUIRE(size > 1000000);
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(check_plugin(path).has_value());
    best = std::min(best, std::chrono::steady_clock::now() - begin);
  }
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(best).count();
  INFO(taken << " us for " << size << " bytes");
#if !defined(KEYWAY_SANITIZED)
  CHECK(taken < 20000);
#endif
}
