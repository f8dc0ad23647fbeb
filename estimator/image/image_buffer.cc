#include "estimator/image/image_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "estimator/base/status.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {

absl::StatusOr<Array> UninitializedArray(DType dtype, const Shape& shape) {
  const size_t num_bytes = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  void* bytes = nullptr;
  if (::posix_memalign(&bytes, Array::kAlignment, std::max<size_t>(num_bytes, 1)) != 0) {
    return ResourceExhausted("out of memory: an image of ", num_bytes, " bytes");
  }
  return Array::Wrap(dtype, shape, bytes, std::shared_ptr<void>(bytes, std::free));
}

Array PaddedWithZeros(const Array& images, int64_t top, int64_t left, int64_t height,
                      int64_t width) {
  Array result(images.dtype(), ResizedShape(images, height, width));
  const int64_t num_images = images.shape().rank() == 4 ? images.shape().dim(0) : 1;
  const size_t pixel_bytes =
      static_cast<size_t>(images.shape().dim(-1)) * DTypeSize(images.dtype());
  const size_t row_bytes = static_cast<size_t>(images.shape().dim(-2)) * pixel_bytes;
  const char* in = static_cast<const char*>(images.raw());
  for (int64_t n = 0; n < num_images; ++n) {
    for (int64_t y = 0; y < images.shape().dim(-3); ++y, in += row_bytes) {
      const int64_t pixel = (n * height + top + y) * width + left;
      std::memcpy(static_cast<char*>(result.raw()) + static_cast<size_t>(pixel) * pixel_bytes, in,
                  row_bytes);
    }
  }
  return result;
}

bool RunCodecStep(std::jmp_buf& jump, void (*step)(void*), void* argument) {
  if (setjmp(jump) != 0) return false;
  step(argument);
  return true;
}

bool ByteBuffer::Reserve(size_t new_capacity) {
  if (new_capacity <= capacity) return true;
  void* const larger = std::realloc(data, new_capacity);
  if (larger == nullptr) return false;
  data = static_cast<char*>(larger);
  capacity = new_capacity;
  return true;
}

bool ByteBuffer::Append(const void* bytes, size_t num_bytes) {
  if (num_bytes > capacity - size && !Reserve(std::max(2 * capacity, size + num_bytes))) {
    return false;
  }
  if (num_bytes > 0) std::memcpy(data + size, bytes, num_bytes);
  size += num_bytes;
  return true;
}

}  // namespace estimator::image
