// The rules by which vmap and forward mode make the calls of an operator. Its entry names them: the generator holds an
// entry to what its rules ask for, and batching/ and forward/ have a function for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

struct TransformRule {
  std::string_view name;
  std::string_view arguments;      // those that the rule reads by name, with blanks between
  bool has_counterpart = false;    // whether it calls the operator that the entry's `counterpart` names
  std::string_view in_place = {};  // the rule of those overloads that write to arguments; empty: the same
};

// How vmap makes the calls of all examples at once.
inline constexpr TransformRule kVmapRules[] = {
    {"each", ""},       // one call for each example
    {"pointwise", ""},  // element by element; tensors are broadcast
    {"dims", ""},       // the batch is a dimension in front: arguments that name dimensions count one further
    {"new_dim", ""},    // the same, where the named dimension is one of the result
    {"shape", "self"},  // of a view, or of what is made after `self`: arguments that are a shape begin with the batch
    {"expand", "self size"},
    {"permute", "self dims"},
    {"squeeze", "self", true},  // the counterpart squeezes all dimensions but the batch
    {"as_strided", "self size stride storage_offset"},
    {"inplace_view", "self",
     true},                 // changes the geometry or the history of `self`: that of what the counterpart gives
    {"reduction", "self"},  // the same as dims, where to name no dimension is to name all
    {"whole_reduction", "self", true},  // of all elements: the counterpart reduces along dimensions
    {"matrices", ""},                   // of the last two dimensions; those in front are of batches anyway
    {"images", ""},                     // of images: the batch is merged with the dimension of images
    // Of few operators each, and of those like them.
    {"index", "self indices"},
    {"index_put", "self indices values"},
    {"along_dim", "self dim index"},
    {"mm", "self mat2"},
    {"bmm", "self mat2"},
    {"addmm", "self mat1 mat2 beta alpha"},
    {"baddbmm", "self batch1 batch2 beta alpha"},
    {"convolution", "input weight bias transposed groups"},
    {"layer_norm", "input normalized_shape weight bias"},
    {"batch_norm", ""},
    {"pad", "self pad"},
    {"pad_backward", "grad_output input_sizes"},
    {"embedding", "weight indices padding_idx scale_grad_by_freq sparse"},
    {"class_loss", "self target weight reduction ignore_index"},
    {"attention", "attn_mask"},
};

// How forward mode finds the tangents of results. But for the first two all are of operators with derivatives.
inline constexpr TransformRule kJvpRules[] = {
    {"general", ""},      // by two backwards of the call, or none if nothing has a derivative
    {"primal", ""},       // what is asked of the tensor itself: the call of the primal is all
    {"pointwise", ""},    // by one backward, if it is of real numbers: element by element
    {"linear", ""},       // the call of the tangents: linear in all arguments that have derivatives, taken together
    {"multilinear", ""},  // linear in each: the sum of calls with one of them replaced by its tangent
    {"sum", "self other alpha", false, "linear"},
    {"difference", "self other alpha", false, "linear"},
    {"as_strided", "self storage_offset"},
    {"added_product", "self beta", false, "general"},
    {"convolution", "input weight bias"},
};

namespace detail {
template <std::size_t n>
constexpr std::size_t rule_number(const TransformRule (&rules)[n], std::string_view name) {
  std::size_t i = 0;
  while (i < n && rules[i].name != name) ++i;
  return i;
}
}  // namespace detail

// The number of a rule; that of none is the number of rules.
constexpr std::uint8_t vmap_rule(std::string_view name) {
  return static_cast<std::uint8_t>(detail::rule_number(kVmapRules, name));
}
constexpr std::uint8_t jvp_rule(std::string_view name) {
  return static_cast<std::uint8_t>(detail::rule_number(kJvpRules, name));
}

}  // namespace keyway::inline v1
