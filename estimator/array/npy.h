// NumPy's file format of one array, .npy: numpy.save writes it and numpy.load reads it.
//
//   "\x93NUMPY"      6 bytes
//   major, minor     u8 each
//   header length    u16 if major is 1, u32 if major is 2 or 3; little-endian
//   header           {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and spaces
//   elements         row-major, or column-major if fortran_order is True
#ifndef ESTIMATOR_ARRAY_NPY_H_
#define ESTIMATOR_ARRAY_NPY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Reads a .npy file, as numpy.load does.
// Errors: those of the file system; those of ParseNpy, with the path.
absl::StatusOr<Array> LoadNpy(StringArg path);

// Writes a .npy file, as numpy.save does, but does not append ".npy" to the path. A reader sees the
// old file or the new one, whole.
// Errors: those of the file system; INVALID_ARGUMENT for an Array without a dtype.
absl::Status SaveNpy(StringArg path, const Array& array);

// Parses the contents of a .npy file of numbers, bools or strings. Strings of bytes ('S12') lose
// zero bytes at their ends, as in NumPy. Strings of characters ('U12') are converted to UTF-8.
// Errors: INVALID_ARGUMENT if the bytes are not a .npy file; UNIMPLEMENTED for a dtype without a
// DType and Python objects, with the conversion to do in NumPy. Big-endian numbers and Fortran
// order are converted.
absl::StatusOr<Array> ParseNpy(StringArg bytes);

// The contents of a .npy file with this array. bfloat16 is written as float32, because NumPy does
// not have it. Strings are written as 'S<length of the longest>'.
std::string NpyBytes(const Array& array);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_NPY_H_
