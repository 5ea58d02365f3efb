// SummaryWriter: numbers, histograms, texts and graphs of a training run, in files that TensorBoard shows.
//
//   nn::SummaryWriter writer("runs/first");
//   for (int step = 0; step < 100; ++step) {
//     writer.add_scalar("loss/train", loss, step);
//     writer.add_histogram("weight", model->weight, step);
//   }
//
// Names and files are those of PyTorch's torch.utils.tensorboard.
#pragma once

#include <keyway/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace keyway::inline v1::nn {

// Functions may be called from any thread. What the system refuses is a FileError (nn/serialize/file_error.h). Steps
// and times: of each event; without a time it is now, in seconds since 1970.
class KEYWAY_API SummaryWriter {
 public:
  struct Options {
    std::string filename_suffix = {};
    std::size_t max_queue = 10;  // events that are kept before they are written
    double flush_secs = 120;     // how long they are, at most, when another comes
    // Events from this step on that an earlier run left in the folder are not to be shown.
    std::optional<std::int64_t> purge_step = std::nullopt;
  };
  using Step = std::optional<std::int64_t>;
  using Time = std::optional<double>;

  explicit SummaryWriter(std::string log_dir);
  SummaryWriter(std::string log_dir, Options options);
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;
  ~SummaryWriter();

  const std::string& log_dir() const { return log_dir_; }

  // Kept as float32.
  void add_scalar(std::string_view tag, double value, Step step = {}, Time walltime = {});
  // Several in one chart: each has a folder of its own below log_dir, named after both tags.
  void add_scalars(std::string_view main_tag, const std::vector<std::pair<std::string, double>>& scalars,
                   Step step = {}, Time walltime = {});

  // The edges of TensorFlow's bins: 0, and 1e-12 times powers of 1.1 up to 1e20, of both signs.
  static const std::vector<double>& tensorflow_bins();
  // How many values lie between one edge and the next; the last bin has its upper edge, too. Values outside and NaN are
  // in none. max_bins: if there are more, neighbours are put together; 0 for no bound. Errors: no values; fewer than
  // two edges, or edges that do not rise.
  void add_histogram(std::string_view tag, ArrayRef<double> values, Step step = {},
                     ArrayRef<double> bins = tensorflow_bins(), Time walltime = {}, std::size_t max_bins = 0);
  // Of real tensors of any dtype, on any device.
  void add_histogram(std::string_view tag, const Tensor& values, Step step = {},
                     ArrayRef<double> bins = tensorflow_bins(), Time walltime = {}, std::size_t max_bins = 0);

  // Markdown.
  void add_text(std::string_view tag, std::string_view text, Step step = {}, Time walltime = {});

  struct GraphNode {
    using Attribute = std::variant<std::string, std::int64_t, double, bool, std::vector<std::int64_t>>;

    std::string name;  // its own; slashes make boxes, as "encoder/linear"
    std::string op;
    std::vector<std::string> inputs = {};  // names of nodes, "name:1" for the second result of one
    std::vector<std::pair<std::string, Attribute>> attributes = {};
    std::vector<std::vector<std::int64_t>> output_shapes = {};
    std::string device = {};
  };
  // Errors: a node without a name, or two of one name.
  void add_graph(const std::vector<GraphNode>& nodes, Time walltime = {});

  // Writes what is kept. close() also closes the files: what is added later goes into new ones.
  void flush();
  void close();

 private:
  struct Files;

  std::string log_dir_;
  std::unique_ptr<Files> files_;
};

}  // namespace keyway::inline v1::nn
