#include <keyway/nn/modules/batch_norm.h>
#include <keyway/nn/modules/conv.h>
#include <keyway/nn/modules/distance.h>
#include <keyway/nn/modules/embedding.h>
#include <keyway/nn/modules/flatten.h>
#include <keyway/nn/modules/group_norm.h>
#include <keyway/nn/modules/layer_norm.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/local_response_norm.h>
#include <keyway/nn/modules/rms_norm.h>
#include <keyway/nn/modules/vision.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

using Integers = std::vector<std::int64_t>;

template <typename Holder>
Maker batch_norm() {
  return [](Given& given) {
    nn::BatchNormOptions options(given.integer("num_features"));
    READ(eps), READ(momentum), READ(affine), READ(track_running_stats), READ(bias);
    return made_of<Holder>(options);
  };
}

template <typename Holder>
Maker instance_norm() {
  return [](Given& given) {
    nn::InstanceNormOptions options(given.integer("num_features"));
    READ(eps), READ(momentum), READ(affine), READ(track_running_stats), READ(bias);
    return made_of<Holder>(options);
  };
}

template <typename Holder, std::size_t D>
Maker conv() {
  return [](Given& given) {
    nn::ConvOptions<D> options(given.integer("in_channels"), given.integer("out_channels"),
                               given.get<nn::ExpandingArray<D>>("kernel_size"));
    READ(stride), READ(padding), READ(dilation), READ(groups), READ(bias), READ(padding_mode);
    return made_of<Holder>(options);
  };
}

template <typename Holder, std::size_t D>
Maker conv_transpose() {
  return [](Given& given) {
    nn::ConvTransposeOptions<D> options(given.integer("in_channels"), given.integer("out_channels"),
                                        given.get<nn::ExpandingArray<D>>("kernel_size"));
    READ(stride), READ(padding), READ(output_padding), READ(groups), READ(bias), READ(dilation), READ(padding_mode);
    return made_of<Holder>(options);
  };
}

Made embedding(Given& given) {
  nn::EmbeddingOptions options(given.integer("num_embeddings"), given.integer("embedding_dim"));
  READ(padding_idx), READ(max_norm), READ(norm_type), READ(scale_grad_by_freq);
  return made_of<nn::Embedding>(options);
}

Made embedding_bag(Given& given) {
  nn::EmbeddingBagOptions options(given.integer("num_embeddings"), given.integer("embedding_dim"));
  READ(padding_idx), READ(max_norm), READ(norm_type), READ(scale_grad_by_freq), READ(mode), READ(include_last_offset);
  return made_of<nn::EmbeddingBag>(options);
}

Made upsample(Given& given) {
  nn::UpsampleOptions options;
  READ(size), READ(scale_factor), READ(mode), READ(align_corners), READ(recompute_scale_factor);
  return made_of<nn::Upsample>(options);
}

Made unfold(Given& given) {
  nn::UnfoldOptions options(given.get<nn::ExpandingArray<2>>("kernel_size"));
  READ(dilation), READ(padding), READ(stride);
  return made_of<nn::Unfold>(options);
}

Made fold(Given& given) {
  nn::FoldOptions options(given.get<nn::ExpandingArray<2>>("output_size"),
                          given.get<nn::ExpandingArray<2>>("kernel_size"));
  READ(dilation), READ(padding), READ(stride);
  return made_of<nn::Fold>(options);
}

template <typename Holder, typename Options>
Maker response_norm() {
  return [](Given& given) {
    Options options(given.integer("size"));
    READ(alpha), READ(beta), READ(k);
    return made_of<Holder>(options);
  };
}

Makers norms() {
  using namespace nn;
  return {
      {"BatchNorm1d", batch_norm<BatchNorm1d>()},
      {"BatchNorm2d", batch_norm<BatchNorm2d>()},
      {"BatchNorm3d", batch_norm<BatchNorm3d>()},
      {"InstanceNorm1d", instance_norm<InstanceNorm1d>()},
      {"InstanceNorm2d", instance_norm<InstanceNorm2d>()},
      {"InstanceNorm3d", instance_norm<InstanceNorm3d>()},
      {"LocalResponseNorm", response_norm<LocalResponseNorm, LocalResponseNormOptions>()},
      {"CrossMapLRN2d", response_norm<CrossMapLRN2d, CrossMapLRN2dOptions>()},
      {"GroupNorm",
       [](Given& given) {
         GroupNormOptions options(given.integer("num_groups"), given.integer("num_channels"));
         READ(eps), READ(affine), READ(bias);
         return made_of<GroupNorm>(options);
       }},
      {"LayerNorm",
       [](Given& given) {
         LayerNormOptions options(given.get<Integers>("normalized_shape"));
         READ(eps), READ(elementwise_affine), READ(bias);
         return made_of<LayerNorm>(options);
       }},
      {"RMSNorm",
       [](Given& given) {
         RMSNormOptions options(given.get<Integers>("normalized_shape"));
         READ(eps), READ(elementwise_affine);
         return made_of<RMSNorm>(options);
       }},
  };
}

}  // namespace

Makers layers() {
  using namespace nn;
  Makers all = {
      {"Identity", [](Given&) { return made(Identity()); }},
      {"Linear",
       [](Given& given) {
         LinearOptions options(given.integer("in_features"), given.integer("out_features"));
         READ(bias);
         return made_of<Linear>(options);
       }},
      {"Bilinear",
       [](Given& given) {
         BilinearOptions options(given.integer("in1_features"), given.integer("in2_features"),
                                 given.integer("out_features"));
         READ(bias);
         return made_of<Bilinear>(options);
       }},
      {"Flatten",
       [](Given& given) {
         FlattenOptions options;
         READ(start_dim), READ(end_dim);
         return made_of<Flatten>(options);
       }},
      {"Unflatten",
       [](Given& given) { return made(Unflatten(given.integer("dim"), given.get<Integers>("unflattened_size"))); }},
      {"CosineSimilarity",
       [](Given& given) {
         CosineSimilarityOptions options;
         READ(dim), READ(eps);
         return made_of<CosineSimilarity>(options);
       }},
      {"PairwiseDistance",
       [](Given& given) {
         PairwiseDistanceOptions options;
         READ(p), READ(eps), READ(keepdim);
         return made_of<PairwiseDistance>(options);
       }},
      {"Embedding", embedding},
      {"EmbeddingBag", embedding_bag},
      {"PixelShuffle", [](Given& given) { return made(PixelShuffle(given.integer("upscale_factor"))); }},
      {"PixelUnshuffle", [](Given& given) { return made(PixelUnshuffle(given.integer("downscale_factor"))); }},
      {"ChannelShuffle", [](Given& given) { return made(ChannelShuffle(given.integer("groups"))); }},
      {"Unfold", unfold},
      {"Fold", fold},
      {"Upsample", upsample},
      {"Conv1d", conv<Conv1d, 1>()},
      {"Conv2d", conv<Conv2d, 2>()},
      {"Conv3d", conv<Conv3d, 3>()},
      {"ConvTranspose1d", conv_transpose<ConvTranspose1d, 1>()},
      {"ConvTranspose2d", conv_transpose<ConvTranspose2d, 2>()},
      {"ConvTranspose3d", conv_transpose<ConvTranspose3d, 3>()},
  };
  all.merge(norms());
  return all;
}

}  // namespace keyway::inline v1::testing
