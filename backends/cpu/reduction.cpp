// How a reduction goes over its input.
//
// Its space has the input's dimensions, kept and reduced, innermost first by the input's strides. There are four ways:
//
// - columns: Outputs lie side by side, or the elements of each are few: a row of outputs is accumulated at once, one
//   element of each after the other. So are rows of short runs, each of an output: a run is a group of columns.
// - runs: The elements of an output lie side by side and are not many: a loop compiled for it does output after output.
// - several runs: They are in runs of such lengths, which that loop does one after the other.
// - lanes: Runs are longer, or short and apart: kLanes lanes accumulate them, by the loop of columns, and are folded.
//
// Elements that are not of the accumulation's dtype are converted to it in a buffer, in all but several runs.
//
// The elements of an output (or row of outputs) are cut into units of a fixed length. Units are what threads share
// where outputs are few; their accumulators are merged pairwise, in order.
#include <keyway/backends/common/reduction_space.h>
#include <keyway/backends/cpu/cascade.h>
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/reduction.h>
#include <keyway/backends/cpu/tile_cast.h>

#include <algorithm>

namespace keyway::inline v1::detail {

namespace {

constexpr std::int64_t kUnitRows = 1024;
// Accumulators of a row of outputs take at most so many bytes.
constexpr std::int64_t kRowBytes = 16384;
constexpr std::int64_t kBufferBytes = TileCast::kMaxBytes;
// Outputs of so few elements are gathered into columns.
constexpr std::int64_t kFewElements = 16;
// Runs of fewer elements are gathered for lanes, of which each would leave some idle.
constexpr std::int64_t kLongRun = 4 * kLanes;
// Outputs of runs that are accumulated before they are projected.
constexpr std::int64_t kRunOutputs = 64;
constexpr std::int64_t kMaxAccBytes = 48;

// The dimensions of one kind, innermost first, as indices in the space.
struct DimList {
  int count = 0;
  std::int64_t numel = 1;
  int at[kMaxDims];

  void add(const IterationSpace& space, int d) {
    at[count++] = d;
    numel *= space.sizes[d];
  }
};

// Offset of the position-th element of a list of dimensions, for one operand.
std::int64_t offset_of(const IterationSpace& space, const DimList& dims, std::int64_t position, int operand) {
  std::int64_t offset = 0;
  for (int i = 0; i < dims.count && position != 0; ++i) {
    const int d = dims.at[i];
    offset += position % space.sizes[d] * space.strides[operand][d];
    position /= space.sizes[d];
  }
  return offset;
}

enum class Way { Columns, Runs, SeveralRuns, Lanes };

// What is called, and with what.
struct ReduceTask {
  ReduceTask(const ReduceOp& o, const void* functor, const TensorBase& self)
      : op(o),
        f(functor),
        level(current_level()),
        cast(o.element, self.dtype(), level),
        capacity(kBufferBytes / std::max<std::int64_t>(o.itemsize, cast.itemsize())) {}

  // Of elements. What is converted has to fit into a buffer.
  std::int64_t longest_run() const {
    return cast.needed() ? std::min(kLanes * kBlockRows, capacity) : kLanes * kBlockRows;
  }
  // A rectangle of elements into a buffer, as the loops have them.
  void gather(char* buffer, const TileFrom& from, std::int64_t rows, std::int64_t columns) const {
    if (cast.needed()) return cast.load(buffer, from, rows, columns);
    pack(buffer, from, rows, columns, op.itemsize);
  }

  const ReduceOp& op;
  const void* f;
  SimdLevel level;
  TileCast cast;
  std::int64_t capacity;  // elements that a buffer has room for
};

struct Reduction : ReduceTask {
  explicit Reduction(const ReduceTask& task) : ReduceTask(task) {}

  IterationSpace space;
  DimList kept;
  DimList reduced;
  Way way;
  DimList walk;            // the reduced dimensions that are gone through: all but those that are in a row
  std::int64_t group;      // accumulators of each output in a row of them; elements of each of several runs
  std::int64_t tile;       // outputs in a row of them; 1 unless in columns
  std::int64_t row_tiles;  // tiles along the innermost kept dimension
  std::int64_t tiles;
  std::int64_t unit;   // elements of each output in a unit
  std::int64_t units;  // for each output

  // Of the innermost kept dimension, and the innermost that is gone through.
  std::int64_t kept_size() const { return kept.count == 0 ? 1 : space.sizes[kept.at[0]]; }
  std::int64_t kept_stride(int operand) const { return kept.count == 0 ? 0 : space.strides[operand][kept.at[0]]; }
  std::int64_t run_size() const { return walk.count == 0 ? 1 : space.sizes[walk.at[0]]; }
  std::int64_t run_stride(int operand) const { return walk.count == 0 ? 0 : space.strides[operand][walk.at[0]]; }
};

// Feeds rows to a cascade, cutting them into blocks.
class Feeder {
 public:
  Feeder(const Reduction& r, Cascade& cascade) : r_(r), cascade_(cascade) {}

  void feed(Rows rows) {
    while (rows.rows > 0) {
      if (acc_ == nullptr && rows.rows >= 2 * kBlockRows && can_pair(rows)) {
        Rows pair = rows;
        pair.rows = kBlockRows;
        pair.twin = kBlockRows * rows.stride;
        r_.op.combine[r_.level](r_.f, cascade_.begin_pair(), 2 * cascade_.capacity(), pair);
        cascade_.end_block();
        cascade_.end_block();
        rows.data += 2 * pair.twin;
        rows.rows -= 2 * kBlockRows;
        continue;
      }
      if (acc_ == nullptr) acc_ = cascade_.begin_block();
      Rows part = rows;
      part.rows = std::min(rows.rows, kBlockRows - used_);
      r_.op.combine[r_.level](r_.f, acc_, cascade_.capacity(), part);
      rows.data += part.rows * rows.stride;
      rows.index += part.rows * rows.row_step;
      rows.rows -= part.rows;
      used_ += part.rows;
      if (used_ == kBlockRows) end_block();
    }
  }
  // n adjacent elements as rows of kLanes, and what is left over.
  void feed_lanes(const char* data, std::int64_t n, std::int64_t index, std::int64_t step) {
    const std::int64_t full = n / kLanes, stride = kLanes * r_.op.itemsize;
    feed({data, stride, full, kLanes, index, kLanes * step, step});
    if (n % kLanes != 0) {
      feed({data + full * stride, stride, 1, n % kLanes, index + full * kLanes * step, 0, step});
    }
  }
  char* finish() {
    if (acc_ != nullptr) end_block();
    return cascade_.finish();
  }

 private:
  // Twins are read faster than one block after the other by Zen 3, and slower by Zen 4.
  bool can_pair(const Rows& rows) const {
    return r_.op.twins && r_.level != SimdLevel::Avx512 && rows.width == kLanes && cascade_.can_begin_pair();
  }
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

// Goes through the reduced elements [begin, end) run by run, a run being what lies along the innermost
// reduced dimension.
class RunWalker {
 public:
  RunWalker(const Reduction& r, const char* base, std::int64_t begin, std::int64_t end)
      : r_(r), data_(base), left_(end - begin) {
    at_[0] = 0;
    for (int i = 0; i < r.walk.count; ++i) {
      const int d = r.walk.at[i];
      at_[i] = begin % r.space.sizes[d];
      begin /= r.space.sizes[d];
      move(d, at_[i]);
    }
    set_length();
  }

  bool done() const { return left_ == 0; }
  const char* data() const { return data_; }
  std::int64_t index() const { return index_; }
  std::int64_t length() const { return length_; }

  void next() {
    left_ -= length_;
    if (left_ == 0) return;
    if (r_.walk.count > 0) move(r_.walk.at[0], -at_[0]);
    at_[0] = 0;
    for (int i = 1; i < r_.walk.count; ++i) {
      const int d = r_.walk.at[i];
      move(d, 1);
      if (++at_[i] < r_.space.sizes[d]) break;
      move(d, -at_[i]);
      at_[i] = 0;
    }
    set_length();
  }

 private:
  void move(int d, std::int64_t steps) {
    data_ += steps * r_.space.strides[kSelf][d];
    index_ += steps * r_.space.strides[kIndex][d];
  }
  void set_length() { length_ = std::min(r_.run_size() - at_[0], left_); }

  const Reduction& r_;
  const char* data_;
  std::int64_t index_ = 0;
  std::int64_t left_;
  std::int64_t length_ = 0;
  std::int64_t at_[kMaxDims];
};

// The elements [begin, end) of one output, in lanes. Runs that are short or not contiguous are gathered, so
// that lanes are full; where indices matter they stay apart.
void unit_in_lanes(const Reduction& r, Feeder& feeder, const char* base, std::int64_t begin, std::int64_t end) {
  alignas(64) char buffer[kBufferBytes];
  const std::int64_t itemsize = r.op.itemsize, capacity = r.capacity;
  const std::int64_t stride = r.run_stride(kSelf), step = r.run_stride(kIndex);
  const bool direct = stride == itemsize && !r.cast.needed();
  std::int64_t gathered = 0;
  for (RunWalker run(r, base, begin, end); !run.done(); run.next()) {
    if (direct && (run.length() >= kLongRun || r.op.indexed)) {
      feeder.feed_lanes(run.data(), run.length(), run.index(), step);
      continue;
    }
    for (std::int64_t done = 0; done < run.length();) {
      const std::int64_t n = std::min(run.length() - done, capacity - gathered);
      r.gather(buffer + gathered * itemsize, {run.data() + done * stride, 0, stride}, 1, n);
      gathered += n;
      done += n;
      if (gathered < capacity && !r.op.indexed) break;
      feeder.feed_lanes(buffer, gathered, run.index() + (done - gathered) * step, step);
      gathered = 0;
    }
  }
  if (gathered > 0) feeder.feed_lanes(buffer, gathered, 0, 0);
}

// The elements [begin, end) of each of `width` accumulators, in columns.
void unit_in_columns(const Reduction& r, Feeder& feeder, const char* base, std::int64_t width, std::int64_t begin,
                     std::int64_t end) {
  alignas(64) char buffer[kBufferBytes];
  const std::int64_t itemsize = r.op.itemsize;
  const std::int64_t column_stride = r.group > 1 ? r.cast.itemsize() : r.kept_stride(kSelf);
  const std::int64_t stride = r.run_stride(kSelf), step = r.run_stride(kIndex);
  const std::int64_t capacity = std::max<std::int64_t>(1, r.capacity / width);
  for (RunWalker run(r, base, begin, end); !run.done(); run.next()) {
    if (column_stride == itemsize && !r.cast.needed()) {
      feeder.feed({run.data(), stride, run.length(), width, run.index(), step, 0});
      continue;
    }
    for (std::int64_t done = 0; done < run.length(); done += capacity) {
      const std::int64_t rows = std::min(capacity, run.length() - done);
      r.gather(buffer, {run.data() + done * stride, stride, column_stride}, rows, width);
      feeder.feed({buffer, width * itemsize, rows, width, run.index() + done * step, step, 0});
    }
  }
}

// The runs [begin, end) of one output: those side by side at once.
void unit_in_runs(const Reduction& r, Cascade& cascade, const char* base, std::int64_t begin, std::int64_t end) {
  const std::int64_t most = cascade.capacity(), stride = r.run_stride(kSelf);
  alignas(64) char acc[capacity_for(1) * kMaxAccBytes];
  for (RunWalker runs(r, base, begin, end); !runs.done(); runs.next()) {
    for (std::int64_t done = 0; done < runs.length(); done += most) {
      const std::int64_t n = std::min(most, runs.length() - done);
      r.op.reduce_runs[r.level](r.f, {runs.data() + done * stride, stride, r.group, n, 0}, acc, most);
      r.op.fold(r.f, acc, most, 1, n);
      r.op.merge(r.f, cascade.begin_block(), acc, most, 1);
      cascade.end_block();
    }
  }
}

// A row of outputs: where its elements and results are.
struct Tile {
  const char* data;
  Results results;
  std::int64_t outputs;
};

Tile tile_at(const Reduction& r, std::int64_t i) {
  const std::int64_t column = i % r.row_tiles * r.tile;
  const std::int64_t position = r.way == Way::Columns ? i / r.row_tiles * r.kept_size() + column : i;
  const auto at = [&](int operand) { return r.space.data[operand] + offset_of(r.space, r.kept, position, operand); };
  return {at(kSelf),
          {{at(kOut), at(kSecond)}, {r.kept_stride(kOut), r.kept_stride(kSecond)}},
          std::min(r.tile, r.kept_size() - column)};
}

// Accumulators of a unit of a tile. Lanes that no element of a short reduction would reach are left out.
std::int64_t unit_width(const Reduction& r, const Tile& tile) {
  if (r.way == Way::SeveralRuns) return 1;
  return r.way == Way::Columns ? tile.outputs * r.group : std::min(kLanes, r.reduced.numel);
}

// Gives an array of capacity_for(unit_width()) accumulators, the first of which are those of the tile's
// outputs.
char* run_unit(const Reduction& r, const Tile& tile, std::int64_t unit, char* scratch) {
  const std::int64_t begin = unit * r.unit, end = std::min(begin + r.unit, r.walk.numel);
  const std::int64_t width = unit_width(r, tile);
  Cascade cascade(r.op, r.f, scratch, width);
  if (r.way == Way::SeveralRuns) {
    unit_in_runs(r, cascade, tile.data, begin, end);
    return cascade.finish();
  }
  Feeder feeder(r, cascade);
  if (r.way == Way::Columns) {
    unit_in_columns(r, feeder, tile.data, width, begin, end);
  } else {
    unit_in_lanes(r, feeder, tile.data, begin, end);
  }
  char* const acc = feeder.finish();
  if (width != tile.outputs) r.op.fold(r.f, acc, cascade.capacity(), tile.outputs, width / tile.outputs);
  return acc;
}

std::size_t unit_scratch_bytes(const Reduction& r) {
  // In lanes a run may end in a row of its own, and has an element at least.
  const std::int64_t rows = std::min(r.unit, r.walk.numel);
  if (r.way == Way::SeveralRuns) return Cascade::scratch_bytes(r.op, 1, rows);
  return Cascade::scratch_bytes(r.op, r.way == Way::Columns ? r.tile * r.group : kLanes, rows / kBlockRows + 2);
}

// Every tile has one unit.
void run_tiles(const Reduction& r) {
  const std::int64_t work = std::max<std::int64_t>(1, r.reduced.numel * r.tile);
  parallel_for(0, r.tiles, std::max<std::int64_t>(1, kElementGrain / work), [&](std::int64_t begin, std::int64_t end) {
    CascadeScratch scratch(unit_scratch_bytes(r));
    for (std::int64_t i = begin; i < end; ++i) {
      const Tile tile = tile_at(r, i);
      const char* acc = run_unit(r, tile, 0, scratch.data());
      r.op.project(r.f, acc, capacity_for(unit_width(r, tile)), tile.outputs, r.reduced.numel, tile.results);
    }
  });
}

// Merges the units of one tile, pairwise and in order.
void finish_tile(const Reduction& r, const Tile& tile, const char* units, std::int64_t unit_bytes) {
  const std::int64_t width = unit_width(r, tile), capacity = capacity_for(width);
  CascadeScratch scratch(Cascade::scratch_bytes(r.op, width, r.units));
  Cascade cascade(r.op, r.f, scratch.data(), width);
  for (std::int64_t u = 0; u < r.units; ++u) {
    r.op.merge(r.f, cascade.begin_block(), units + u * unit_bytes, capacity, width);
    cascade.end_block();
  }
  r.op.project(r.f, cascade.finish(), capacity, tile.outputs, r.reduced.numel, tile.results);
}

// Units in any order and by any thread; what they give is kept until all are there.
void run_units(const Reduction& r) {
  const std::int64_t width = r.way == Way::Columns ? r.tile * r.group : kLanes;
  const std::int64_t unit_bytes = capacity_for(width) * r.op.acc_bytes;
  const std::int64_t tasks = r.tiles * r.units;
  Scratch<64> partial(static_cast<std::size_t>(tasks * unit_bytes));
  const std::int64_t work = r.unit * r.tile * r.group;
  parallel_for(0, tasks, std::max<std::int64_t>(1, kElementGrain / work), [&](std::int64_t begin, std::int64_t end) {
    CascadeScratch scratch(unit_scratch_bytes(r));
    for (std::int64_t i = begin; i < end; ++i) {
      const Tile tile = tile_at(r, i / r.units);
      const char* const acc = run_unit(r, tile, i % r.units, scratch.data());
      std::copy_n(acc, capacity_for(unit_width(r, tile)) * r.op.acc_bytes, partial.data() + i * unit_bytes);
    }
  });
  for (std::int64_t i = 0; i < r.tiles; ++i) {
    finish_tile(r, tile_at(r, i), partial.data() + i * r.units * unit_bytes, unit_bytes);
  }
}

// Output after output; each has one run, of n elements.
void reduce_direct_runs(const ReduceTask& task, Runs runs, Results to) {
  alignas(64) char acc[kRunOutputs * kMaxAccBytes];
  for (std::int64_t left = runs.outputs; left > 0; left -= runs.outputs) {
    runs.outputs = std::min(left, kRunOutputs);
    task.op.reduce_runs[task.level](task.f, runs, acc, kRunOutputs);
    task.op.project(task.f, acc, kRunOutputs, runs.outputs, runs.length, to);
    runs.data += runs.outputs * runs.stride;
    for (int k = 0; k < 2; ++k) to.data[k] += runs.outputs * to.stride[k];
  }
}
void reduce_runs(const ReduceTask& task, const Runs& runs, Results to) {
  if (!task.cast.needed()) return reduce_direct_runs(task, runs, to);
  alignas(64) char buffer[kBufferBytes];
  const std::int64_t n = runs.length, most = task.capacity / n;
  for (std::int64_t done = 0; done < runs.outputs; done += most) {
    const std::int64_t outputs = std::min(runs.outputs - done, most);
    task.gather(buffer, {runs.data + done * runs.stride, runs.stride, task.cast.itemsize()}, outputs, n);
    reduce_direct_runs(task, {buffer, n * task.op.itemsize, n, outputs, runs.step}, to);
    for (int k = 0; k < 2; ++k) to.data[k] += outputs * to.stride[k];
  }
}

void run_runs(const Reduction& r) {
  const std::int64_t inner = r.kept_size();
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / r.reduced.numel);
  parallel_for(0, r.kept.numel, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t position = begin; position < end;) {
      const auto at = [&](int operand) {
        return r.space.data[operand] + offset_of(r.space, r.kept, position, operand);
      };
      const std::int64_t outputs = std::min(inner - position % inner, end - position);
      reduce_runs(r, {at(kSelf), r.kept_stride(kSelf), r.reduced.numel, outputs, r.run_stride(kIndex)},
                  {{at(kOut), at(kSecond)}, {r.kept_stride(kOut), r.kept_stride(kSecond)}});
      position += outputs;
    }
  });
}

Runs run_of(const TensorBase& self) { return {static_cast<char*>(self.data_ptr()), 0, self.numel(), 1, 1}; }
Results results_of(const TensorBase& out, const TensorBase* second) {
  return {{static_cast<char*>(out.data_ptr()), static_cast<char*>((second != nullptr ? *second : out).data_ptr())}, {}};
}

// What is small is done in a few nanoseconds.
void reduce_one_run(const ReduceOp& op, const void* f, const TensorBase& out, const TensorBase* second,
                    const TensorBase& self) {
  constexpr std::int64_t kCapacity = 16;
  alignas(64) char acc[kCapacity * kMaxAccBytes];
  op.reduce_runs[current_level()](f, run_of(self), acc, kCapacity);
  op.project(f, acc, kCapacity, 1, self.numel(), results_of(out, second));
}

// The result of no elements, everywhere: one, which is copied, as there may be many.
void project_identity(const ReduceOp& op, const void* f, const TensorBase& out, const TensorBase* second) {
  CascadeScratch scratch(static_cast<std::size_t>(capacity_for(1) * op.acc_bytes));
  op.fill(f, scratch.data(), capacity_for(1), 1);
  const TensorBase one = make_tensor({}, out.dtype(), DeviceType::CPU);
  const TensorBase other = second != nullptr ? make_tensor({}, second->dtype(), DeviceType::CPU) : one;
  const Results to{{static_cast<char*>(one.data_ptr()), static_cast<char*>(other.data_ptr())}, {}};
  op.project(f, scratch.data(), capacity_for(1), 1, 0, to);
  copy_elements(one, out);
  if (second != nullptr) copy_elements(other, *second);
}

void make_space(Reduction& r, const TensorBase& out, const TensorBase* second, const TensorBase& self,
                IntArrayRef dims) {
  make_reduction_space(r.space, out, second, self, dims, r.op.indexed);
  for (int d = 0; d < r.space.rank; ++d) (r.space.strides[kOut][d] == 0 ? r.reduced : r.kept).add(r.space, d);
}

// Whether rows of short runs, each of an output, lie side by side, and there are several such rows.
bool has_grouped_rows(const Reduction& r) {
  if (r.op.indexed || r.reduced.count < 2 || r.reduced.at[0] != 0 || r.kept.count == 0 || r.kept.at[0] != 1)
    return false;
  const IterationSpace& space = r.space;
  const std::int64_t run = space.sizes[0];
  return space.strides[kSelf][0] == r.cast.itemsize() && space.strides[kSelf][1] == run * r.cast.itemsize() &&
         run <= std::min(kRowBytes / r.op.acc_bytes / 8, r.capacity) && r.reduced.numel / run >= 4;
}

// Whether the elements of each output lie in several runs that the loop of runs does as they are, and each is worth
// folding.
bool has_runs(const Reduction& r) {
  const std::int64_t run = r.space.sizes[0];
  return r.op.least_run != 0 && !r.cast.needed() && r.reduced.count >= 2 && r.reduced.at[0] == 0 &&
         r.space.strides[kSelf][0] == r.op.itemsize && run >= r.op.least_run && run <= r.longest_run();
}

Way way_of(const Reduction& r) {
  const bool kept_is_inner = r.kept.count > 0 && r.kept.at[0] == 0 && r.kept_size() >= 4;
  const bool few_elements = r.reduced.numel <= kFewElements && r.kept_size() >= kLanes / 2;
  if (kept_is_inner || few_elements) return Way::Columns;
  const bool one_run = r.reduced.count == 0 || (r.reduced.count == 1 && r.run_stride(kSelf) == r.cast.itemsize());
  return one_run && r.reduced.numel <= r.longest_run() ? Way::Runs : Way::Lanes;
}

void make_plan(Reduction& r) {
  r.walk = r.reduced;
  r.way = way_of(r);
  r.group = 1;
  if (const bool grouped = has_grouped_rows(r); r.way == Way::Lanes && (grouped || has_runs(r))) {
    r.way = grouped ? Way::Columns : Way::SeveralRuns;
    r.group = r.space.sizes[0];
    r.walk.numel /= r.group;
    std::copy_n(r.reduced.at + 1, --r.walk.count, r.walk.at);
  }
  r.tile = 1;
  r.row_tiles = 1;
  r.tiles = r.kept.numel;
  r.unit = (kUnitRows * kLanes - 1) / (r.way == Way::SeveralRuns ? r.group : 1) + 1;
  if (r.way == Way::Columns) {
    const std::int64_t columns = r.kept_size(), outer = r.kept.numel / columns;
    // A row fits into the buffer that strided ones are packed into.
    const std::int64_t most = std::min(kRowBytes / r.op.acc_bytes, r.capacity) / r.group;
    // Narrower where there would be too few tiles to share: columns do not influence each other.
    const std::int64_t share = (r.kept.numel - 1) / get_num_threads() + 1;
    const std::int64_t least = std::max<std::int64_t>(1, kLanes / r.group);
    r.tile = std::min({columns, most, std::max(least, (share + least - 1) / least * least)});
    r.row_tiles = (columns - 1) / r.tile + 1;
    r.tiles = r.row_tiles * outer;
    r.unit = kUnitRows;
  }
  r.units = (r.walk.numel - 1) / r.unit + 1;
}

}  // namespace

void run_reduce(const ReduceOp& op, const void* f, const TensorBase& out, const TensorBase* second,
                const TensorBase& self, IntArrayRef dims) {
  if (out.numel() == 0) return;
  if (self.numel() == 0) return project_identity(op, f, out, second);
  const bool one_run = out.numel() == 1 && self.numel() <= kLanes * kBlockRows && self.impl()->known_contiguous();
  if (one_run && self.dtype() == op.element) return reduce_one_run(op, f, out, second, self);
  const ReduceTask task(op, f, self);
  if (one_run && self.numel() <= task.longest_run()) return reduce_runs(task, run_of(self), results_of(out, second));
  Reduction r(task);
  make_space(r, out, second, self, dims);
  make_plan(r);
  if (r.way == Way::Runs) {
    run_runs(r);
  } else if (r.units == 1) {
    run_tiles(r);
  } else {
    run_units(r);
  }
}

}  // namespace keyway::inline v1::detail
