#include <keyway/backends/cpu/lapack.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/shared_library.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>

namespace keyway::inline v1::lapack {

namespace {

// --- The library. Fortran takes everything by reference, and the lengths of texts behind all arguments.

using Int = std::int32_t;
using Length = std::size_t;

template <typename T>
struct Functions {
  using R = Real<T>;
  void (*potrf)(const char* uplo, const Int* n, T* a, const Int* lda, Int* info, Length) = nullptr;
  void (*getrf)(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info) = nullptr;
  void (*geqrf)(const Int* m, const Int* n, T* a, const Int* lda, T* tau, T* work, const Int* lwork,
                Int* info) = nullptr;
  // Those of complex numbers take more workspace, and give complex results where the real ones give two lists.
  void (*syevd)(const char* jobz, const char* uplo, const Int* n, T* a, const Int* lda, R* w, T* work, const Int* lwork,
                Int* iwork, const Int* liwork, Int* info, Length, Length) = nullptr;
  void (*heevd)(const char* jobz, const char* uplo, const Int* n, T* a, const Int* lda, R* w, T* work, const Int* lwork,
                R* rwork, const Int* lrwork, Int* iwork, const Int* liwork, Int* info, Length, Length) = nullptr;
  void (*gesdd)(const char* jobz, const Int* m, const Int* n, T* a, const Int* lda, R* s, T* u, const Int* ldu, T* vt,
                const Int* ldvt, T* work, const Int* lwork, Int* iwork, Int* info, Length) = nullptr;
  void (*complex_gesdd)(const char* jobz, const Int* m, const Int* n, T* a, const Int* lda, R* s, T* u, const Int* ldu,
                        T* vt, const Int* ldvt, T* work, const Int* lwork, R* rwork, Int* iwork, Int* info,
                        Length) = nullptr;
  void (*geev)(const char* jobvl, const char* jobvr, const Int* n, T* a, const Int* lda, R* wr, R* wi, T* vl,
               const Int* ldvl, T* vr, const Int* ldvr, T* work, const Int* lwork, Int* info, Length, Length) = nullptr;
  void (*complex_geev)(const char* jobvl, const char* jobvr, const Int* n, T* a, const Int* lda, T* w, T* vl,
                       const Int* ldvl, T* vr, const Int* ldvr, T* work, const Int* lwork, R* rwork, Int* info, Length,
                       Length) = nullptr;
};

struct Lapack {
  Functions<float> s;
  Functions<double> d;
  Functions<complex<float>> c;
  Functions<complex<double>> z;
  std::string problem;  // empty if all are there
  // OpenBLAS, built without threads, works in memory that all calls share: two at once give wrong numbers.
  bool needs_lock = false;
};

template <typename T>
void find_all(LibraryFunctions<>& library, char letter, Functions<T>& to) {
  const auto named = [letter](const char* name) { return letter + std::string(name) + '_'; };
  library.find(named("potrf").c_str(), to.potrf);
  library.find(named("getrf").c_str(), to.getrf);
  library.find(named("geqrf").c_str(), to.geqrf);
  if constexpr (kIsComplex<T>) {
    library.find(named("heevd").c_str(), to.heevd);
    library.find(named("gesdd").c_str(), to.complex_gesdd);
    library.find(named("geev").c_str(), to.complex_geev);
  } else {
    library.find(named("syevd").c_str(), to.syevd);
    library.find(named("gesdd").c_str(), to.gesdd);
    library.find(named("geev").c_str(), to.geev);
  }
}

Lapack open_lapack() {
  const char* const wish = std::getenv("KEYWAY_LAPACK");
  LibraryFunctions<> library(wish != nullptr ? wish : "liblapack.so.3");
  Lapack all;
  find_all(library, 's', all.s);
  find_all(library, 'd', all.d);
  find_all(library, 'c', all.c);
  find_all(library, 'z', all.z);
  all.problem = library.problem();
  int (*const threads_of)() = library.find_if_there<int()>("openblas_get_parallel");
  all.needs_lock = threads_of != nullptr && threads_of() == 0;
  return all;
}

const Lapack& lapack_library() {
  static const Lapack& all = *new Lapack(open_lapack());
  return all;
}

// Held for a call of the library.
class LibraryLock {
 public:
  LibraryLock() : lock_(mutex(), std::defer_lock) {
    if (lapack_library().needs_lock) lock_.lock();
  }

 private:
  static ForkSafeMutex& mutex() {
    static constinit ForkSafeMutex one(LockOrder::Lapack);
    return one;
  }
  std::unique_lock<ForkSafeMutex> lock_;
};

template <typename T>
const Functions<T>& functions() {
  const Lapack& all = lapack_library();
  KEYWAY_CHECK_AS(NotImplemented, all.problem.empty(),
                  "decompositions of matrices on the CPU need LAPACK: {}; install liblapack3, or name a library that "
                  "has it in KEYWAY_LAPACK",
                  all.problem);
  if constexpr (std::is_same_v<T, float>) return all.s;
  if constexpr (std::is_same_v<T, double>) return all.d;
  if constexpr (std::is_same_v<T, complex<float>>) return all.c;
  if constexpr (std::is_same_v<T, complex<double>>) return all.z;
}

// --- Arguments

Int to_int(std::int64_t size) {
  KEYWAY_CHECK_AS(NotImplemented, size <= std::numeric_limits<Int>::max(),
                  "a matrix with {} rows or columns is beyond LAPACK's 32-bit integers", size);
  return static_cast<Int>(size);
}

// The distance of columns.
template <typename T>
Int leading(const Matrix<T>& a) {
  return to_int(std::max(a.column_stride, a.rows));
}

// What an algorithm that keeps `times` squares of `size` beside the matrix counts with its integers.
void check_workspace(std::int64_t size, std::int64_t times) {
  constexpr std::int64_t kMost = std::numeric_limits<Int>::max();
  KEYWAY_CHECK_AS(NotImplemented, size <= 4096 || times * (size + 8) * (size + 8) <= kMost,
                  "what a decomposition of {} rows and columns needs beside them is beyond LAPACK's 32-bit integers",
                  size);
}

// How long a workspace is to be, as a first call has written it into a number: rounded up, as large numbers may have
// been rounded down.
template <typename T>
Int length_of(const T& answer) {
  double length = 0;
  if constexpr (kIsComplex<T>) {
    length = static_cast<double>(answer.real());
  } else {
    length = static_cast<double>(answer);
  }
  length *= 1 + 2.0 * std::numeric_limits<Real<T>>::epsilon();
  KEYWAY_CHECK_AS(NotImplemented, length < std::numeric_limits<Int>::max(),
                  "a decomposition needs {} elements beside the matrix, which is beyond LAPACK's 32-bit integers",
                  length);
  return std::max<Int>(1, static_cast<Int>(length) + 1);
}

constexpr Int kAsk = -1;  // in the place of a length: how long it is to be

// Calls f(work, length) to ask, then with as much as it answered.
template <typename T, typename F>
void with_work(const F& f) {
  T answer{};
  f(&answer, kAsk);
  const Int length = length_of(answer);
  const ScratchArray<T> work(length);
  f(work.data(), length);
}

// A call that LAPACK itself refuses, which no argument of an operator may cause.
void check_arguments(Int info, const char* routine) {
  KEYWAY_CHECK_AS(Internal, info >= 0, "LAPACK's {} refuses its argument {}", routine, -info);
}

const char* text(const Triangle& triangle) { return reinterpret_cast<const char*>(&triangle); }

}  // namespace

template <typename T>
Int potrf(Triangle triangle, Matrix<T> a) {
  const LibraryLock lock;
  const Int n = to_int(a.rows), lda = leading(a);
  Int info = 0;
  functions<T>().potrf(text(triangle), &n, a.data, &lda, &info, 1);
  check_arguments(info, "potrf");
  return info;
}

template <typename T>
Int getrf(Matrix<T> a, Int* pivots) {
  const LibraryLock lock;
  const Int m = to_int(a.rows), n = to_int(a.columns), lda = leading(a);
  Int info = 0;
  functions<T>().getrf(&m, &n, a.data, &lda, pivots, &info);
  check_arguments(info, "getrf");
  return info;
}

template <typename T>
void geqrf(Matrix<T> a, T* tau) {
  const LibraryLock lock;
  const Int m = to_int(a.rows), n = to_int(a.columns), lda = leading(a);
  Int info = 0;
  with_work<T>([&](T* work, Int length) { functions<T>().geqrf(&m, &n, a.data, &lda, tau, work, &length, &info); });
  check_arguments(info, "geqrf");
}

template <typename T>
Int syevd(Triangle triangle, bool vectors, Matrix<T> a, Real<T>* values) {
  const LibraryLock lock;
  check_workspace(a.rows, 2);
  const Int n = to_int(a.rows), lda = leading(a);
  const char job = vectors ? 'V' : 'N';
  Int info = 0, integers_length = 0, numbers_length = 0;
  T answer{};
  Real<T> numbers_answer{};
  const auto call = [&](T* work, Int length, Real<T>* numbers, Int* integers) {
    if constexpr (kIsComplex<T>) {
      functions<T>().heevd(&job, text(triangle), &n, a.data, &lda, values, work, &length, numbers, &numbers_length,
                           integers, &integers_length, &info, 1, 1);
    } else {
      functions<T>().syevd(&job, text(triangle), &n, a.data, &lda, values, work, &length, integers, &integers_length,
                           &info, 1, 1);
    }
  };
  integers_length = numbers_length = kAsk;
  Int integers_answer = 0;
  call(&answer, kAsk, &numbers_answer, &integers_answer);
  integers_length = integers_answer;
  numbers_length = kIsComplex<T> ? length_of(numbers_answer) : 0;
  const Int length = length_of(answer);
  const ScratchArray<T> work(length);
  const ScratchArray<Real<T>> numbers(numbers_length);
  const ScratchArray<Int> integers(integers_length);
  call(work.data(), length, numbers.data(), integers.data());
  check_arguments(info, "syevd");
  return info;
}

template <typename T>
Int gesdd(Matrix<T> a, Real<T>* s, Matrix<T> u, Matrix<T> vh) {
  const LibraryLock lock;
  const std::int64_t rank = std::min(a.rows, a.columns), longest = std::max(a.rows, a.columns);
  check_workspace(rank, 8);
  const Int m = to_int(a.rows), n = to_int(a.columns), lda = leading(a);
  const bool vectors = u.data != nullptr;
  const bool full = vectors && (u.columns > rank || vh.rows > rank);
  const char job = !vectors ? 'N' : full ? 'A' : 'S';
  const Int ldu = vectors ? leading(u) : 1, ldvh = vectors ? leading(vh) : 1;
  const ScratchArray<Int> integers(8 * rank);
  Int info = 0;
  if constexpr (kIsComplex<T>) {
    const std::int64_t reals =
        vectors ? std::max(5 * rank * rank + 7 * rank, 2 * rank * (longest + rank) + rank) : 7 * rank;
    const ScratchArray<Real<T>> numbers(reals);
    with_work<T>([&](T* work, Int length) {
      functions<T>().complex_gesdd(&job, &m, &n, a.data, &lda, s, u.data, &ldu, vh.data, &ldvh, work, &length,
                                   numbers.data(), integers.data(), &info, 1);
    });
  } else {
    with_work<T>([&](T* work, Int length) {
      functions<T>().gesdd(&job, &m, &n, a.data, &lda, s, u.data, &ldu, vh.data, &ldvh, work, &length, integers.data(),
                           &info, 1);
    });
  }
  return info;
}

namespace {

// The eigenvectors of a real matrix: a conjugate pair of them is two columns, the real part and the imaginary one.
template <typename R>
void store_pairs(std::int64_t n, const R* imaginary, const R* columns, complex<R>* vectors) {
  for (std::int64_t j = 0; j < n; ++j) {
    const bool is_pair = imaginary[j] != 0 && j + 1 < n;
    for (std::int64_t i = 0; i < n; ++i) {
      const R re = columns[i + j * n], im = is_pair ? columns[i + (j + 1) * n] : R(0);
      vectors[i + j * n] = complex<R>(re, im);
      if (is_pair) vectors[i + (j + 1) * n] = complex<R>(re, -im);
    }
    if (is_pair) ++j;
  }
}

}  // namespace

template <typename T>
Int geev(Matrix<T> a, complex<Real<T>>* values, complex<Real<T>>* vectors) {
  const LibraryLock lock;
  using R = Real<T>;
  const Int n = to_int(a.rows), lda = leading(a), one = 1;
  const char left = 'N', right = vectors != nullptr ? 'V' : 'N';
  Int info = 0;
  if constexpr (kIsComplex<T>) {
    const ScratchArray<R> numbers(2 * a.rows);
    with_work<T>([&](T* work, Int length) {
      functions<T>().complex_geev(&left, &right, &n, a.data, &lda, values, nullptr, &one, vectors, &n, work, &length,
                                  numbers.data(), &info, 1, 1);
    });
  } else {
    const ScratchArray<R> parts(2 * a.rows), columns(vectors != nullptr ? a.rows * a.rows : 0);
    R* const real = parts.data();
    R* const imaginary = real + a.rows;
    with_work<T>([&](T* work, Int length) {
      functions<T>().geev(&left, &right, &n, a.data, &lda, real, imaginary, nullptr, &one, columns.data(), &n, work,
                          &length, &info, 1, 1);
    });
    for (std::int64_t i = 0; i < a.rows; ++i) values[i] = complex<R>(real[i], imaginary[i]);
    if (vectors != nullptr) store_pairs(a.rows, imaginary, columns.data(), vectors);
  }
  check_arguments(info, "geev");
  return info;
}

#define KEYWAY_LAPACK_OF(T)                                         \
  template Int potrf<T>(Triangle, Matrix<T>);                       \
  template Int getrf<T>(Matrix<T>, Int*);                           \
  template void geqrf<T>(Matrix<T>, T*);                            \
  template Int syevd<T>(Triangle, bool, Matrix<T>, Real<T>*);       \
  template Int gesdd<T>(Matrix<T>, Real<T>*, Matrix<T>, Matrix<T>); \
  template Int geev<T>(Matrix<T>, complex<Real<T>>*, complex<Real<T>>*);
KEYWAY_LAPACK_OF(float)
KEYWAY_LAPACK_OF(double)
KEYWAY_LAPACK_OF(complex<float>)
KEYWAY_LAPACK_OF(complex<double>)
#undef KEYWAY_LAPACK_OF

}  // namespace keyway::inline v1::lapack
