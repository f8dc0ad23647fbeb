// Measures how many images per second each method resizes, in one thread:
//   bazel run //estimator/image:resize_benchmark
// Compare with TensorFlow's tf.image.resize under
// tf.config.threading.set_intra_op_parallelism_threads(1).
#include <cstdio>
#include <ctime>
#include <functional>

#include "estimator/image/color.h"
#include "estimator/image/resize/resize.h"

namespace {

namespace image = estimator::image;
using estimator::Array;
using estimator::DType;
using image::ResizeMethod;

// A photo of the size that is usual in ImageNet.
Array Photo() {
  Array photo(DType::kUint8, {375, 500, 3});
  uint32_t state = 1;
  for (uint8_t& value : photo.values<uint8_t>()) {
    state = state * 1664525 + 1013904223;
    value = static_cast<uint8_t>(state >> 24);
  }
  return photo;
}

// Runs for half a second of CPU time, which other programs on the machine change little.
void Measure(const char* name, const std::function<absl::StatusOr<Array>()>& run) {
  run().value();
  const std::clock_t begin = std::clock();
  double seconds = 0;
  int64_t images = 0;
  while (seconds < 0.5) {
    run().value();
    ++images;
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::printf("%-44s %10.0f images/s\n", name, static_cast<double>(images) / seconds);
}

}  // namespace

int main() {
  const Array photo = Photo();
  const image::ImageSize size = {224, 224};
  const Array small = image::ResizeToUint8(photo, size).value();
  Measure("500x375 to 224x224, bilinear, f32", [&] { return image::Resize(photo, size); });
  Measure("the same, u8", [&] { return image::ResizeToUint8(photo, size); });
  Measure("bicubic, u8",
          [&] { return image::ResizeToUint8(photo, size, {.method = ResizeMethod::kBicubic}); });
  Measure("area, u8",
          [&] { return image::ResizeToUint8(photo, size, {.method = ResizeMethod::kArea}); });
  Measure("nearest neighbor",
          [&] { return image::Resize(photo, size, {.method = ResizeMethod::kNearestNeighbor}); });
  Measure("bilinear with antialias, u8",
          [&] { return image::ResizeToUint8(photo, size, {.antialias = true}); });
  Measure("lanczos3, u8",
          [&] { return image::ResizeToUint8(photo, size, {.method = ResizeMethod::kLanczos3}); });
  Measure("224x224 to 448x448, bilinear, u8", [&] {
    return image::ResizeToUint8(small, {448, 448});
  });
  Measure("224x224, brightness", [&] { return image::AdjustBrightness(small, 0.1f); });
  Measure("224x224, contrast", [&] { return image::AdjustContrast(small, 1.2f); });
  Measure("224x224, saturation", [&] { return image::AdjustSaturation(small, 1.2f); });
  Measure("224x224, hue", [&] { return image::AdjustHue(small, 0.1f); });
  return 0;
}
