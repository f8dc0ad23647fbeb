// NumPy's file format of one array, .npy: numpy.save writes it and numpy.load reads it.
//
//   "\x93NUMPY"      6 bytes
//   major, minor     u8 each
//   header length    u16 if major is 1, u32 if major is 2 or 3; little-endian
//   header           {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and spaces
//   elements         row-major
#ifndef ESTIMATOR_ARRAY_NPY_H_
#define ESTIMATOR_ARRAY_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

// Parses the contents of a .npy file of numbers, bools or strings. Strings of bytes ('S12') lose
// zero bytes at their ends, as in NumPy. Strings of characters ('U12') are converted to UTF-8.
// Errors: INVALID_ARGUMENT if the bytes are not a .npy file; UNIMPLEMENTED for a dtype without a
// DType, big-endian numbers, Python objects and Fortran order, with the conversion to do in NumPy.
absl::StatusOr<Array> ParseNpy(absl::string_view bytes);

// The contents of a .npy file with this array. bfloat16 is written as float32, because NumPy does
// not have it. Strings are written as 'S<length of the longest>'.
std::string NpyBytes(const Array& array);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_NPY_H_
