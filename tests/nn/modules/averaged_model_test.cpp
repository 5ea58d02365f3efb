#include <keyway/nn/modules/averaged_model.h>
#include <keyway/nn/modules/batch_norm.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::some_tensor;
using keyway::testing::values_of;

namespace {

void fill(const nn::Linear& model, double value) {
  const NoGradGuard no_grad;
  model->weight.fill_(value);
}

}  // namespace

TEST_CASE("an averaged model is the mean of the models so far, or decays from one to the next") {
  nn::Linear model(2, 1);
  optim::AveragedModel mean(std::make_shared<nn::LinearImpl>(2, 1), *model);
  optim::AveragedModel decaying(std::make_shared<nn::LinearImpl>(2, 1), *model,
                                optim::AveragedModelOptions().avg_fn(optim::get_ema_avg_fn(0.75)));
  for (const double value : {1.0, 2.0, 6.0}) {
    fill(model, value);
    mean->update_parameters(*model);
    decaying->update_parameters(*model);
  }
  CHECK(values_of(mean->state_dict()["module.weight"]) == std::vector<double>{3, 3});
  CHECK(values_of(decaying->state_dict()["module.weight"])[0] == Approx(0.75 * (0.75 * 1 + 0.25 * 2) + 0.25 * 6));
  CHECK(mean->n_averaged.item<std::int64_t>() == 3);
  CHECK(error_of([] { optim::get_ema_avg_fn(1.5); }) == "get_ema_avg_fn: the decay is 1.5, but must be in [0, 1]");
}

TEST_CASE("update_bn makes statistics those of all batches, each counting alike") {
  nn::BatchNorm1d norm(nn::BatchNormOptions(3).momentum(0.5));
  nn::Sequential model(norm);
  model->eval();
  const std::vector<Tensor> batches = {some_tensor({4, 3}, 1, kFloat), some_tensor({4, 3}, 2, kFloat)};
  model->forward(batches[0]);
  optim::update_bn(batches, *model, [&](const Tensor& batch) { model->forward(batch); });
  const Tensor expected = cat({batches[0], batches[1]}).mean(IntArrayRef({0}));
  CHECK((norm->running_mean - expected).abs().max().item<double>() < 1e-6);
  CHECK(norm->options.momentum() == 0.5);
  CHECK(!model->is_training());
}

TEST_CASE("update_bn leaves the statistics of instance normalisations") {
  nn::BatchNorm1d batch(3);
  nn::InstanceNorm1d instance(nn::InstanceNormOptions(3).track_running_stats(true));
  nn::Sequential model(instance, batch);
  const Tensor input = some_tensor({4, 3, 2}, 1, kFloat);
  optim::update_bn({input}, *model, [&](const Tensor& given) { model->forward(given); });
  CHECK(instance->options.momentum() == 0.1);
  const Tensor expected = input.mean(IntArrayRef({0, 2})).mul(0.1);  // one step of the momentum from zeros
  CHECK((instance->running_mean - expected).abs().max().item<double>() < 1e-6);
}

TEST_CASE("a batch that throws leaves momenta and the mode of update_bn's model as they were") {
  nn::BatchNorm1d norm(nn::BatchNormOptions(3).momentum(0.5));
  nn::Sequential model(norm);
  model->eval();
  const auto call = [](const Tensor&) { KEYWAY_CHECK(false, "no batch"); };
  CHECK(error_of([&] { optim::update_bn({zeros({2, 3})}, *model, call); }) == "no batch");
  CHECK(norm->options.momentum() == 0.5);
  CHECK(!model->is_training());
}

TEST_CASE("an averaged model refuses a model with other buffers or shapes, and stays as it is") {
  nn::Sequential model(nn::Linear(2, 3));
  optim::AveragedModel mean(std::make_shared<nn::SequentialImpl>(nn::Linear(2, 3)), *model);
  mean->update_parameters(*model);
  const std::vector<double> before = values_of(mean->state_dict()["module.0.weight"]);
  nn::Sequential more(nn::Linear(2, 3), nn::BatchNorm1d(nn::BatchNormOptions(3).affine(false)));
  CHECK(error_of([&] { mean->update_parameters(*more); }) == "AveragedModel: the model has 3 buffers, not 0");
  nn::Sequential other(nn::Linear(2, 4));
  CHECK(error_of([&] { mean->update_parameters(*other); }) ==
        "AveragedModel: number 0 of the model's parameters has shape [4, 2], not [3, 2]");
  CHECK(values_of(mean->state_dict()["module.0.weight"]) == before);
  CHECK(mean->n_averaged.item<std::int64_t>() == 1);
}
