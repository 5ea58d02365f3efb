// Runs cases of modules, initial values, optimizers and schedules, for test_languages.py, which runs the same in
// Python.
//
//   tests_nn_languages list        prints the names of what it can run, as JSON
//   tests_nn_languages run FOLDER  runs the cases in FOLDER/cases.json: each reads FOLDER/<name>.in.safetensors, and
//   writes
//                                  <name>.out.safetensors and <name>.known.json, a module's options and the names of
//                                  its state; or <name>.error
#include <keyway/autograd/engine.h>
#include <keyway/core/random/generator.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/ops/all.h>
#include <keyway/tests/nn/languages/cases.h>

#include <fstream>
#include <iostream>

namespace keyway::inline v1::testing {

void flatten(Tensors& into, const Tensor& tensor) {
  if (tensor.defined()) into.push_back(tensor);
}

namespace {

Makers all_makers() {
  Makers all;
  for (auto* table : {&activations, &layers, &losses, &pools_and_pads, &sequences}) all.merge(table());
  return all;
}

// Inputs are "input.0", "input.1", ...; those that have gradients are floating-point ones.
Tensors inputs_of(const nn::StateDict& tensors) {
  Tensors inputs;
  while (const Tensor* input = tensors.find("input." + std::to_string(inputs.size()))) {
    inputs.push_back(*input);
    if (input->is_floating_point()) inputs.back().requires_grad_();
  }
  return inputs;
}

nn::StateDict state_of(const nn::StateDict& tensors) {
  nn::StateDict state;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with("state.")) state.insert(name.substr(6), tensor);
  }
  return state;
}

// The gradients of the sum of squares of all results.
void backward(const Tensors& results) {
  Tensor loss;
  for (const Tensor& result : results) {
    if (!result.requires_grad()) continue;
    const Tensor squares = result.mul(result).sum();
    loss = loss.defined() ? loss.add(squares) : squares;
  }
  if (loss.defined()) loss.backward();
}

using Known = std::map<std::string, std::vector<std::string>>;

void run_module(const Json& test_case, const nn::StateDict& tensors, nn::StateDict& results, Known& known) {
  Given given(test_case["options"], tensors, "option", test_case["call"]);
  const Makers makers = all_makers();
  const auto maker = makers.find(test_case["class"].text());
  KEYWAY_CHECK(maker != makers.end(), "C++ has no module {}", test_case["class"].text());
  manual_seed(1);
  const Made made = maker->second(given);
  known["options"] = {given.asked().begin(), given.asked().end()};
  known["state"] = made.module->state_dict().keys();
  for (const std::string& name : given.unknown()) KEYWAY_CHECK(false, "C++ has no option {}", name);
  for (const auto& [name, tensor] : made.module->state_dict()) results.insert("initial." + name, tensor.clone());
  made.module->load_state_dict(state_of(tensors));
  made.module->train(test_case["training"].flag());
  manual_seed(2);
  const Tensors inputs = inputs_of(tensors);
  Tensors given_inputs;  // an operator in place does not change a leaf
  for (const Tensor& input : inputs) given_inputs.push_back(input.requires_grad() ? input.mul(1) : input);
  const Tensors outputs = made.call(given_inputs);
  backward(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.insert("output." + std::to_string(i), outputs[i].detach().contiguous());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].grad().defined()) results.insert("grad.input." + std::to_string(i), inputs[i].grad().contiguous());
  }
  for (const auto& [name, parameter] : made.module->named_parameters()) {
    if (parameter.grad().defined()) results.insert("grad." + name, parameter.grad().contiguous());
  }
  for (const auto& [name, tensor] : made.module->state_dict()) results.insert("state." + name, tensor.contiguous());
}

void run_init(const Json& test_case, const nn::StateDict& tensors, nn::StateDict& results) {
  Given given(test_case["options"], tensors, "option");
  manual_seed(1);
  results.insert("filled", inits().at(test_case["class"].text())(tensors["tensor"], given));
  for (const std::string& name : given.unknown()) KEYWAY_CHECK(false, "C++ has no option {}", name);
}

void run_case(const Json& test_case, const std::string& path) {
  try {
    const nn::StateDict tensors = nn::load_safetensors(path + ".in.safetensors");
    nn::StateDict results;
    Known known;
    const std::string kind = test_case["kind"].text();
    if (kind == "optimizer") {
      run_optimizer(test_case, tensors, results);
    } else if (kind == "init") {
      run_init(test_case, tensors, results);
    } else {
      run_module(test_case, tensors, results, known);
    }
    nn::save_safetensors(results, path + ".out.safetensors");
    std::ofstream known_file(path + ".known.json");
    write_json(known_file, known);
  } catch (const std::exception& error) {
    std::ofstream(path + ".error") << error.what();
  }
}

int run(int count, char** arguments) {
  const std::string command = count > 1 ? arguments[1] : "";
  if (command == "list") {
    std::vector<std::string> modules, fillers;
    for (const auto& [name, maker] : all_makers()) modules.push_back(name);
    for (const auto& [name, fill] : inits()) fillers.push_back(name);
    write_json(
        std::cout,
        {{"modules", modules}, {"inits", fillers}, {"optimizers", optimizer_names()}, {"schedules", schedule_names()}});
    return 0;
  }
  if (command == "run" && count == 3) {
    const std::string folder = arguments[2];
    const Json cases = Json::read(folder + "/cases.json");
    for (std::size_t i = 0; i < cases.size(); ++i) run_case(cases[i], folder + "/" + cases[i]["name"].text());
    return 0;
  }
  std::cerr << "usage: tests_nn_languages list | run FOLDER\n";
  return 2;
}

}  // namespace

}  // namespace keyway::inline v1::testing

int main(int count, char** arguments) { return keyway::testing::run(count, arguments); }
