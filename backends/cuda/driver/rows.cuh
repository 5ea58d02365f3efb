// rows: the driver of kernels in which the threads of a team work at a row together: a sum that each element is divided
// by, a scan, a search.
//
//   rows<2>(RowSpace(self.sizes(), dim).tensor(out).tensor(self), Softmax<float>{}, out.device());
//
// calls functor(row) in every thread of every team. It goes through elements rank(), rank() + size(), ... of the row,
// and what all elements have to do with goes through fold(). Which thread has which elements depends on shape and
// strides alone: the same call gives the same bits. A team without a row has one of no elements, which leads() nothing.
// Where rows are shared out (RowSpace::share), the elements of a team are those from first() to end().
// Requires: there are rows; all operands lie on `on`.
#pragma once

#include <keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/backends/cuda/driver/rows.h>
#include <keyway/backends/cuda/driver/team.cuh>

namespace keyway::inline v1::cuda {

// A row, as one thread of its team sees it.
template <int N>
class Row {
 public:
  __device__ explicit Row(const RowLaunch& launch) : launch_(launch) {
    const auto [item, rank] = launch.teams.member(blockIdx.x, threadIdx.x);
    rank_ = rank;
    exists_ = item < launch.rows.numel;
    if (exists_) launch.rows.locate(item, offset_);
  }

  // Elements of the row, and of those that exist; of the team's threads, which this is, and how many there are.
  __device__ std::int64_t n() const { return exists_ ? launch_.n : 0; }
  __device__ std::int64_t longest() const { return launch_.n; }
  __device__ std::uint32_t rank() const { return rank_; }
  __device__ std::uint32_t size() const { return launch_.teams.size; }
  // Whether this thread writes what there is one of.
  __device__ bool leads() const { return exists_ && rank_ == 0; }

  // The first element of the thread's group g. A group is a piece where these are read at once (`width` > 1), else one
  // element: in a row of whole pieces those follow each other as in these.
  template <int width, int piece, typename Index>
  __device__ Index group(Index g) const {
    if constexpr (width > 1) return (rank_ + g * size()) * width;
    if (piece == 1 || launch_.width == 1) return rank_ + g * size();
    return (rank_ + g / piece * size()) * piece + g % piece;
  }
  // Element i of an operand in which the elements of a row are neighbours.
  template <typename T>
  __device__ T* neighbours(int operand, std::int64_t i) const {
    return reinterpret_cast<T*>(launch_.rows.data[operand] + offset_[operand]) + i;
  }

  // Which stretch of the row this team has, and its elements.
  __device__ std::uint32_t stretch() const { return blockIdx.y; }
  __device__ std::int64_t first() const { return stretch() * launch_.stretch; }
  __device__ std::int64_t end() const {
    const std::int64_t whole = first() + launch_.stretch;
    return whole < n() ? whole : n();
  }

  // Element i of an operand. Requires: i < n(), or leads().
  template <typename T>
  __device__ T& at(int operand, std::int64_t i) const {
    return *reinterpret_cast<T*>(launch_.rows.data[operand] + offset_[operand] + i * launch_.step[operand]);
  }
  // Of an operand that is no tensor. Requires: n() > 0, or leads().
  __device__ std::int64_t number(int operand) const {
    return launch_.rows.data[operand] - launch_.origin + offset_[operand];
  }

  // merge(...) of combine(acc, i) over the elements, the same in all threads of the team. Every thread calls it.
  template <typename Acc, typename Combine, typename Merge>
  __device__ Acc fold(const Acc& identity, const Combine& combine, const Merge& merge) const {
    Acc mine = identity;
    for (std::int64_t i = first() + rank_; i < end(); i += size()) mine = combine(mine, i);
    return merge_all(mine, merge);
  }
  template <typename Acc, typename Merge>
  __device__ Acc merge_all(const Acc& mine, const Merge& merge) const {
    return detail::merge_teams(launch_.teams, rank_, mine, merge);
  }
  // write(i, acc) for each element, where acc is the merge, in order, of `before` and term(j) of the elements up to it.
  // Whatever is merged with `identity` on its left is itself; write(i, ...) comes after term(j) for every j up to i.
  // Every thread calls it.
  template <typename Acc, typename Term, typename Merge, typename Write>
  __device__ void scan(Acc before, const Acc& identity, const Term& term, const Merge& merge,
                       const Write& write) const {
    Acc* const elements = detail::scanned_elements<Acc>();
    const std::uint32_t step = launch_.teams.step(), leader = threadIdx.x - rank_ * step;
    const std::uint32_t tile = size() * detail::kScanned, own = rank_ * detail::kScanned;
    // Elements of a row lie as their threads do: side by side, or one from each row after the other.
    const std::uint32_t base = step == 1 ? leader * detail::kScanned : leader;
    for (std::int64_t begin = 0; begin < launch_.stretch; begin += tile) {
      const std::int64_t at = first() + begin;
      const std::int64_t left = end() - at;
      for (std::uint32_t i = rank_; i < tile && i < left; i += size()) elements[base + i * step] = term(at + i);
      __syncthreads();
      Acc mine = identity;
      for (std::uint32_t i = own; i < own + detail::kScanned && i < left; ++i) {
        mine = merge(mine, elements[base + i * step]);
        elements[base + i * step] = mine;
      }
      const Acc* const all = detail::scan_teams(launch_.teams, rank_, mine, merge);
      const Acc prefix = rank_ > 0 ? merge(before, all[threadIdx.x - step]) : before;
      for (std::uint32_t i = own; i < own + detail::kScanned && i < left; ++i) {
        elements[base + i * step] = merge(prefix, elements[base + i * step]);
      }
      before = merge(before, all[leader + (size() - 1) * step]);
      __syncthreads();
      for (std::uint32_t i = rank_; i < tile && i < left; i += size()) write(at + i, elements[base + i * step]);
    }
  }
  // The sum of term(i) over the elements.
  template <typename Acc, typename Term>
  __device__ Acc sum(const Term& term) const {
    return fold(
        Acc(0), [&](Acc acc, std::int64_t i) { return acc + term(i); }, [](Acc a, Acc b) { return a + b; });
  }

 private:
  const RowLaunch& launch_;
  std::uint32_t rank_;
  bool exists_;
  std::int64_t offset_[N];
};

namespace detail {

// Blocks that a multiprocessor is to have registers for; 0 if the functor does not ask.
template <typename F>
constexpr unsigned blocks_of() {
  if constexpr (requires { F::kBlocks; }) {
    return F::kBlocks;
  } else {
    return 0;
  }
}

template <int N, typename F>
__global__ void __launch_bounds__(kTeamThreads, blocks_of<F>())
    visit_rows(const __grid_constant__ F functor, const __grid_constant__ RowLaunch launch,
               const __grid_constant__ DeviceAssertTarget note) {
  const Row<N> row(launch);
  if constexpr (kElementErrorOf<F> != nullptr) {
    if (!functor(row)) *note.slot = note.what;
  } else {
    functor(row);
  }
}

}  // namespace detail

template <int N, typename F>
void rows(const RowSpace& row_space, const F& functor, Device on) {
  launch_rows(kernel_address(&detail::visit_rows<N, F>), &functor, kElementErrorOf<F>, row_space, on);
}

}  // namespace keyway::inline v1::cuda
