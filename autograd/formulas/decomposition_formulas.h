// Helpers of the derivatives of decompositions of matrices, and of what is made of them. `grad`s of results that were
// not used are undefined.
//
// Sources: Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; for complex matrices Boeddeker et al., "On the computation of complex-valued gradients",
// 2017, and Wan and Zhang, "Automatic differentiation for complex valued SVD", 2019; for wide and tall matrices Walter,
// Lehmann and Lamour, "On evaluating higher-order derivatives of the QR decomposition", 2012.
#pragma once

#include <keyway/autograd/node.h>

#include <string_view>
#include <tuple>

namespace keyway::inline v1::autograd {

KEYWAY_API Tensor linalg_cholesky_backward(const Tensor& grad, const Tensor& L, bool upper);
KEYWAY_API Tensor linalg_lu_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots);
KEYWAY_API Tensor linalg_qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& A, const Tensor& Q,
                                     const Tensor& R, std::string_view mode);
KEYWAY_API Tensor linalg_eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                                       const Tensor& vectors, bool compute_v);
KEYWAY_API Tensor linalg_eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& A,
                                      const Tensor& values, const Tensor& vectors, bool compute_v);
KEYWAY_API Tensor linalg_svd_backward(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh,
                                      const Tensor& U, const Tensor& S, const Tensor& Vh, bool compute_uv);

KEYWAY_API Tensor linalg_det_backward(const Tensor& grad, const Tensor& A, const Tensor& det, const Tensor& LU,
                                      const Tensor& pivots);
KEYWAY_API Tensor linalg_inv_backward(const Tensor& grad, const Tensor& inverse);
KEYWAY_API Tensor linalg_matrix_exp_backward(const Tensor& grad, const Tensor& self);
KEYWAY_API Tensor linalg_pinv_backward(const Tensor& grad, const Tensor& A, const Tensor& inverse);
// Of A and of B, those that are needed.
KEYWAY_API std::tuple<Tensor, Tensor> linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& result,
                                                            const Tensor& LU, const Tensor& pivots, bool left,
                                                            ArrayRef<bool> needs);
KEYWAY_API std::tuple<Tensor, Tensor> linalg_solve_triangular_backward(const Tensor& grad, const Tensor& A,
                                                                       const Tensor& result, bool upper, bool left,
                                                                       bool unitriangular, ArrayRef<bool> needs);

}  // namespace keyway::inline v1::autograd
