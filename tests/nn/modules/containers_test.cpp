#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/module_dict.h>
#include <keyway/nn/modules/parameter_containers.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("a dict of modules finds them by name, and names their parameters by it") {
  nn::ModuleDict parts;
  parts->insert("first", nn::Linear(3, 2));
  CHECK(parts->size() == 1);
  CHECK(parts->contains("first"));
  CHECK(parts->at<nn::LinearImpl>("first").options.out_features() == 2);
  CHECK(parts->state_dict().keys() == std::vector<std::string>{"first.weight", "first.bias"});
  CHECK(error_of([&] { parts->at("second"); }) == "there is no 'second'");
  CHECK(error_of([&] { parts->at<nn::SequentialImpl>("first"); }).find("module 'first'") == 0);
  CHECK(error_of([&] { parts->insert("first", nn::Linear(1, 1)); }).find("has a part 'first' already") !=
        std::string::npos);
}

TEST_CASE("lists and dicts of parameters are parameters of their module") {
  nn::ParameterList list(std::vector<Tensor>{zeros({2}), zeros({3})});
  list->append(zeros({4}));
  CHECK(list->size() == 3);
  CHECK((*list)[2].sizes() == IntArrayRef({4}));
  CHECK((*list)[0].requires_grad());
  CHECK(list->state_dict().keys() == std::vector<std::string>{"0", "1", "2"});
  nn::ParameterDict dict;
  dict->insert("scale", zeros({2}));
  CHECK(dict->contains("scale"));
  CHECK((*dict)["scale"].sizes() == IntArrayRef({2}));
  CHECK(error_of([&] { dict->insert("classes", zeros({2}, kLong)); }).find("cannot have a gradient") !=
        std::string::npos);
}

TEST_CASE("lists and dicts of parameters may hold one tensor twice") {
  const Tensor shared = zeros({2}), other = zeros({3});
  nn::ParameterList list(std::vector<Tensor>{shared, shared});
  list->append(other);
  CHECK(list->size() == 3);
  CHECK((*list)[1].impl() == shared.impl());
  CHECK((*list)[2].impl() == other.impl());
  CHECK(list->parameters().size() == 2);
  nn::ParameterDict dict;
  dict->insert("first", shared);
  dict->insert("second", shared);
  CHECK(dict->size() == 2);
  CHECK(dict->contains("second"));
  CHECK((*dict)["second"].impl() == shared.impl());
}
