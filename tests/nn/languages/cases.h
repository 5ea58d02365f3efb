// What the program can run: modules and optimizers by name.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/optim/optimizer.h>
#include <keyway/tests/nn/languages/given.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

using Tensors = std::vector<Tensor>;

// A module, and one call of it: the tensors that it gives, of tuples one after the other, without undefined ones.
struct Made {
  std::shared_ptr<nn::Module> module;
  std::function<Tensors(const Tensors& inputs)> call;
};
using Maker = std::function<Made(Given& given)>;
using Makers = std::map<std::string, Maker>;

void flatten(Tensors& into, const Tensor& tensor);
template <typename... Parts>
void flatten(Tensors& into, const std::tuple<Parts...>& parts) {
  std::apply([&](const auto&... part) { (flatten(into, part), ...); }, parts);
}

// The module that a holder is made of, called with as many inputs as the case has.
template <typename Holder>
Made made(Holder holder) {
  const auto call = [holder](const Tensors& x) mutable {
    Tensors results;
    auto& module = *holder;
    if constexpr (requires { module.forward(x[0]); }) {
      if (x.size() == 1) return flatten(results, module.forward(x[0])), results;
    }
    if constexpr (requires { module.forward(x[0], x[1]); }) {
      if (x.size() == 2) return flatten(results, module.forward(x[0], x[1])), results;
    }
    if constexpr (requires { module.forward(x[0], x[1], x[2]); }) {
      if (x.size() == 3) return flatten(results, module.forward(x[0], x[1], x[2])), results;
    }
    if constexpr (requires { module.forward(x[0], std::tuple<Tensor, Tensor>(x[1], x[2])); }) {
      if (x.size() == 3) return flatten(results, module.forward(x[0], std::tuple<Tensor, Tensor>(x[1], x[2]))), results;
    }
    KEYWAY_CHECK(false, "{} takes no {} tensors", module.name(), x.size());
    return results;
  };
  return {holder.ptr(), call};
}

// A module of an options object.
template <typename Holder, typename Options>
Made made_of(Options options) {
  return made(Holder(std::move(options)));
}

// Tables of kinds.
Makers activations();
Makers layers();
Makers losses();
Makers pools_and_pads();
Makers sequences();

// Initial values: what fills a tensor.
using Init = std::function<Tensor(const Tensor& tensor, Given& given)>;
const std::map<std::string, Init>& inits();

// Runs an optimizer, with a schedule if the case has one; writes what comes out to `results`.
void run_optimizer(const Json& test_case, const nn::StateDict& tensors, nn::StateDict& results);
std::vector<std::string> optimizer_names();
std::vector<std::string> schedule_names();

}  // namespace keyway::inline v1::testing
