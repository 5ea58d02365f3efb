// tril and triu.
#include <keyway/backends/cpu/kernels_triangular.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>

#include <algorithm>
#include <cstring>

namespace keyway::inline v1 {

namespace {

// Of each row the elements from `first(row)` up to `end(row)` are kept. In place these stay where they are.
template <typename Kept>
void keep(const TensorBase& self, const TensorBase& out, const Kept& kept) {
  if (self.numel() == 0) return;
  const TensorBase from = contiguous(self);
  const ContiguousOut to(out);
  const std::int64_t height = self.sizes()[self.sizes().size() - 2], width = self.sizes().back();
  const auto item = static_cast<std::int64_t>(self.itemsize());
  const char* const source = static_cast<const char*>(from.data_ptr());
  char* const target = to.data<char>();
  const auto bytes = [item](std::int64_t n) { return static_cast<std::size_t>(n * item); };
  parallel_for(0, self.numel() / width, std::max<std::int64_t>(1, 32768 / width),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   const auto [low, high] = kept(r % height, width);
                   char* const row = target + r * width * item;
                   std::memset(row, 0, bytes(low));
                   std::memmove(row + low * item, source + (r * width + low) * item, bytes(high - low));
                   std::memset(row + high * item, 0, bytes(width - high));
                 }
               });
  to.finish();
}

struct Range {
  std::int64_t low, high;
};

// `diagonal` cut to where it makes no difference, so that adding a row to it cannot overflow.
std::int64_t bounded(const TensorBase& self, std::int64_t diagonal) {
  return std::clamp(diagonal, -self.sizes()[self.sizes().size() - 2] - 1, self.sizes().back());
}

}  // namespace

namespace cpu {

void tril(const TensorBase& self, std::int64_t diagonal, TensorBase& out) {
  keep(self, out, [d = bounded(self, diagonal)](std::int64_t row, std::int64_t width) {
    return Range{0, std::clamp<std::int64_t>(row + d + 1, 0, width)};
  });
}

void triu(const TensorBase& self, std::int64_t diagonal, TensorBase& out) {
  keep(self, out, [d = bounded(self, diagonal)](std::int64_t row, std::int64_t width) {
    return Range{std::clamp<std::int64_t>(row + d, 0, width), width};
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
