// Memory for images, and calls of the C libraries that decode and encode them.
#ifndef ESTIMATOR_IMAGE_IMAGE_BUFFER_H_
#define ESTIMATOR_IMAGE_IMAGE_BUFFER_H_

#include <csetjmp>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator::image {

// An array whose bytes are not set. The caller writes every element. Array's constructor would
// write zeros first, which takes as long as decoding some images takes.
// REQUIRES: the number of bytes does not overflow.
// Errors: RESOURCE_EXHAUSTED if there is not enough memory.
absl::StatusOr<Array> UninitializedArray(DType dtype, const Shape& shape);

// Copies images into larger ones of zeros, `top` rows and `left` columns from their corners.
//   images: [H,W,C] or [N,H,W,C], of numbers.
// REQUIRES: the images fit there.
Array PaddedWithZeros(const Array& images, int64_t top, int64_t left, int64_t height,
                      int64_t width);

// Calls step(argument), which calls a library in C. Returns false if an error of the library left
// its frames and that of `step` by longjmp to `jump`. So `step` must have no object with a
// destructor.
bool RunCodecStep(std::jmp_buf& jump, void (*step)(void*), void* argument);

// A growing buffer for encoders in C. It has no constructor and throws nothing, so that a C library
// can leave its frames with longjmp.
struct ByteBuffer {
  char* data = nullptr;  // from std::malloc; the owner frees it
  size_t size = 0;
  size_t capacity = 0;

  // Returns false if there is not enough memory; the buffer is then unchanged.
  bool Reserve(size_t new_capacity);
  bool Append(const void* bytes, size_t num_bytes);
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_IMAGE_BUFFER_H_
