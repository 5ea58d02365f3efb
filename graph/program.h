// Program: what a file holds of a captured program. It is one for all sizes: where a capture has an integer that
// follows from sizes of the arguments, it has a formula of names.
//
//   graph program(%0 x: float32[batch, 3], %1 weight: float32[4, 3] state) {
//     %2 = keyway::linear(%0, %1)
//     %3 = keyway::view(%2, [batch * 4])
//     return (%3)
//   }
//
//   graph::Program program = graph::Program::load("model.safetensors");
//   const std::vector<Tensor> results = program.run({x});
//
// Its file is one of safetensors, with the text and the schemas of the operators in its metadata, and the state by
// name. Nothing in a file is trusted: it is checked when it is read, and calls check their arguments as ever.
#pragma once

#include <keyway/graph/formula.h>
#include <keyway/graph/graph.h>
#include <keyway/nn/serialize/safetensors.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::graph {

class KEYWAY_API Program {
 public:
  // Of a graph of the level 'program', for the sizes of the capture; state that has no name gets one. It refers to the
  // tensors of the state. Throws keyway::Error(Value) for what a program cannot have: gradients that are left in
  // leaves, one tensor as two arguments, and values without a text, such as generators.
  explicit Program(const Graph& graph);
  // Of captures with arguments of other sizes: an integer that differs becomes a formula of the dimensions, `sizes` of
  // each capture. Throws also where there is none, naming the call and the numbers. For one dimension six captures do,
  // wide apart, odd and even; further ones two each. Where there are quotients more may be needed, which
  // telling_sizes() tells.
  Program(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes);
  // Where several formulas fit, sizes of a further capture that tells them apart: one dimension has another size than
  // in the first capture, from its lowest to its highest. Nothing where one fits, or all that do agree.
  static std::optional<Dimensions> telling_sizes(const std::vector<Graph>& captures,
                                                 const std::vector<Dimensions>& sizes, const Dimensions& lowest,
                                                 const Dimensions& highest);
  // Of such a text, and its state by name. Throws keyway::Error(Parse).
  Program(std::string text, nn::StateDict state);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Throws keyway::Error(Parse) for a file that is none, and keyway::Error(NotImplemented) for one of a later version
  // of Keyway, and for operators that are not there or have other schemas, which it names.
  static Program load(const std::string& path);
  static Program deserialize(std::string_view bytes);
  // With further entries of its metadata. Throws as nn::save_safetensors does.
  void save(const std::string& path, const nn::Metadata& notes = {}) const;
  std::string serialize(const nn::Metadata& notes = {}) const;

  const std::string& text() const;
  // By name, in order. What is written to these tensors the program sees.
  const nn::StateDict& state() const;
  // Further entries of the file that it was read from.
  const nn::Metadata& notes() const;
  // The names of dimensions.
  std::vector<std::string> dimensions() const;
  std::size_t argument_count() const;
  std::vector<std::string> argument_names() const;  // empty of those that have none
  std::size_t result_count() const;

  // The results for these arguments, as the program gives them, with its effects. Where gradients are recorded and an
  // argument or state requires grad, its calls are made one by one, and can be differentiated. Else the first run for
  // some sizes captures what is executed, and later ones run it as a plan. The last 16 sizes are kept. May be called
  // from several threads. Throws keyway::Error for arguments that are not as the program has them, and what a call
  // throws.
  std::vector<Tensor> run(ArrayRef<Tensor> arguments);

  // The sizes of the dimensions, as these arguments have them. Throws as run() does.
  Dimensions dimensions_of(ArrayRef<Tensor> arguments) const;
  // The program for these sizes of its dimensions. Throws keyway::Error for sizes for which there is none.
  Graph graph(const Dimensions& sizes) const;
  // What a run with these arguments executes, without gradients; it is such a run. Throws as run() does, and for what a
  // capture refuses.
  Graph executed(ArrayRef<Tensor> arguments);

 private:
  struct Parts;
  explicit Program(std::unique_ptr<Parts> parts);
  static Program of_file(nn::SafetensorsFile file);
  std::unique_ptr<Parts> parts_;
};

}  // namespace keyway::inline v1::graph
