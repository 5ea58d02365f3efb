#include <keyway/tests/ops/gradient_exceptions.h>

#include <algorithm>
#include <iterator>

namespace keyway::inline v1::testing {

namespace {

struct Exception {
  std::string_view op;
  std::string_view argument;  // or a part of the call; empty for all
  std::string_view reason;
};

constexpr Exception kConstants[] = {
    {"keyway::_batch_norm_backward", "input", "its gradient counts that mean and var change with it"},
    {"keyway::_batch_norm_backward", "mean", "a function of the input"},
    {"keyway::_batch_norm_backward", "var", "a function of the input"},
    {"keyway::_cross_entropy_backward", "grad_output", "its gradient takes normalizer as that of self"},
    {"keyway::_cross_entropy_backward", "normalizer", "a function of self"},
    {"keyway::_cross_entropy_backward", "self", "its gradient counts that normalizer changes with it"},
    {"keyway::_cross_entropy_backward", "total_weight", "a result of _cross_entropy_forward, no input of it"},
    {"keyway::_cross_entropy_backward", "weight", "as in cross_entropy_loss"},
    {"keyway::_cross_entropy_forward", "weight", "as in cross_entropy_loss"},
    {"keyway::_scaled_dot_product_attention_backward", "", "gradients count that output and logsumexp change too"},
    {"keyway::binary_cross_entropy", "weight", "has no derivative in PyTorch"},
    {"keyway::cross_entropy_loss", "weight", "weights of classes have no derivative in nll_loss_forward"},
    {"keyway::igamma", "self", "has no derivative in PyTorch"},
    {"keyway::igamma.out", "self", "as igamma"},
    {"keyway::igamma_", "self", "as igamma"},
    {"keyway::igammac", "self", "as igamma"},
    {"keyway::igammac.out", "self", "as igamma"},
    {"keyway::igammac_", "self", "as igamma"},
    {"keyway::nll_loss", "weight", "as in cross_entropy_loss"},
    {"keyway::nll_loss_backward", "weight", "as in cross_entropy_loss"},
    {"keyway::nll_loss_backward", "total_weight", "a result of nll_loss_forward, no input of it"},
    {"keyway::nll_loss_forward", "weight", "as in cross_entropy_loss"},
    {"keyway::nll_loss_nd", "weight", "as in cross_entropy_loss"},
    {"keyway::native_layer_norm_backward", "input", "its gradient counts that mean and rstd change with it"},
    {"keyway::native_layer_norm_backward", "mean", "a function of the input"},
    {"keyway::native_layer_norm_backward", "rstd", "a function of the input"},
    {"keyway::special_zeta", "self", "has no derivative in PyTorch"},
    {"keyway::special_zeta.out", "self", "as special_zeta"},
};

constexpr Exception kWithoutGradient[] = {
    {"keyway::_cross_entropy_backward", "", "tested as the gradient of _cross_entropy_forward"},
    {"keyway::_scaled_dot_product_attention_backward", "", "tested as that of _scaled_dot_product_attention_forward"},
    {"keyway::allclose", "", "the result is a bool"},
    {"keyway::argsort", "", "the result is integers"},
    {"keyway::argsort.stable", "", "the result is integers"},
    {"keyway::bernoulli.p", "", "a constant"},
    {"keyway::bitwise_and.Scalar", "", "the result is integers"},
    {"keyway::bitwise_and.Scalar_Tensor", "", "the result is integers"},
    {"keyway::bitwise_left_shift.Scalar_Tensor", "", "the result is integers"},
    {"keyway::bitwise_left_shift.Tensor_Scalar", "", "the result is integers"},
    {"keyway::bitwise_or.Scalar", "", "the result is integers"},
    {"keyway::bitwise_or.Scalar_Tensor", "", "the result is integers"},
    {"keyway::bitwise_right_shift.Scalar_Tensor", "", "the result is integers"},
    {"keyway::bitwise_right_shift.Tensor_Scalar", "", "the result is integers"},
    {"keyway::bitwise_xor.Scalar", "", "the result is integers"},
    {"keyway::bitwise_xor.Scalar_Tensor", "", "the result is integers"},
    {"keyway::count_nonzero", "", "the result is integers"},
    {"keyway::count_nonzero.dim_IntList", "", "the result is integers"},
    {"keyway::equal", "", "the result is a bool"},
    {"keyway::full_like", "", "a constant"},
    {"keyway::isclose", "", "the result is bools"},
    {"keyway::is_pinned", "", "the result is a bool"},
    {"keyway::isfinite", "", "the result is bools"},
    {"keyway::isneginf", "", "the result is bools"},
    {"keyway::isposinf", "", "the result is bools"},
    {"keyway::item", "", "the result is a number"},
    {"keyway::linalg_matrix_rank", "", "the result is integers"},
    {"keyway::linalg_matrix_rank.atol_rtol_float", "", "the result is integers"},
    {"keyway::linalg_matrix_rank.atol_rtol_tensor", "", "the result is integers"},
    {"keyway::new_full", "", "a constant"},
    {"keyway::new_ones", "", "a constant"},
    {"keyway::new_zeros", "", "a constant"},
    {"keyway::ones_like", "", "a constant"},
    {"keyway::rand_like", "", "a constant"},
    {"keyway::randint_like", "", "a constant"},
    {"keyway::randint_like.low_dtype", "", "a constant"},
    {"keyway::randn_like", "", "a constant"},
    {"keyway::repeat_interleave.Tensor", "", "the result is integers"},
    {"keyway::signbit", "", "the result is bools"},
    {"keyway::sym_is_contiguous", "", "the result is a bool"},
    {"keyway::sym_numel", "", "the result is a number"},
    {"keyway::sym_size.int", "", "the result is a number"},
    {"keyway::sym_storage_offset", "", "the result is a number"},
    {"keyway::sym_stride.int", "", "the result is a number"},
    {"keyway::where", "", "the result is integers"},
    {"keyway::where.Scalar", "", "chooses between numbers"},
    {"keyway::zeros_like", "", "a constant"},
};

constexpr Exception kExempt[] = {
    {"keyway::_fft_c2c", "", "as imag: tests/python/test_fft.py has the gradients"},
    {"keyway::_fft_c2r", "", "as _fft_c2c"},
    {"keyway::_fft_half", "", "as _fft_c2c"},
    {"keyway::_fft_r2c", "", "as _fft_c2c"},
    {"keyway::_amp_foreach_non_finite_check_and_unscale_", "", "changes a list of gradients"},
    {"keyway::_amp_update_scale_", "", "changes a scale, and refuses one that requires grad"},
    {"keyway::_foreach_add_.Scalar", "", "changes lists, and refuses tensors that require grad"},
    {"keyway::_fused_adam_", "", "as _foreach_add_"},
    {"keyway::_fused_adamw_", "", "as _foreach_add_"},
    {"keyway::_fused_sgd_", "", "as _foreach_add_"},
    {"keyway::as_strided_", "", "reads what memory there is; the gradients are those of as_strided"},
    {"keyway::data", "", "leaves the graph, as it is meant to"},
    {"keyway::detach", "", "leaves the graph, as it is meant to"},
    {"keyway::detach_", "", "leaves the graph, as it is meant to"},
    {"keyway::imag", "", "complex: tests/python/test_shapes.py has the gradients"},
    {"keyway::polar", "", "as imag"},
    {"keyway::resize_", "", "refuses tensors that require grad"},
    {"keyway::retains_grad", "", "asks of the graph"},
    {"keyway::set_data", "", "has no result"},
    {"keyway::view.dtype", "", "reads bits, not numbers"},
    {"keyway::view_as_complex", "", "as imag"},
    {"keyway::view_as_real", "", "as imag"},
};

constexpr Exception kOtherGradient[] = {
    {"keyway::embedding", "[1, 1]], 0)", "the row padding_idx has no gradient, though it is read"},
    {"keyway::embedding", "-1, True)", "the gradient is scaled by how often a row is read"},
    {"keyway::histc", "", "counts jump where an element enters another part"},
    {"keyway::normal.Tensor_Tensor", "", "numbers that are drawn have no gradient, whatever they are drawn from"},
    {"keyway::normal.Tensor_float", "", "as normal.Tensor_Tensor"},
    {"keyway::normal.float_Tensor", "", "as normal.Tensor_Tensor"},
};

// Decompositions and equations: what the suite makes of samples are mostly singular matrices, or ones that are not
// Hermitian, which have other gradients than differences or none. tests/python/test_linalg.py has theirs.
constexpr std::string_view kOfMatrices[] = {
    "_linalg_cholesky",
    "_linalg_det",
    "_linalg_eig",
    "_linalg_eigh",
    "_linalg_lu",
    "_linalg_solve_ex",
    "_linalg_svd",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "geqrf",
    "inverse",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_det",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_solve",
    "linalg_lu_factor_ex",
    "linalg_pinv",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_svd",
    "linalg_svdvals",
    "logdet",
    "lu_solve",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
};

template <std::size_t N>
bool lists(const Exception (&exceptions)[N], std::string_view op, std::string_view text) {
  return std::any_of(exceptions, exceptions + N, [&](const Exception& exception) {
    return exception.op == op && text.find(exception.argument) != std::string_view::npos;
  });
}

}  // namespace

// "keyway::linalg_pinv.atol_rtol_float" is of "linalg_pinv".
bool is_of_matrices(std::string_view op) {
  constexpr std::string_view kOwn = "keyway::";
  if (!op.starts_with(kOwn)) return false;
  op.remove_prefix(kOwn.size());
  const std::string_view name = op.substr(0, op.find('.'));
  return std::find(std::begin(kOfMatrices), std::end(kOfMatrices), name) != std::end(kOfMatrices);
}

bool is_constant(std::string_view op, std::string_view argument) { return lists(kConstants, op, argument); }
bool is_without_gradient(std::string_view op) { return lists(kWithoutGradient, op, {}); }
bool is_exempt(std::string_view op) {
  return lists(kExempt, op, {}) || is_of_matrices(op) || has_word(KEYWAY_NO_GRADCHECK, op);
}
bool has_other_gradient(const Sample& sample) { return lists(kOtherGradient, sample.entry->op, sample.text); }

}  // namespace keyway::inline v1::testing
