#include <keyway/core/base/error.h>
#include <keyway/nn/tensorboard/event_file.h>
#include <keyway/nn/tensorboard/summary_writer.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

namespace keyway::inline v1::nn {

namespace {

// Numbers of the fields, from TensorFlow's event.proto, summary.proto, tensor.proto, graph.proto and those that they
// name.
namespace field {
constexpr unsigned kGraphOfEvent = 4, kSummaryOfEvent = 5, kSessionOfEvent = 7;
constexpr unsigned kStatus = 1;
constexpr unsigned kValue = 1;
constexpr unsigned kTag = 1, kScalar = 2, kHistogram = 5, kTensor = 8, kMetadata = 9;
constexpr unsigned kMin = 1, kMax = 2, kCount = 3, kSum = 4, kSquares = 5, kLimits = 6, kCounts = 7;
constexpr unsigned kPlugin = 1, kPluginName = 1;
constexpr unsigned kDtype = 1, kShape = 2, kStrings = 8, kDim = 2, kSize = 1;
constexpr unsigned kNode = 1, kVersions = 4, kProducer = 1;
constexpr unsigned kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttribute = 5, kKey = 1, kOf = 2;
constexpr unsigned kList = 1, kString = 2, kInteger = 3, kFloat = 4, kBool = 5, kShapesOfList = 7, kIntegersOfList = 3;
}  // namespace field

constexpr std::int64_t kSessionStart = 1;
constexpr std::int64_t kStringDtype = 7;
constexpr std::int64_t kGraphProducer = 22;

// Of an event: one value of a summary.
Message summary(const Message& value) {
  return Message().message(field::kSummaryOfEvent, Message().message(field::kValue, value));
}

Message scalar(std::string_view tag, double value) {
  return summary(Message().text(field::kTag, tag).single(field::kScalar, static_cast<float>(value)));
}

Message shape(ArrayRef<std::int64_t> sizes) {
  Message shape;
  for (const std::int64_t size : sizes) shape.message(field::kDim, Message().integer(field::kSize, size));
  return shape;
}

// Every so many edges, and the last one.
std::vector<double> thinned(ArrayRef<double> edges, std::size_t max_bins) {
  const std::size_t bins = edges.size() - 1;
  const std::size_t every = max_bins == 0 || bins <= max_bins ? 1 : bins / max_bins;
  std::vector<double> kept;
  for (std::size_t i = 0; i < bins; i += every) kept.push_back(edges[i]);
  kept.push_back(edges.back());
  return kept;
}

struct Histogram {
  double min = INFINITY, max = -INFINITY, sum = 0, squares = 0;
  std::vector<double> counts;

  Histogram(ArrayRef<double> values, const std::vector<double>& edges) : counts(edges.size() - 1) {
    bool has_nan = false;
    for (const double value : values) {
      sum += value;
      squares += value * value;
      has_nan = has_nan || std::isnan(value);
      min = std::min(min, value);
      max = std::max(max, value);
      if (!(value >= edges.front() && value <= edges.back())) continue;
      const auto above = std::upper_bound(edges.begin(), edges.end() - 1, value);
      ++counts[static_cast<std::size_t>(above - edges.begin()) - 1];
    }
    if (has_nan) min = max = NAN;
  }
};

Message histogram(std::string_view tag, ArrayRef<double> values, const std::vector<double>& edges) {
  const Histogram found(values, edges);
  // Bins are told by their upper limits. The first one that is told is empty, so that the lower limit of the first
  // value is known, and the last one has a value.
  const auto has_some = [](double count) { return count > 0; };
  const auto first = std::find_if(found.counts.begin(), found.counts.end(), has_some);
  const auto end = std::find_if(found.counts.rbegin(), found.counts.rend(), has_some).base();
  std::vector<double> counts{0}, limits{edges.front()};
  if (first != found.counts.end()) {
    const auto skipped = first - found.counts.begin();
    counts.insert(counts.end(), first, end);
    limits.assign(edges.begin() + skipped, edges.begin() + (end - found.counts.begin()) + 1);
  }
  return summary(Message()
                     .text(field::kTag, tag)
                     .message(field::kHistogram, Message()
                                                     .number(field::kMin, found.min)
                                                     .number(field::kMax, found.max)
                                                     .number(field::kCount, static_cast<double>(values.size()))
                                                     .number(field::kSum, found.sum)
                                                     .number(field::kSquares, found.squares)
                                                     .numbers(field::kLimits, limits)
                                                     .numbers(field::kCounts, counts)));
}

// Of a node: an attribute's value.
struct AttributeMessage {
  Message operator()(const std::string& value) const { return Message().text(field::kString, value, true); }
  Message operator()(std::int64_t value) const { return Message().integer(field::kInteger, value, true); }
  Message operator()(double value) const { return Message().single(field::kFloat, static_cast<float>(value)); }
  Message operator()(bool value) const { return Message().integer(field::kBool, value ? 1 : 0, true); }
  Message operator()(const std::vector<std::int64_t>& value) const {
    return Message().message(field::kList, Message().integers(field::kIntegersOfList, value));
  }
};

Message node_message(const SummaryWriter::GraphNode& node) {
  Message message;
  message.text(field::kName, node.name).text(field::kOp, node.op);
  for (const std::string& input : node.inputs) message.text(field::kInput, input, true);
  message.text(field::kDevice, node.device);
  const auto add = [&](std::string_view key, const Message& value) {
    message.message(field::kAttribute, Message().text(field::kKey, key).message(field::kOf, value));
  };
  for (const auto& [key, value] : node.attributes) add(key, std::visit(AttributeMessage(), value));
  if (!node.output_shapes.empty()) {
    Message shapes;
    for (const auto& sizes : node.output_shapes) shapes.message(field::kShapesOfList, shape(sizes));
    add("_output_shapes", Message().message(field::kList, shapes));
  }
  return message;
}

}  // namespace

struct SummaryWriter::Files {
  explicit Files(Options given) : options(std::move(given)) {}

  // Requires: the mutex is held.
  EventFile& in(const std::string& folder, std::optional<std::int64_t> step = std::nullopt) {
    const auto found = open.find(folder);
    if (found != open.end()) return found->second;
    return open.try_emplace(folder, folder, options.filename_suffix, options.max_queue, options.flush_secs, step)
        .first->second;
  }
  // The one of the run; one that is new tells which events before it hold no longer.
  EventFile& main(const std::string& folder) {
    if (open.contains(folder) || !options.purge_step) return in(folder);
    EventFile& file = in(folder, options.purge_step);
    file.add(Message().message(field::kSessionOfEvent, Message().integer(field::kStatus, kSessionStart)),
             options.purge_step, std::nullopt);
    return file;
  }
  void add(const std::string& folder, const Message& content, Step step, Time walltime) {
    const std::lock_guard lock(mutex);
    main(folder).add(content, step, walltime);
  }

  const Options options;
  std::mutex mutex;
  std::map<std::string, EventFile> open;
};

SummaryWriter::SummaryWriter(std::string log_dir) : SummaryWriter(std::move(log_dir), Options()) {}

SummaryWriter::SummaryWriter(std::string log_dir, Options options)
    : log_dir_(std::move(log_dir)), files_(std::make_unique<Files>(std::move(options))) {
  const std::lock_guard lock(files_->mutex);
  files_->main(log_dir_);
}

SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::add_scalar(std::string_view tag, double value, Step step, Time walltime) {
  files_->add(log_dir_, scalar(tag, value), step, walltime);
}

void SummaryWriter::add_scalars(std::string_view main_tag, const std::vector<std::pair<std::string, double>>& scalars,
                                Step step, Time walltime) {
  std::string folder = std::string(main_tag);
  std::replace(folder.begin(), folder.end(), '/', '_');
  for (const auto& [tag, value] : scalars) {
    const std::lock_guard lock(files_->mutex);
    files_->in(log_dir_ + "/" + folder + "_" + tag).add(scalar(main_tag, value), step, walltime);
  }
}

const std::vector<double>& SummaryWriter::tensorflow_bins() {
  static const std::vector<double>& edges = *new std::vector<double>([] {
    std::vector<double> positive;
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1) positive.push_back(edge);
    std::vector<double> all;
    for (auto edge = positive.rbegin(); edge != positive.rend(); ++edge) all.push_back(-*edge);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }());
  return edges;
}

void SummaryWriter::add_histogram(std::string_view tag, ArrayRef<double> values, Step step, ArrayRef<double> bins,
                                  Time walltime, std::size_t max_bins) {
  KEYWAY_CHECK(!values.empty(), "add_histogram: there are no values for '{}'", tag);
  KEYWAY_CHECK(bins.size() >= 2, "add_histogram: bins need two edges or more, not {}", bins.size());
  for (std::size_t i = 1; i < bins.size(); ++i) {
    KEYWAY_CHECK(bins[i - 1] < bins[i], "add_histogram: edges of bins rise, but {} comes before {}", bins[i - 1],
                 bins[i]);
  }
  files_->add(log_dir_, histogram(tag, values, thinned(bins, max_bins)), step, walltime);
}

void SummaryWriter::add_histogram(std::string_view tag, const Tensor& values, Step step, ArrayRef<double> bins,
                                  Time walltime, std::size_t max_bins) {
  KEYWAY_CHECK_AS(Dtype, !is_complex(values.scalar_type()), "add_histogram: values are real, not {}",
                  values.scalar_type());
  const Tensor on_host = values.detach().to(Device(DeviceType::CPU)).to(kDouble).contiguous();
  add_histogram(tag, ArrayRef<double>(on_host.const_data_ptr<double>(), static_cast<std::size_t>(on_host.numel())),
                step, bins, walltime, max_bins);
}

void SummaryWriter::add_text(std::string_view tag, std::string_view text, Step step, Time walltime) {
  const Message tensor = Message()
                             .integer(field::kDtype, kStringDtype)
                             .message(field::kShape, shape(std::vector<std::int64_t>{1}))
                             .text(field::kStrings, text, true);
  const Message metadata = Message().message(field::kPlugin, Message().text(field::kPluginName, "text"));
  files_->add(log_dir_,
              summary(Message()
                          .text(field::kTag, std::string(tag) + "/text_summary")
                          .message(field::kTensor, tensor)
                          .message(field::kMetadata, metadata)),
              step, walltime);
}

void SummaryWriter::add_graph(const std::vector<GraphNode>& nodes, Time walltime) {
  Message graph;
  std::set<std::string_view> names;
  for (const GraphNode& node : nodes) {
    KEYWAY_CHECK(!node.name.empty(), "add_graph: a node of op '{}' has no name", node.op);
    KEYWAY_CHECK(names.insert(node.name).second, "add_graph: two nodes have the name '{}'", node.name);
    graph.message(field::kNode, node_message(node));
  }
  graph.message(field::kVersions, Message().integer(field::kProducer, kGraphProducer));
  files_->add(log_dir_, Message().message(field::kGraphOfEvent, graph), std::nullopt, walltime);
}

void SummaryWriter::flush() {
  const std::lock_guard lock(files_->mutex);
  for (auto& [folder, file] : files_->open) file.flush();
}

void SummaryWriter::close() {
  flush();
  const std::lock_guard lock(files_->mutex);
  files_->open.clear();
}

}  // namespace keyway::inline v1::nn
