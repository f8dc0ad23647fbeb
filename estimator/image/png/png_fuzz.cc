// Fuzzes the PNG decoder. The input is a byte and the file:
//   0  bits 0-2: channels, 0 to 4; bits 3-4: dtype u8, i32, f32
// What is decoded as u8 or i32 is also encoded and decoded again.
#include <cstdint>
#include <cstring>

#include "estimator/image/png/png.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace image = estimator::image;
  using estimator::DType;
  if (size < 1) return 0;
  const estimator::StringArg contents(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr DType kDTypes[] = {DType::kUint8, DType::kInt32, DType::kFloat32, DType::kUint8};
  const DType dtype = kDTypes[data[0] >> 3 & 3];
  const image::DecodePngOptions options = {.channels = data[0] % 8 % 5, .dtype = dtype};
  const absl::StatusOr<estimator::Array> decoded = image::DecodePng(contents, options);
  if (!decoded.ok()) return 0;
  const absl::StatusOr<estimator::Shape> shape = image::PngShape(contents);
  CHECK(shape.ok()) << shape.status();
  CHECK(decoded->shape().dim(0) == shape->dim(0) && decoded->shape().dim(1) == shape->dim(1));
  if (dtype == DType::kFloat32) return 0;
  const absl::StatusOr<std::string> encoded = image::EncodePng(*decoded, {.compression = 1});
  CHECK(encoded.ok()) << encoded.status();
  const absl::StatusOr<estimator::Array> again = image::DecodePng(*encoded, {.dtype = dtype});
  CHECK(again.ok()) << again.status();
  CHECK(again->shape() == decoded->shape());
  CHECK_EQ(std::memcmp(again->raw(), decoded->raw(), decoded->num_bytes()), 0);
  return 0;
}
