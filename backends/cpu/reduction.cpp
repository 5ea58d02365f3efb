// How a reduction goes over its input.
//
// Its space has the input's dimensions, kept and reduced, innermost first by the input's strides. If the
// innermost is kept, outputs lie side by side: a row of them is accumulated at once ("columns"). Else the
// elements of one output lie side by side, and are accumulated in kLanes lanes ("lanes"): the same loop, on
// rows that are kLanes wide, and a fold at the end.
//
// The elements of one output, or row of outputs, are cut into units of a fixed length. Units are what threads
// share if there are few outputs; their accumulators are merged pairwise, in order.
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/reduction.h>
#include <keyway/backends/cpu/strided.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace keyway::inline v1::detail {

namespace {

constexpr std::int64_t kLanes = 64;
// Rows that are accumulated one after another before they are merged with others.
constexpr std::int64_t kBlockRows = 64;
// Rows of a unit.
constexpr std::int64_t kUnitRows = 1024;
constexpr std::int64_t kGrain = 32768;  // elements
// Accumulators of a row of outputs take at most so many bytes.
constexpr std::int64_t kRowBytes = 8192;
constexpr std::int64_t kBufferBytes = 16384;

// Operands of the space; the last is no tensor, but the index of an element among those reduced.
enum Operand { kSelf, kOut, kSecond, kIndex };

// The dimensions of one kind, innermost first, as places in the space.
struct DimList {
  int count = 0;
  int at[kMaxDims];
  std::int64_t numel = 1;

  void add(const Strided& space, int d) {
    at[count++] = d;
    numel *= space.sizes[d];
  }
};

struct Reduction {
  Reduction(const ReduceOp& o, const void* f) : op(o), functor(f), combine(o.combine[current_level()]) {}

  const ReduceOp& op;
  const void* functor;
  ReduceOp::Combine combine;
  Strided space;
  DimList kept;
  DimList reduced;
  bool columns;        // else lanes
  std::int64_t width;  // of a row of accumulators: outputs, or kLanes
  std::int64_t tile;   // outputs of a tile: width, or 1
  std::int64_t unit;   // elements of each output in a unit
  std::int64_t units;  // for each output
  std::int64_t tiles;
  std::int64_t row_tiles;  // tiles along the innermost kept dimension
};

// Offset of the position-th element of a list of dimensions, for one operand.
std::int64_t offset_of(const Strided& space, const DimList& dims, std::int64_t position, int operand) {
  std::int64_t offset = 0;
  for (int i = 0; i < dims.count && position != 0; ++i) {
    const int d = dims.at[i];
    offset += position % space.sizes[d] * space.strides[operand][d];
    position /= space.sizes[d];
  }
  return offset;
}

// Accumulators of blocks of rows, merged like the digits of a binary counter: level i holds the sum of 2^i
// blocks. Each merge is of equals, so that an element takes part in as few as possible.
class Cascade {
 public:
  static constexpr int kMaxLevels = 48;

  Cascade(const ReduceOp& op, const void* functor, char* scratch, std::int64_t width)
      : op_(op), functor_(functor), scratch_(scratch), row_bytes_(width * op.acc_bytes), width_(width) {}

  // What a cascade of so many blocks needs.
  static std::int64_t scratch_bytes(std::int64_t row_bytes, std::int64_t blocks) {
    return row_bytes * (std::bit_width(static_cast<std::uint64_t>(blocks)) + 1);
  }

  // Where the accumulators of the next block go; they hold the identity.
  char* begin_block() {
    op_.fill(functor_, level(top_), width_);
    return level(top_);
  }
  void end_block() {
    ++blocks_;
    ++top_;
    for (std::uint64_t n = blocks_; (n & 1) == 0; n >>= 1) merge_top();
  }
  // Merges what is there into one row. Requires: a block has ended.
  char* finish() {
    while (top_ > 1) merge_top();
    return level(0);
  }

 private:
  char* level(int i) { return scratch_ + i * row_bytes_; }
  void merge_top() {
    --top_;
    op_.merge(functor_, level(top_ - 1), level(top_), width_);
  }

  const ReduceOp& op_;
  const void* functor_;
  char* scratch_;
  std::int64_t row_bytes_;
  std::int64_t width_;
  int top_ = 0;  // levels in use
  std::uint64_t blocks_ = 0;
};

// Memory on the stack, or of the heap where that is too small.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes) {
    if (bytes > static_cast<std::int64_t>(sizeof inline_)) {
      heap_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
    }
  }
  char* data() { return heap_ ? heap_.get() : inline_; }

 private:
  std::unique_ptr<char[]> heap_;
  alignas(64) char inline_[32768];
};

// Feeds rows to a cascade, cutting them into blocks.
class Feeder {
 public:
  Feeder(const Reduction& r, Cascade& cascade) : r_(r), cascade_(cascade) {}

  void feed(Rows rows) {
    while (rows.rows > 0) {
      if (acc_ == nullptr) acc_ = cascade_.begin_block();
      Rows part = rows;
      part.rows = std::min(rows.rows, kBlockRows - used_);
      r_.combine(r_.functor, acc_, part);
      rows.data += part.rows * rows.stride;
      rows.index += part.rows * rows.row_step;
      rows.rows -= part.rows;
      used_ += part.rows;
      if (used_ == kBlockRows) end_block();
    }
  }
  char* finish() {
    if (acc_ != nullptr) end_block();
    return cascade_.finish();
  }

 private:
  void end_block() {
    cascade_.end_block();
    acc_ = nullptr;
    used_ = 0;
  }

  const Reduction& r_;
  Cascade& cascade_;
  char* acc_ = nullptr;
  std::int64_t used_ = 0;
};

// A run: elements along the innermost reduced dimension, from one position on.
struct Run {
  const char* data;
  std::int64_t index;
  std::int64_t length;
};

Run run_at(const Reduction& r, const char* base, std::int64_t position, std::int64_t end) {
  const std::int64_t inner = r.reduced.count == 0 ? 1 : r.space.sizes[r.reduced.at[0]];
  return {base + offset_of(r.space, r.reduced, position, kSelf),
          offset_of(r.space, r.reduced, position, kIndex),
          std::min(inner - position % inner, end - position)};
}

std::int64_t inner_stride(const Reduction& r, Operand operand) {
  return r.reduced.count == 0 ? 0 : r.space.strides[operand][r.reduced.at[0]];
}

// Feeds n adjacent elements as rows of kLanes and what is left over.
void feed_lanes(Feeder& feeder, const char* data, std::int64_t n, std::int64_t itemsize, std::int64_t index,
                std::int64_t step) {
  const std::int64_t full = n / kLanes, stride = kLanes * itemsize;
  feeder.feed({data, stride, full, kLanes, index, kLanes * step, step});
  if (n % kLanes != 0) {
    feeder.feed({data + full * stride, stride, 1, n % kLanes, index + full * kLanes * step, 0, step});
  }
}

// The elements [begin, end) of one output, in lanes.
void unit_in_lanes(const Reduction& r, Feeder& feeder, const char* base, std::int64_t begin,
                   std::int64_t end) {
  alignas(64) char buffer[kBufferBytes];
  const std::int64_t itemsize = r.op.itemsize, capacity = kBufferBytes / itemsize;
  const std::int64_t stride = inner_stride(r, kSelf), step = inner_stride(r, kIndex);
  const bool direct = stride == itemsize;
  // Short runs are gathered, so that lanes are full; where indices matter they stay apart.
  std::int64_t gathered = 0;
  for (std::int64_t position = begin; position < end;) {
    const Run run = run_at(r, base, position, end);
    position += run.length;
    if (direct && (run.length >= kLanes || r.op.indexed)) {
      feed_lanes(feeder, run.data, run.length, itemsize, run.index, step);
      continue;
    }
    for (std::int64_t done = 0; done < run.length;) {
      const std::int64_t n = std::min(run.length - done, capacity - gathered);
      pack(buffer + gathered * itemsize, run.data + done * stride, 1, n, 0, stride, itemsize);
      gathered += n;
      done += n;
      if (gathered < capacity && !r.op.indexed) break;
      feed_lanes(feeder, buffer, gathered, itemsize, run.index + (done - gathered) * step, step);
      gathered = 0;
    }
  }
  if (gathered > 0) feed_lanes(feeder, buffer, gathered, itemsize, 0, 0);
}

// The rows [begin, end) of a row of outputs.
void unit_in_columns(const Reduction& r, Feeder& feeder, const char* base, std::int64_t width,
                     std::int64_t begin, std::int64_t end) {
  alignas(64) char buffer[kBufferBytes];
  const std::int64_t itemsize = r.op.itemsize, column_stride = r.space.strides[kSelf][0];
  const std::int64_t stride = inner_stride(r, kSelf), step = inner_stride(r, kIndex);
  for (std::int64_t position = begin; position < end;) {
    Run run = run_at(r, base, position, end);
    position += run.length;
    if (column_stride == itemsize) {
      feeder.feed({run.data, stride, run.length, width, run.index, step, 0});
      continue;
    }
    const std::int64_t capacity = std::max<std::int64_t>(1, kBufferBytes / (width * itemsize));
    for (std::int64_t done = 0; done < run.length; done += capacity) {
      const std::int64_t rows = std::min(capacity, run.length - done);
      pack(buffer, run.data + done * stride, rows, width, stride, column_stride, itemsize);
      feeder.feed({buffer, width * itemsize, rows, width, run.index + done * step, step, 0});
    }
  }
}

// A tile of outputs: where its elements and results are.
struct Tile {
  const char* data;
  Results results;
  std::int64_t outputs;
};

Tile tile_at(const Reduction& r, std::int64_t i) {
  const std::int64_t column = i % r.row_tiles * r.tile;
  const std::int64_t inner = r.columns ? r.space.sizes[0] : 1;
  const std::int64_t position = i / r.row_tiles * inner + column;
  const auto offset = [&](int operand) { return offset_of(r.space, r.kept, position, operand); };
  Tile tile;
  tile.data = r.space.data[kSelf] + offset(kSelf);
  tile.results = {{r.space.data[kOut] + offset(kOut), r.space.data[kSecond] + offset(kSecond)},
                  {r.space.stride(kOut, 0), r.space.stride(kSecond, 0)}};
  tile.outputs = r.columns ? std::min(r.tile, inner - column) : 1;
  return tile;
}

// One unit of a tile; gives its accumulators, one for each output.
char* run_unit(const Reduction& r, const Tile& tile, std::int64_t unit, char* scratch) {
  const std::int64_t begin = unit * r.unit, end = std::min(begin + r.unit, r.reduced.numel);
  // Lanes that no element of a short reduction would reach are left out.
  const std::int64_t width = r.columns ? tile.outputs : std::min(kLanes, r.reduced.numel);
  Cascade cascade(r.op, r.functor, scratch, width);
  Feeder feeder(r, cascade);
  if (r.columns) {
    unit_in_columns(r, feeder, tile.data, width, begin, end);
  } else {
    unit_in_lanes(r, feeder, tile.data, begin, end);
  }
  char* acc = feeder.finish();
  if (!r.columns) r.op.fold(r.functor, acc, width);
  return acc;
}

std::int64_t unit_scratch_bytes(const Reduction& r) {
  // Each run may end in a row of its own, and a block has at least one row.
  const std::int64_t rows = r.columns ? r.unit : std::min(r.unit, r.reduced.numel);
  return Cascade::scratch_bytes(r.width * r.op.acc_bytes, rows / kBlockRows + 2);
}

// Every tile has one unit.
void run_tiles(const Reduction& r) {
  const std::int64_t work = std::max<std::int64_t>(1, r.reduced.numel * r.tile);
  parallel_for(0, r.tiles, std::max<std::int64_t>(1, kGrain / work),
               [&](std::int64_t begin, std::int64_t end) {
                 Scratch scratch(unit_scratch_bytes(r));
                 for (std::int64_t i = begin; i < end; ++i) {
                   const Tile tile = tile_at(r, i);
                   const char* acc = run_unit(r, tile, 0, scratch.data());
                   r.op.project(r.functor, acc, tile.outputs, r.reduced.numel, tile.results);
                 }
               });
}

// Merges the units of one tile, pairwise and in order.
void finish_tile(const Reduction& r, const Tile& tile, const char* units, std::int64_t unit_bytes) {
  Scratch scratch(Cascade::scratch_bytes(unit_bytes, r.units));
  Cascade cascade(r.op, r.functor, scratch.data(), tile.outputs);
  for (std::int64_t u = 0; u < r.units; ++u) {
    r.op.merge(r.functor, cascade.begin_block(), units + u * unit_bytes, tile.outputs);
    cascade.end_block();
  }
  r.op.project(r.functor, cascade.finish(), tile.outputs, r.reduced.numel, tile.results);
}

void run_units(const Reduction& r) {
  const std::int64_t unit_bytes = r.tile * r.op.acc_bytes;
  const std::int64_t tasks = r.tiles * r.units;
  const auto partial = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(tasks * unit_bytes));
  const std::int64_t work = r.unit * r.tile;
  parallel_for(0, tasks, std::max<std::int64_t>(1, kGrain / work), [&](std::int64_t begin, std::int64_t end) {
    Scratch scratch(unit_scratch_bytes(r));
    for (std::int64_t i = begin; i < end; ++i) {
      const Tile tile = tile_at(r, i / r.units);
      const char* acc = run_unit(r, tile, i % r.units, scratch.data());
      std::copy_n(acc, tile.outputs * r.op.acc_bytes, partial.get() + i * unit_bytes);
    }
  });
  for (std::int64_t i = 0; i < r.tiles; ++i) {
    finish_tile(r, tile_at(r, i), partial.get() + i * r.units * unit_bytes, unit_bytes);
  }
}

// The result of no elements, everywhere.
void project_identity(const ReduceOp& op, const void* functor, const TensorBase& out,
                      const TensorBase* second) {
  Scratch scratch(op.acc_bytes);
  op.fill(functor, scratch.data(), 1);
  const TensorBase* const outs[] = {&out, second != nullptr ? second : &out};
  Strided space;
  make_strided(space, out.sizes(), outs, 2);
  DimList all;
  for (int d = 0; d < space.rank; ++d) all.add(space, d);
  for (std::int64_t i = 0; i < all.numel; ++i) {
    const Results to{
        {space.data[0] + offset_of(space, all, i, 0), space.data[1] + offset_of(space, all, i, 1)}, {}};
    op.project(functor, scratch.data(), 1, 0, to);
  }
}

// The dimensions of self, with the strides of the results and of indices.
void make_space(Reduction& r, const TensorBase& out, const TensorBase* second, const TensorBase& self,
                IntArrayRef dims) {
  Strided& space = r.space;
  const auto rank = static_cast<int>(self.dim());
  bool is_reduced[kMaxDims];
  std::fill_n(is_reduced, rank, dims.empty());
  for (const std::int64_t d : dims) {
    if (d < rank) is_reduced[d] = true;
  }
  const TensorBase* const tensors[] = {&self, &out, second != nullptr ? second : &out};
  space.operands = 4;
  for (int k = 0; k < 3; ++k) space.data[k] = static_cast<char*>(tensors[k]->data_ptr());
  space.data[kIndex] = nullptr;
  const bool keepdim = out.dim() == self.dim();
  auto out_dim = static_cast<std::size_t>(out.dim());
  std::int64_t index_step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const std::int64_t size = self.sizes()[static_cast<std::size_t>(i)];
    if (keepdim || !is_reduced[i]) --out_dim;
    if (size == 1) continue;
    const int d = space.rank++;
    space.sizes[d] = size;
    space.strides[kSelf][d] = self.strides()[static_cast<std::size_t>(i)] * r.op.itemsize;
    for (const int k : {kOut, kSecond}) {
      space.strides[k][d] =
          is_reduced[i] ? 0
                        : tensors[k]->strides()[out_dim] * static_cast<std::int64_t>(tensors[k]->itemsize());
    }
    space.strides[kIndex][d] = r.op.indexed && is_reduced[i] ? index_step : 0;
    if (is_reduced[i]) index_step *= size;
  }
  simplify(space);
  for (int d = 0; d < space.rank; ++d) (space.strides[kOut][d] == 0 ? r.reduced : r.kept).add(space, d);
}

void make_plan(Reduction& r) {
  r.columns = r.kept.count > 0 && r.kept.at[0] == 0 && r.space.sizes[0] >= 4;
  if (r.columns) {
    const std::int64_t columns = r.space.sizes[0];
    const std::int64_t most = std::max<std::int64_t>(kLanes, kRowBytes / r.op.acc_bytes);
    // Narrower where there would be too few tiles to share. Columns do not influence each other.
    const std::int64_t outer = r.kept.numel / columns;
    const std::int64_t share = (columns * outer - 1) / get_num_threads() + 1;
    r.tile = std::min({columns, most, std::max(kLanes, (share + kLanes - 1) / kLanes * kLanes)});
    r.width = r.tile;
    r.row_tiles = (columns - 1) / r.tile + 1;
    r.tiles = r.row_tiles * outer;
    r.unit = kUnitRows;
  } else {
    r.tile = 1;
    r.width = kLanes;
    r.row_tiles = 1;
    r.tiles = r.kept.numel;
    r.unit = kUnitRows * kLanes;
  }
  r.units = (r.reduced.numel - 1) / r.unit + 1;
}

}  // namespace

void run_reduce(const ReduceOp& op, const void* functor, const TensorBase& out, const TensorBase* second,
                const TensorBase& self, IntArrayRef dims) {
  if (out.numel() == 0) return;
  if (self.numel() == 0) return project_identity(op, functor, out, second);
  Reduction r(op, functor);
  make_space(r, out, second, self, dims);
  make_plan(r);
  if (r.units == 1) {
    run_tiles(r);
  } else {
    run_units(r);
  }
}

}  // namespace keyway::inline v1::detail
