#include <keyway/tests/backends/cuda/emulator/device_code.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/mma.cuh>

#include <cstddef>
#include <cstring>
#include <vector>

namespace emulator {

namespace {

constexpr unsigned kThreads = 1024;  // of a block, at most

// What the threads of a warp tell each other in a call: one of two in turn, so that one barrier is enough. Who writes
// to it again was at the barrier of the call between, as were all that have read it.
template <typename T>
class InTurn {
 public:
  T& of_warp() { return warps_[threadIdx.x / 32][turns_[threadIdx.x]++ % 2]; }

 private:
  T warps_[kThreads / 32][2];
  unsigned turns_[kThreads] = {};
};

float number_of(std::uint32_t pair, std::uint32_t which, bool is_half) {
  const auto bits = static_cast<std::uint16_t>(pair >> which * 16);
  return is_half ? static_cast<float>(std::bit_cast<keyway::Half>(bits))
                 : static_cast<float>(std::bit_cast<keyway::BFloat16>(bits));
}

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

std::vector<Copy>& copies_of_thread() {
  static auto* const copies = new std::vector<Copy>[kThreads];
  return copies[threadIdx.x];
}

}  // namespace

void mma_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1, bool is_half) {
  struct Operands {
    float a[16][16], b[8][16];  // b is transposed
  };
  static InTurn<Operands> operands;
  Operands& all = operands.of_warp();
  const std::uint32_t row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (std::uint32_t which = 0; which < 2; ++which) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      all.a[row + i % 2 * 8][column + i / 2 * 8 + which] = number_of(a[i], which, is_half);
    }
    all.b[row][column + which] = number_of(b0, which, is_half);
    all.b[row][column + 8 + which] = number_of(b1, which, is_half);
  }
  __syncthreads();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const float *const x = all.a[row + i / 2 * 8], *const y = all.b[column + i % 2];
    for (int k = 0; k < 16; ++k) sums[i] += x[k] * y[k];
  }
}

void load_matrices(const void* row, std::uint32_t (&to)[4], bool is_transposed) {
  struct Rows {
    const void* of[32];
  };
  static InTurn<Rows> rows;
  Rows& warp = rows.of_warp();
  warp.of[threadIdx.x % 32] = row;
  __syncthreads();
  const std::uint32_t along = threadIdx.x % 4 * 2, other = threadIdx.x % 32 / 4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto element = [&](std::uint32_t y, std::uint32_t x) -> std::uint32_t {
      return static_cast<const std::uint16_t*>(warp.of[i * 8 + y])[x];
    };
    to[i] = is_transposed ? element(along, other) | element(along + 1, other) << 16
                          : element(other, along) | element(other, along + 1) << 16;
  }
}

// Until it is waited for there are no numbers: neither what was there before nor what is to come.
void copy_async(void* to, const void* from, int bytes) {
  std::memset(to, 0xff, static_cast<std::size_t>(bytes));
  copies_of_thread().push_back({to, from, static_cast<std::size_t>(bytes)});
}

void wait_for_copies() {
  for (const Copy& copy : copies_of_thread()) {
    if (copy.from != nullptr) {
      std::memcpy(copy.to, copy.from, copy.bytes);
    } else {
      std::memset(copy.to, 0, copy.bytes);
    }
  }
  copies_of_thread().clear();
}

}  // namespace emulator
