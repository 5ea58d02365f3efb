// LAPACK: what kernels of decompositions call, for float, double, complex<float> and complex<double>. The library,
// liblapack.so.3 or what KEYWAY_LAPACK names, is opened when the first of them is called; where it is missing they
// throw keyway::Error(NotImplemented), which says what to install.
//
// Matrices are column-major (row_stride 1), and none is empty. An `info` of 0 says that all went well; what others mean
// is LAPACK's, see the Users' Guide (Anderson et al., 1999).
#pragma once

#include <keyway/backends/cpu/matrix.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/ops/functors/opmath.h>

#include <cstdint>

namespace keyway::inline v1::lapack {

enum class Triangle : char { Lower = 'L', Upper = 'U' };
constexpr Triangle triangle(bool upper) { return upper ? Triangle::Upper : Triangle::Lower; }

inline constexpr DtypeSet kTypes{kFloat, kDouble, kComplexFloat, kComplexDouble};

// A = L L^H or U^H U, in the place of that triangle; the other one is not touched. `info` i: the first i x i elements
// are not positive-definite.
template <typename T>
std::int32_t potrf(Triangle triangle, Matrix<T> a);
// A = P L U. Row i was interchanged with row pivots[i], counted from 1. `info` i: U(i, i) is 0.
template <typename T>
std::int32_t getrf(Matrix<T> a, std::int32_t* pivots);
// A = Q R: R, and below it the vectors of the reflectors whose product is Q; `tau` are their factors.
template <typename T>
void geqrf(Matrix<T> a, T* tau);
// Eigenvalues of a Hermitian matrix, of which one triangle is read, in ascending order; its eigenvectors take its
// place, if wanted.
template <typename T>
std::int32_t syevd(Triangle triangle, bool vectors, Matrix<T> a, Real<T>* values);
// A = U diag(s) V^H, s descending; destroys A. U and V^H have as many columns and rows as there is room in them;
// none, where their data is null.
template <typename T>
std::int32_t gesdd(Matrix<T> a, Real<T>* s, Matrix<T> u, Matrix<T> vh);
// Eigenvalues, and the right eigenvectors as columns where `vectors` is not null, of length 1; destroys A.
template <typename T>
std::int32_t geev(Matrix<T> a, complex<Real<T>>* values, complex<Real<T>>* vectors);

}  // namespace keyway::inline v1::lapack
