#include <keyway/codegen/expr/formula_helpers.h>
#include <keyway/core/schema/literal.h>

namespace keyway::inline v1 {
namespace {

constexpr FunctionSchema kHelpers[] = {
    // numbers
    schema_literal<"conj(Scalar value) -> Scalar">,
    schema_literal<"conj(Tensor self) -> Tensor">,
    // attention
    schema_literal<
        "attention_double_backward(Tensor? grad_query, Tensor? grad_key, Tensor? grad_value, Tensor "
        "grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale, "
        "bool[] needs) -> (Tensor, Tensor, Tensor, Tensor, Tensor)">,
    schema_literal<
        "attention_mask_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool "
        "is_causal, float scale) -> Tensor">,
    // pointwise
    schema_literal<
        "binary_cross_entropy_target_backward(Tensor grad, Tensor self, Tensor? weight, int reduction) -> Tensor">,
    schema_literal<"clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor">,
    schema_literal<"clamp_backward(Tensor grad, Tensor self, Tensor? min, Tensor? max, bool[] needs) -> "
                   "(Tensor, Tensor, Tensor)">,
    schema_literal<"elu_double_backward(Tensor grad, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
                   "Tensor self_or_result) -> Tensor">,
    schema_literal<"gelu_backward(Tensor grad, Tensor self, str approximate='none') -> Tensor">,
    schema_literal<"gelu_double_backward(Tensor grad, Tensor grad_output, Tensor self, str approximate) -> Tensor">,
    schema_literal<"mish_double_backward(Tensor grad, Tensor self) -> Tensor">,
    schema_literal<"silu_double_backward(Tensor grad, Tensor grad_output, Tensor self) -> Tensor">,
    schema_literal<"special_i1_backward(Tensor grad, Tensor self, Tensor result) -> Tensor">,
    schema_literal<"special_i1e_backward(Tensor grad, Tensor self, Tensor result) -> Tensor">,
    schema_literal<"special_log_ndtr_backward(Tensor grad, Tensor self) -> Tensor">,
    schema_literal<"native_dropout_backward(Tensor grad, Tensor mask, float scale) -> Tensor">,
    schema_literal<"scaled(Tensor grad, Scalar factor) -> Tensor">,
    schema_literal<"product_like(Tensor a, Tensor b, int[] strides) -> Tensor">,
    schema_literal<"pow_backward_exponent(Tensor grad, Scalar self, Tensor exponent, Tensor result) -> Tensor">,
    schema_literal<"pow_backward_exponent(Tensor grad, Tensor self, Tensor exponent, Tensor result) -> Tensor">,
    schema_literal<"sgn_backward(Tensor grad, Tensor self, Tensor result) -> Tensor">,
    schema_literal<"sigmoid_backward(Tensor grad, Tensor result) -> Tensor">,
    schema_literal<"silu_backward(Tensor grad, Tensor self) -> Tensor">,
    schema_literal<"softplus_backward(Tensor grad, Tensor self, Scalar beta, Scalar threshold) -> Tensor">,
    schema_literal<"tanh_backward(Tensor grad, Tensor result) -> Tensor">,
    schema_literal<"threshold_backward(Tensor grad, Tensor self, Scalar threshold) -> Tensor">,
    // recurrent layers
    schema_literal<"lstm_layer_backward(Tensor? grad_output, Tensor? grad_cells, Tensor? grad_gates, Tensor hx, "
                   "Tensor cx, Tensor weight_hh, Tensor output, Tensor cells, Tensor gates, bool reverse, bool[] "
                   "needs) -> (Tensor, "
                   "Tensor, Tensor, Tensor)">,
    // reductions
    schema_literal<"amax_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, bool keepdim) -> Tensor">,
    schema_literal<"cumprod_backward(Tensor grad, Tensor self, int dim) -> Tensor">,
    schema_literal<"cumsum_backward(Tensor grad, int dim) -> Tensor">,
    schema_literal<"euclidean_norm_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, bool keepdim) "
                   "-> Tensor">,
    schema_literal<"expand_reduced(Tensor grad, int[] sizes, int[]? dim=None, bool keepdim=False) -> Tensor">,
    schema_literal<"logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor">,
    schema_literal<"mean_backward(Tensor grad, int[] sizes, int[]? dim=None, bool keepdim=False) -> Tensor">,
    schema_literal<"prod_backward(Tensor grad, Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor">,
    schema_literal<"std_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, Scalar? correction, "
                   "bool keepdim) -> Tensor">,
    schema_literal<"std_mean_backward(Tensor? grad_std, Tensor? grad_mean, Tensor self, Tensor std, int[]? dim, "
                   "Scalar? correction, bool keepdim) -> Tensor">,
    schema_literal<"sum_to(Tensor grad, int[] sizes) -> Tensor">,
    schema_literal<"value_selecting_backward(Tensor grad, int dim, Tensor indices, int[] sizes, bool keepdim=True) "
                   "-> Tensor">,
    schema_literal<"var_backward(Tensor grad, Tensor self, int[]? dim, Scalar? correction, bool keepdim) -> Tensor">,
    schema_literal<"var_mean_backward(Tensor? grad_var, Tensor? grad_mean, Tensor self, int[]? dim, "
                   "Scalar? correction, bool keepdim) -> Tensor">,
    // shapes
    schema_literal<"as_strided_backward(Tensor grad, int[] self_sizes, int[] self_strides, int self_offset, "
                   "int[] size, int[] stride, int? storage_offset) -> Tensor">,
    schema_literal<"cat_backward(Tensor grad, int[][] sizes, int dim) -> Tensor[]">,
    schema_literal<"constant_pad_nd_backward(Tensor grad, int[] pad) -> Tensor">,
    schema_literal<"diagonal_backward(Tensor grad, int[] sizes, int offset, int dim1, int dim2) -> Tensor">,
    schema_literal<"permute_backwards(Tensor grad, int[] dims) -> Tensor">,
    schema_literal<"select_backward(Tensor grad, int[] sizes, int dim, int index) -> Tensor">,
    schema_literal<"slice_backward(Tensor grad, int[] sizes, int dim, int? start, int? end, int step) -> Tensor">,
    schema_literal<"split_with_sizes_backward(Tensor[] grads, int[] sizes, int[] split_sizes, int dim) -> Tensor">,
    schema_literal<"unbind_backward(Tensor[] grads, int dim) -> Tensor">,
    schema_literal<"unfold_backward(Tensor grad, int[] sizes, int dim, int size, int step) -> Tensor">,
    // indexing
    schema_literal<"embedding_dense_double_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, "
                   "bool scale_grad_by_freq) -> Tensor">,
    schema_literal<"gather_backward(Tensor grad, int[] sizes, int dim, Tensor index) -> Tensor">,
    schema_literal<"index_add_source_backward(Tensor grad, int dim, Tensor index, int[] sizes, Scalar alpha) -> "
                   "Tensor">,
    schema_literal<"index_backward(Tensor grad, int[] sizes, Tensor?[] indices) -> Tensor">,
    schema_literal<"index_copy_backward(Tensor grad, int dim, Tensor index) -> Tensor">,
    schema_literal<"index_put_backward(Tensor grad, Tensor?[] indices, bool accumulate) -> Tensor">,
    schema_literal<"index_select_backward(Tensor grad, int[] sizes, int dim, Tensor index) -> Tensor">,
    schema_literal<"scatter_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor src, str reduce, "
                   "bool include_self, Tensor result) -> (Tensor, Tensor)">,
    schema_literal<"scatter_src_backward(Tensor grad, int dim, Tensor index, int[] sizes) -> Tensor">,
    // decompositions of matrices
    schema_literal<"linalg_cholesky_backward(Tensor grad, Tensor L, bool upper) -> Tensor">,
    schema_literal<"linalg_det_backward(Tensor grad, Tensor A, Tensor det, Tensor LU, Tensor pivots) -> Tensor">,
    schema_literal<"linalg_eig_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor A, Tensor values, "
                   "Tensor vectors, bool compute_v) -> Tensor">,
    schema_literal<"linalg_eigh_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor values, Tensor vectors, "
                   "bool compute_v) -> Tensor">,
    schema_literal<"linalg_inv_backward(Tensor grad, Tensor inverse) -> Tensor">,
    schema_literal<"linalg_lu_backward(Tensor grad, Tensor LU, Tensor pivots) -> Tensor">,
    schema_literal<"linalg_matrix_exp_backward(Tensor grad, Tensor self) -> Tensor">,
    schema_literal<"linalg_pinv_backward(Tensor grad, Tensor A, Tensor inverse) -> Tensor">,
    schema_literal<"linalg_qr_backward(Tensor? grad_Q, Tensor? grad_R, Tensor A, Tensor Q, Tensor R, str mode) -> "
                   "Tensor">,
    schema_literal<"linalg_solve_backward(Tensor grad, Tensor A, Tensor result, Tensor LU, Tensor pivots, bool left, "
                   "bool[] needs) -> (Tensor, Tensor)">,
    schema_literal<"linalg_solve_triangular_backward(Tensor grad, Tensor self, Tensor result, bool upper, bool left, "
                   "bool unitriangular, bool[] needs) -> (Tensor, Tensor)">,
    schema_literal<"linalg_svd_backward(Tensor? grad_U, Tensor? grad_S, Tensor? grad_Vh, Tensor U, Tensor S, "
                   "Tensor Vh, bool compute_uv) -> Tensor">,
    // neural networks
    schema_literal<"convolution_double_backward(Tensor? grad_grad_input, Tensor? grad_grad_weight, "
                   "Tensor? grad_grad_bias, Tensor grad_output, Tensor input, Tensor weight, int[] stride, "
                   "int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, bool[] needs) "
                   "-> (Tensor, Tensor, Tensor)">,
    schema_literal<"cross_entropy_backward_grad(Tensor grad, Tensor self, Tensor target, Tensor? weight, int "
                   "reduction, int ignore_index, Tensor total_weight) -> Tensor">,
    schema_literal<"cross_entropy_double_backward(Tensor grad, Tensor grad_output, Tensor self, Tensor target, "
                   "Tensor? weight, int reduction, int ignore_index, Tensor total_weight) -> Tensor">,
    schema_literal<"log_softmax_backward_grad(Tensor grad, int dim, Tensor output) -> Tensor">,
    schema_literal<"log_softmax_double_backward(Tensor grad, Tensor grad_output, int dim, Tensor output) -> Tensor">,
    schema_literal<"softmax_backward_grad(Tensor grad, int dim, Tensor output) -> Tensor">,
    schema_literal<"softmax_double_backward(Tensor grad, Tensor grad_output, int dim, Tensor output) -> Tensor">,
    schema_literal<"batch_norm_double_backward(Tensor? grad_input, Tensor? grad_weight, Tensor? grad_bias, Tensor "
                   "grad_out, Tensor input, Tensor mean, Tensor var, Tensor? weight, float eps, bool[] needs) -> "
                   "(Tensor, Tensor, Tensor)">,
    schema_literal<"batch_norm_backward(Tensor? grad_out, Tensor? grad_mean, Tensor? grad_var, Tensor input, Tensor "
                   "mean, Tensor var, Tensor? weight, float eps, bool[] needs) -> (Tensor, Tensor, Tensor)">,
    schema_literal<"layer_norm_double_backward(Tensor? grad_input, Tensor? grad_weight, Tensor? grad_bias, Tensor "
                   "grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, bool[] "
                   "needs) -> (Tensor, Tensor, Tensor)">,
    schema_literal<"max_pool_double_backward(Tensor grad, Tensor indices, int dims) -> Tensor">,
    schema_literal<"native_layer_norm_backward(Tensor grad, Tensor input, int[] normalized_shape, Tensor mean, "
                   "Tensor rstd, Tensor? weight, Tensor? bias, bool[] needs) -> (Tensor, Tensor, Tensor)">,
    schema_literal<"nll_loss_backward(Tensor grad, Tensor self, Tensor target, Tensor? weight, int reduction, "
                   "int ignore_index, Tensor total_weight) -> Tensor">,
};

}  // namespace

std::vector<Signature> helpers_named(std::string_view name) {
  std::vector<Signature> found;
  for (const FunctionSchema& schema : kHelpers)
    if (schema.name() == name) found.push_back(signature_of(schema));
  return found;
}

std::vector<std::string> known_helpers() {
  std::vector<std::string> names;
  for (const FunctionSchema& schema : kHelpers)
    if (names.empty() || names.back() != schema.name()) names.emplace_back(schema.name());
  return names;
}

}  // namespace keyway::inline v1
