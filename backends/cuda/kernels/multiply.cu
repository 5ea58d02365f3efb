// Products of matrices: cuBLASLt's for the dtypes that it has, and a kernel of our own for integers, complex32 and what
// cuBLASLt has no kernel for. There, a block has a square of results, a thread 4 x 4 of them; operands are staged
// through shared memory, a slice of k at a time, read along whichever of their dimensions is dense. Each result is one
// sum, in order of k. Multiplications bound it, at about a quarter of what the arithmetic units could do.
#include <keyway/backends/cuda/driver/cublas_lt.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/product.h>
#include <keyway/backends/cuda/product_tiles.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1::cuda {

namespace {

// What sums are kept in: integers wrap around.
template <typename T>
struct TileSumOf {
  using type = Opmath<T>;
};
template <IntegerElement T>
struct TileSumOf<T> {
  using type = Wrapping<T>;
};
template <typename T>
using TileSum = typename TileSumOf<T>::type;

template <typename T>
struct TileLaunch {
  Matrices a, b, add, out;
  ProductTiles tiles;
  TileSum<T> alpha, beta;
};

constexpr unsigned kPitch = kTileSide + 1;  // so that columns of a slice lie in different banks

// A slice of an operand: kTileSide lines by kTileDepth elements of each, with zeros where there are none, in sums'
// type.
template <typename T>
__device__ void stage(const T* from, std::int64_t lines, std::int64_t line_stride, std::int64_t depth,
                      std::int64_t depth_stride, TileSum<T>* to) {
  const bool along_lines = depth_stride == 1;
  for (unsigned i = threadIdx.x; i < kTileSide * kTileDepth; i += kTileThreads) {
    const unsigned line = along_lines ? i / kTileDepth : i % kTileSide;
    const unsigned d = along_lines ? i % kTileDepth : i / kTileSide;
    const bool exists = line < lines && d < depth;
    to[d * kPitch + line] =
        exists ? static_cast<TileSum<T>>(from[line * line_stride + d * depth_stride]) : TileSum<T>();
  }
}

// out = alpha * sum + beta * add, for one element.
template <typename T, typename R>
__device__ void write_sum(const TileLaunch<T>& launch, std::int64_t matrix, std::int64_t row, std::int64_t column,
                          TileSum<T> sum) {
  const auto offset = [&](const Matrices& m) {
    return matrix * m.batch_stride + row * m.row_stride + column * m.column_stride;
  };
  if (launch.alpha != TileSum<T>(1)) sum = launch.alpha * sum;
  if (launch.beta != TileSum<T>(0)) {
    sum = sum + launch.beta * static_cast<TileSum<T>>(static_cast<const R*>(launch.add.data)[offset(launch.add)]);
  }
  static_cast<R*>(launch.out.data)[offset(launch.out)] = static_cast<R>(sum);
}

// One tile of the results R of elements T. All threads of the block call it.
template <typename T, typename R>
__device__ void multiply_tile(const TileLaunch<T>& launch, const ProductTiles::Tile& tile, TileSum<T>* left,
                              TileSum<T>* right) {
  const Matrices &a = launch.a, &b = launch.b;
  const unsigned y = threadIdx.x / (kTileSide / kThreadSide), x = threadIdx.x % (kTileSide / kThreadSide);
  constexpr unsigned kApart = kTileSide / kThreadSide;
  TileSum<T> sums[kThreadSide][kThreadSide] = {};
  const T* const first_a = static_cast<const T*>(a.data) + tile.matrix * a.batch_stride + tile.row * a.row_stride;
  const T* const first_b = static_cast<const T*>(b.data) + tile.matrix * b.batch_stride + tile.column * b.column_stride;
  for (std::int64_t p = 0; p < a.columns; p += kTileDepth) {
    stage(first_a + p * a.column_stride, a.rows - tile.row, a.row_stride, a.columns - p, a.column_stride, left);
    stage(first_b + p * b.row_stride, b.columns - tile.column, b.column_stride, b.rows - p, b.row_stride, right);
    __syncthreads();
    for (unsigned d = 0; d < kTileDepth; ++d) {
      TileSum<T> row[kThreadSide], column[kThreadSide];
#pragma unroll
      for (unsigned i = 0; i < kThreadSide; ++i) row[i] = left[d * kPitch + y + i * kApart];
#pragma unroll
      for (unsigned j = 0; j < kThreadSide; ++j) column[j] = right[d * kPitch + x + j * kApart];
#pragma unroll
      for (unsigned i = 0; i < kThreadSide; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kThreadSide; ++j) sums[i][j] = sums[i][j] + row[i] * column[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < kThreadSide; ++i) {
#pragma unroll
    for (unsigned j = 0; j < kThreadSide; ++j) {
      const std::int64_t r = tile.row + y + i * kApart, c = tile.column + x + j * kApart;
      if (r < launch.out.rows && c < launch.out.columns) write_sum<T, R>(launch, tile.matrix, r, c, sums[i][j]);
    }
  }
}

template <typename T, typename R>
__global__ void __launch_bounds__(kTileThreads) multiply_tiles(const __grid_constant__ TileLaunch<T> launch) {
  constexpr unsigned kElements = kTileDepth * kPitch;
  alignas(TileSum<T>) __shared__ unsigned char memory[2 * kElements * sizeof(TileSum<T>)];
  TileSum<T>* const left = reinterpret_cast<TileSum<T>*>(memory);
  for (std::int64_t t = blockIdx.x; t < launch.tiles.count(); t += gridDim.x) {
    multiply_tile<T, R>(launch, launch.tiles.tile(t), left, left + kElements);
  }
}

void own_multiply(const MatrixProduct& product) {
  Matrices a = matrices_of(product.a), b = matrices_of(product.b);
  const auto leave_out = [&] {
    a = {nullptr, a.batch, a.rows, 0};
    b = {nullptr, b.batch, 0, b.columns};
  };
  if (a.columns == 0) leave_out();  // what is empty may lie nowhere, where no step may be taken
  const Matrices out = matrices_of(product.out);
  const Matrices add = product.add.defined() ? matrices_of(product.add) : out;
  const Device device = product.out.device();
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(device));
  visit_dtype<kNumberTypes>(product.a.dtype(), "a product", [&]<typename T>() {
    const ProductTiles tiles(out.batch, out.rows, out.columns);
    const auto alpha = static_cast<TileSum<T>>(product.alpha.to<Opmath<T>>());
    if (alpha == TileSum<T>(0)) leave_out();  // as cuBLASLt does: NaN and infinities are not seen
    const TileLaunch<T> all{a, b, add, out, tiles, alpha, static_cast<TileSum<T>>(product.beta.to<Opmath<T>>())};
    if (product.out.dtype() == product.a.dtype()) {
      launch(&multiply_tiles<T, T>, tiles.blocks(), kTileThreads, stream, all);
    } else if constexpr (!std::is_same_v<T, Opmath<T>>) {
      launch(&multiply_tiles<T, Opmath<T>>, tiles.blocks(), kTileThreads, stream, all);
    }
  });
}

TensorBase as_operand(const TensorBase& tensor) {
  return is_transposed(matrices_of(tensor)) ? tensor : contiguous(tensor);
}

bool is_zero(const Scalar& factor) { return factor == Scalar(0); }

// Whether cuBLASLt adds what is to be added as a bias, in the call of the product.
bool multiply_with_bias(const MatrixProduct& product, const TensorBase& a, const TensorBase& b, const TensorBase& out) {
  if (!cublas_lt_takes_bias(a.dtype()) || product.beta != Scalar(1)) return false;
  const auto described = biased_product(a.dtype(), out.dtype(), matrices_of(a), matrices_of(b),
                                        matrices_of(product.add), matrices_of(out));
  return described && cublas_lt_product(*described, product.alpha, 0, out.device());
}

// Whether cuBLASLt has a kernel for it. What is to be added lies as the result does, a matrix for each, or is a bias,
// or is brought to the result first.
bool multiply_into(const MatrixProduct& product, const TensorBase& a, const TensorBase& b, const TensorBase& out) {
  const Matrices to = matrices_of(out);
  const Matrices given = is_zero(product.beta) ? to : matrices_of(product.add);
  const bool fits = leading(given, *is_transposed(to)) && (given.batch == 1 || given.batch_stride != 0);
  if (!fits && multiply_with_bias(product, a, b, out)) return true;
  if (!fits) copy_elements(product.add, out);
  const auto described =
      column_major_product(a.dtype(), out.dtype(), matrices_of(a), matrices_of(b), fits ? given : to, to);
  return described && cublas_lt_product(*described, product.alpha, product.beta, out.device());
}

// Into a result of any strides.
bool library_multiply(const MatrixProduct& product) {
  const bool fits = is_transposed(matrices_of(product.out)).has_value();
  const TensorBase out =
      fits ? product.out : make_tensor(product.out.sizes(), product.out.dtype(), product.out.device());
  if (!multiply_into(product, as_operand(product.a), as_operand(product.b), out)) return false;
  if (!fits) copy_elements(out, product.out);
  return true;
}

}  // namespace

void multiply(const MatrixProduct& product) {
  if (product.out.numel() == 0) return;
  const bool sums = product.a.numel() != 0;
  if (sums && cublas_lt_takes(product.a.dtype()) && library_multiply(product)) return;
  own_multiply(product);
}

}  // namespace keyway::inline v1::cuda
