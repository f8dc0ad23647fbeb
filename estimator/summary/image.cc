#include "estimator/summary/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

std::vector<uint8_t> Normalize(const Array& image) {
  const float* const values = image.data<float>();
  const int64_t channels = image.shape().dim(2);
  float low = INFINITY;
  float high = -INFINITY;
  for (int64_t i = 0; i < image.num_elements(); ++i) {
    if (!std::isfinite(values[i])) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  // If all values are below this, the image is black. Scaling would only amplify noise.
  constexpr float kZeroThreshold = 1e-6f;
  const bool has_negative = low < 0;
  const float magnitude = has_negative ? std::max(std::abs(low), std::abs(high)) : high;
  const float scale = magnitude < kZeroThreshold ? 0 : (has_negative ? 127.0f : 255.0f) / magnitude;
  const float offset = has_negative ? 128.0f : 0.0f;
  constexpr uint8_t kBadColor[] = {255, 0, 0, 255};
  std::vector<uint8_t> pixels(static_cast<size_t>(image.num_elements()));
  for (int64_t pixel = 0; pixel < image.num_elements(); pixel += channels) {
    bool finite = true;
    for (int64_t c = 0; c < channels; ++c) finite &= std::isfinite(values[pixel + c]);
    for (int64_t c = 0; c < channels; ++c) {
      pixels[static_cast<size_t>(pixel + c)] =
          finite ? static_cast<uint8_t>(values[pixel + c] * scale + offset) : kBadColor[c];
    }
  }
  return pixels;
}

}  // namespace

absl::StatusOr<std::string> EncodePng(const Array& image) {
  const Shape& shape = image.shape();
  const int64_t channels = shape.rank() == 3 ? shape.dim(2) : 0;
  const bool is_u8 = image.dtype() == DType::kUint8;
  constexpr int64_t kMaxSide = 1 << 20;  // libpng's limit is about this
  if ((channels != 1 && channels != 3 && channels != 4) || image.num_elements() == 0 ||
      shape.dim(0) > kMaxSide || shape.dim(1) > kMaxSide ||
      (!is_u8 && image.dtype() != DType::kFloat32)) {
    return InvalidArgument("an image must be u8 or f32 [height, width, 1, 3 or 4 channels]; it is ",
                           image.TypeString());
  }
  std::vector<uint8_t> scaled;
  if (!is_u8) scaled = Normalize(image);
  png_image png;
  std::memset(&png, 0, sizeof(png));
  png.version = PNG_IMAGE_VERSION;
  png.height = static_cast<png_uint_32>(shape.dim(0));
  png.width = static_cast<png_uint_32>(shape.dim(1));
  png.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  const void* const pixels = is_u8 ? image.raw() : scaled.data();
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, pixels, 0, nullptr) == 0) {
    return absl::InternalError(absl::StrCat("libpng: ", png.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace estimator
