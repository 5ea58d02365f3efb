// What a Program consists of.
#pragma once

#include <keyway/graph/parse.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/program.h>

#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

struct Program::Parts {
  // What is kept for some sizes of the arguments.
  struct Kept {
    std::vector<std::int64_t> sizes;
    Graph calls;  // the program as it is written
    std::vector<std::shared_ptr<Plan>> plans;
    bool is_followed = true;  // whether there are plans
  };

  // Throws keyway::Error(Parse) for another state than the signature has.
  Parts(std::string its_text, Signature its_signature, nn::StateDict its_state);

  std::shared_ptr<Kept> kept_for(const Program& program, ArrayRef<Tensor> arguments);

  std::string text;
  nn::StateDict state;
  Signature signature;
  std::size_t argument_count = 0;
  nn::Metadata notes;
  std::vector<std::shared_ptr<Kept>> kept;  // the one that was used last first
};

}  // namespace keyway::inline v1::graph
