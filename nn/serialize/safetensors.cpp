#include <keyway/core/device/pending_calls.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/nn/serialize/atomic_file.h>
#include <keyway/nn/serialize/file_bytes.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/nn/serialize/safetensors_header.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

namespace keyway::inline v1::nn {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

std::uint64_t byte_count(const SafetensorsEntry& entry) { return entry.end - entry.begin; }

// Places the tensors, those of wide elements first: so each is aligned for its type where the file is mapped.
SafetensorsHeader plan_file(const StateDict& tensors, const Metadata& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& [name, tensor] : tensors) {
    KEYWAY_CHECK(tensor.defined(), "tensor '{}' is undefined and cannot be saved", name);
    header.tensors.push_back({name, tensor.scalar_type(), tensor.sizes().vec(), 0, tensor.nbytes()});
  }
  std::vector<SafetensorsEntry*> order;
  for (SafetensorsEntry& entry : header.tensors) order.push_back(&entry);
  std::ranges::stable_sort(order, std::greater(), [](const auto* entry) { return element_size(entry->dtype); });
  std::uint64_t at = 0;
  for (SafetensorsEntry* entry : order) {
    const std::uint64_t bytes = byte_count(*entry);
    entry->begin = at;
    entry->end = at += bytes;
  }
  return header;
}

// Numbers of the entries in the order in which they lie in the file.
std::vector<std::size_t> file_order(const SafetensorsHeader& header) {
  std::vector<std::size_t> order(header.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const SafetensorsEntry& entry = header.tensors[i];
    return std::pair(entry.begin, entry.end);
  });
  return order;
}

// A file in memory, read as FileBytes is.
class MemoryBytes {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const { return bytes_.size(); }
  void read(void* to, std::uint64_t bytes, std::uint64_t offset) const {
    if (bytes != 0) std::memcpy(to, bytes_.data() + offset, bytes);
  }
  std::shared_ptr<char> map() const { return {}; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

SafetensorsHeader read_header(const MemoryBytes& file) {
  return parse_safetensors_header(file.bytes().substr(0, safetensors_header_end(file.bytes(), file.size())),
                                  file.size());
}

SafetensorsHeader read_header(const FileBytes& file) {
  std::string start(std::min<std::uint64_t>(file.size(), 8), '\0');
  file.read(start.data(), start.size(), 0);
  start.resize(safetensors_header_end(start, file.size()));
  file.read(start.data(), start.size(), 0);
  return parse_safetensors_header(start, file.size());
}

// A bool of another value than 0 or 1 would be undefined behaviour in every kernel.
void check_bools(const SafetensorsEntry& entry, const void* data) {
  if (entry.dtype != ScalarType::Bool) return;
  const auto* bytes = static_cast<const unsigned char*>(data);
  const bool fine = std::all_of(bytes, bytes + byte_count(entry), [](unsigned char byte) { return byte <= 1; });
  KEYWAY_CHECK_AS(Parse, fine, "tensor '{}': an element of BOOL is neither 0 nor 1", entry.name);
}

template <typename Bytes>
Tensor read_tensor(const Bytes& file, std::uint64_t data_start, const SafetensorsEntry& entry) {
  const TensorBase tensor = make_tensor(entry.shape, entry.dtype, DeviceType::CPU);
  file.read(tensor.data_ptr(), byte_count(entry), data_start + entry.begin);
  check_bools(entry, tensor.data_ptr());
  return tensor;
}

// A tensor over bytes of the mapping, which lives as long as it does.
Tensor mapped_tensor(const std::shared_ptr<char>& mapping, std::uint64_t data_start, const SafetensorsEntry& entry) {
  char* data = mapping.get() + data_start + entry.begin;
  check_bools(entry, data);
  const auto release = [](void* context) { delete static_cast<std::shared_ptr<char>*>(context); };
  DataPtr owner(data, new std::shared_ptr<char>(mapping), release, DeviceType::CPU);
  Storage storage(make_intrusive<StorageImpl>(std::move(owner), byte_count(entry), /*resizable=*/false));
  return TensorBase(make_intrusive<TensorImpl>(std::move(storage), entry.dtype, entry.shape,
                                               contiguous_strides(entry.shape), checked_numel(entry.shape), true));
}

// Whether the elements can be used where they lie in a mapping, which begins at a page.
bool is_aligned(std::uint64_t data_start, const SafetensorsEntry& entry) {
  return (data_start + entry.begin) % std::max<std::size_t>(element_size(entry.dtype), 1) == 0;
}

// With `maps`, tensors lie over the mapped file where they can; else they are copied.
template <typename Bytes>
SafetensorsFile read_file(const Bytes& file, bool maps) {
  SafetensorsHeader header = read_header(file);
  SafetensorsFile result;
  result.metadata = std::move(header.metadata);
  std::shared_ptr<char> mapping;
  if (maps) mapping = file.map();
  for (const SafetensorsEntry& entry : header.tensors) {
    const bool map = maps && byte_count(entry) != 0 && is_aligned(header.data_start, entry);
    result.tensors.insert(entry.name, map ? mapped_tensor(mapping, header.data_start, entry)
                                          : read_tensor(file, header.data_start, entry));
  }
  return result;
}

// Hands the bytes of a file to `write`, piece by piece.
template <typename Write>
void write_file(const StateDict& tensors, const Metadata& metadata, Write&& write) {
  SafetensorsHeader header = plan_file(tensors, metadata);
  const std::string start = print_safetensors_header(header);
  const NoGradGuard no_grad;
  const ExcludeDispatchKeyGuard no_modes{DispatchKeySet(Functionality::Python)};  // whose answers may have no memory
  write(std::string_view(start));
  for (const std::size_t i : file_order(header)) {
    KEYWAY_CHECK_AS(NotImplemented, !tensors[i].value().key_set().has(Functionality::Python),
                    "a wrapper tensor has no memory that could be saved");
    const Tensor bytes = tensors[i].value().detach().to(DeviceType::CPU).contiguous();
    make_calls_pending_for(bytes);
    write(std::string_view(static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()));
  }
}

}  // namespace

void save_safetensors(const StateDict& tensors, const std::string& path, const Metadata& metadata) {
  std::optional<AtomicFile> file;  // opened when the header is known to be one
  write_file(tensors, metadata, [&](std::string_view bytes) {
    if (!file) file.emplace(path);
    file->write(bytes);
  });
  file->commit();
}

std::string serialize_safetensors(const StateDict& tensors, const Metadata& metadata) {
  std::string file;
  write_file(tensors, metadata, [&](std::string_view bytes) { file += bytes; });
  return file;
}

SafetensorsFile deserialize_safetensors(std::string_view bytes) {
  return read_file(MemoryBytes(bytes), /*maps=*/false);
}

SafetensorsFile read_safetensors(const std::string& path, SafetensorsOptions options) {
  const FileBytes file(path);
  try {
    return read_file(file, options.map);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Parse) throw;
    throw Error(ErrorKind::Parse, path + ": " + std::string(error.message()), error.file(), error.line());
  }
}

StateDict load_safetensors(const std::string& path, SafetensorsOptions options) {
  return read_safetensors(path, options).tensors;
}

}  // namespace keyway::inline v1::nn
