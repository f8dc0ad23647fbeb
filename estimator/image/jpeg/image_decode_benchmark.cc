// Times the decoding of JPEG files on one thread: whole, and random crops as ResNet's input has
// them.
//
//   bazel run -c opt //estimator/image:image_decode_benchmark [FILE.jpg ...]
//
// Without files it draws a picture of 375 x 500 pixels and encodes it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/image/jpeg/jpeg.h"
#include "glog/logging.h"

namespace estimator::image {
namespace {

std::string DrawnJpeg() {
  Array image(DType::kUint8, {375, 500, 3});
  std::mt19937 random(1);
  uint8_t* out = image.data<uint8_t>();
  for (int y = 0; y < 375; ++y) {
    for (int x = 0; x < 500; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double level = 110 + 60 * std::sin(x * 0.05 * (c + 1)) * std::cos(y * 0.04);
        *out++ = static_cast<uint8_t>(level + static_cast<double>(random() % 32));
      }
    }
  }
  const absl::StatusOr<std::string> bytes = EncodeJpeg(image);
  CHECK(bytes.ok()) << bytes.status();
  return *bytes;
}

// A window of 8% to 100% of the area, with sides in a ratio of 3:4 to 4:3.
Box RandomWindow(const Shape& shape, std::mt19937& random) {
  const double height = static_cast<double>(shape.dim(0));
  const double width = static_cast<double>(shape.dim(1));
  const double area = std::uniform_real_distribution<>(0.08, 1)(random) * height * width;
  const double ratio = std::uniform_real_distribution<>(0.75, 4 / 3.0)(random);
  Box window;
  window.height = static_cast<int64_t>(std::clamp(std::sqrt(area / ratio), 1.0, height));
  window.width = static_cast<int64_t>(std::clamp(std::sqrt(area * ratio), 1.0, width));
  window.y = std::uniform_int_distribution<int64_t>(0, shape.dim(0) - window.height)(random);
  window.x = std::uniform_int_distribution<int64_t>(0, shape.dim(1) - window.width)(random);
  return window;
}

// Calls decode(file number) for 2 seconds and prints the images a second.
template <typename Decode>
void Time(const std::string& name, size_t num_files, const Decode& decode) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  int64_t images = 0;
  std::chrono::duration<double> elapsed{};
  do {
    for (size_t i = 0; i < num_files; ++i, ++images) {
      const absl::StatusOr<Array> image = decode(i);
      CHECK(image.ok()) << image.status();
    }
    elapsed = Clock::now() - start;
  } while (elapsed.count() < 2);
  std::cout << name << ": " << static_cast<double>(images) / elapsed.count() << " images/s\n";
}

void Run(const std::vector<std::string>& files) {
  std::vector<Shape> shapes;
  for (const std::string& file : files) {
    const absl::StatusOr<Shape> shape = JpegShape(file);
    CHECK(shape.ok()) << shape.status();
    shapes.push_back(*shape);
  }
  std::mt19937 random(1);
  Time("DecodeJpeg", files.size(), [&](size_t i) { return DecodeJpeg(files[i], {.channels = 3}); });
  Time("DecodeJpeg at 1/2", files.size(),
       [&](size_t i) { return DecodeJpeg(files[i], {.channels = 3, .ratio = 2}); });
  Time("DecodeAndCropJpeg", files.size(), [&](size_t i) {
    return DecodeAndCropJpeg(files[i], RandomWindow(shapes[i], random), {.channels = 3});
  });
}

}  // namespace
}  // namespace estimator::image

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const absl::StatusOr<std::string> contents = estimator::ReadFile(argv[i]);
    CHECK(contents.ok()) << contents.status();
    files.push_back(*contents);
  }
  if (files.empty()) files.push_back(estimator::image::DrawnJpeg());
  estimator::image::Run(files);
  return 0;
}
