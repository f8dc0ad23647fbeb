// NumPy's file of one array, .npy: what numpy.save writes and numpy.load reads.
//
//   "\x93NUMPY", u8 major, u8 minor, u16 (major 1) or u32 (2, 3) header length, little-endian;
//   the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and spaces;
//   the elements, row-major.
#ifndef ESTIMATOR_ARRAY_NPY_H_
#define ESTIMATOR_ARRAY_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

// Numbers, bools, and strings: of bytes ('S12'; NumPy drops zero bytes at their ends) or of
// characters ('U12'), which become UTF-8.
// Errors: INVALID_ARGUMENT for bytes that are no such file; UNIMPLEMENTED for a dtype that has no
// counterpart here, big-endian numbers, objects and Fortran order, with what to do in NumPy.
absl::StatusOr<Array> ParseNpy(absl::string_view bytes);

// bfloat16, which NumPy has not, as float32. Strings are 'S' of the longest.
std::string NpyBytes(const Array& array);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_NPY_H_
