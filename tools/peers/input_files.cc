#include "tools/peers/input_files.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/records/tfrecord.h"

namespace estimator::peers {
namespace {

constexpr int kNumFloats = 13, kNumStrings = 26, kNumFiles = 4, kCropsPerFile = 8;

std::string SmallExample(int64_t i) {
  ExampleBuilder example;
  for (int k = 0; k < kNumFloats; ++k)
    example.Floats(absl::StrCat("float_", k), {static_cast<float>(i + k)});
  for (int k = 0; k < kNumStrings; ++k)
    example.Bytes(absl::StrCat("string_", k), {absl::StrCat(i * 31 + k)});
  return example.Ints("label", {i % 2}).Serialize();
}

std::string ImageExample(int64_t i) {
  return ExampleBuilder()
      .Bytes("image/encoded", {std::string(100000, static_cast<char>(i))})
      .Ints("image/class/label", {i % 1000})
      .Serialize();
}

absl::StatusOr<std::vector<std::string>> Write(const std::string& work_dir, const std::string& name,
                                               int64_t count, std::string (*example)(int64_t)) {
  EST_RETURN_IF_ERROR(CreateDirectories(work_dir));
  std::vector<std::string> files;
  for (int f = 0; f < kNumFiles; ++f) {
    files.push_back(JoinPath(work_dir, absl::StrCat(name, "-", f, ".tfrecord")));
    EST_ASSIGN_OR_RETURN(const auto writer, TFRecordWriter::Open(files.back()));
    for (int64_t i = f; i < count; i += kNumFiles) EST_RETURN_IF_ERROR(writer->Write(example(i)));
    EST_RETURN_IF_ERROR(writer->Close());
  }
  return files;
}

absl::StatusOr<std::string> DrawnJpeg() {
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
  return image::EncodeJpeg(image);
}

// The standard fixes the numbers of mt19937, but not those of its distributions.
class Random {
 public:
  // In [low, high].
  double Real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_()) / 4294967295.0;
  }
  // In [0, count).
  int64_t Index(int64_t count) { return static_cast<int64_t>(engine_()) % count; }

 private:
  std::mt19937 engine_{1};
};

image::Box RandomWindow(const Shape& shape, Random& random) {
  const auto height = static_cast<double>(shape.dim(0)), width = static_cast<double>(shape.dim(1));
  const double area = random.Real(0.08, 1) * height * width, ratio = random.Real(0.75, 4 / 3.0);
  image::Box window;
  window.height = static_cast<int64_t>(std::clamp(std::sqrt(area / ratio), 1.0, height));
  window.width = static_cast<int64_t>(std::clamp(std::sqrt(area * ratio), 1.0, width));
  window.y = random.Index(shape.dim(0) - window.height + 1);
  window.x = random.Index(shape.dim(1) - window.width + 1);
  return window;
}

void AppendInt(int64_t value, std::string& to) {
  for (int byte = 0; byte < 4; ++byte) to.push_back(static_cast<char>(value >> (8 * byte)));
}

bool IsJpegName(const std::string& name) {
  return absl::EndsWith(name, ".jpg") || absl::EndsWith(name, ".jpeg") ||
         absl::EndsWith(name, ".JPEG");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WriteSmallExamples(const std::string& work_dir,
                                                            int64_t count) {
  return Write(work_dir, "parse_small", count, SmallExample);
}

absl::StatusOr<std::vector<std::string>> WriteImageExamples(const std::string& work_dir,
                                                            int64_t count) {
  return Write(work_dir, "parse_images", count, ImageExample);
}

FeatureSpecs SmallSpecs() {
  FeatureSpecs specs = {{"label", FixedLenFeature{.dtype = DType::kInt64}}};
  for (int k = 0; k < kNumFloats; ++k) specs[absl::StrCat("float_", k)] = FixedLenFeature{};
  for (int k = 0; k < kNumStrings; ++k)
    specs[absl::StrCat("string_", k)] = FixedLenFeature{.dtype = DType::kString};
  return specs;
}

FeatureSpecs ImageSpecs() {
  return {{"image/encoded", FixedLenFeature{.dtype = DType::kString}},
          {"image/class/label", FixedLenFeature{.dtype = DType::kInt64}}};
}

absl::StatusOr<std::vector<std::string>> WriteJpegs(const std::string& work_dir,
                                                    const std::string& images) {
  EST_RETURN_IF_ERROR(CreateDirectories(work_dir));
  std::vector<std::string> files;
  if (images.empty()) {
    EST_ASSIGN_OR_RETURN(std::string drawn, DrawnJpeg());
    files.push_back(std::move(drawn));
  } else {
    EST_ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(images));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (!IsJpegName(name)) continue;
      EST_ASSIGN_OR_RETURN(std::string contents, ReadFile(JoinPath(images, name)));
      files.push_back(std::move(contents));
    }
    if (files.empty()) {
      return NotFound("'", images, "' has no file that ends in .jpg, .jpeg or .JPEG");
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    EST_RETURN_IF_ERROR(
        WriteFileAtomically(JoinPath(work_dir, absl::StrCat("image-", i, ".jpg")), files[i]));
  }
  return files;
}

absl::StatusOr<std::vector<Crop>> WriteCrops(const std::string& work_dir,
                                             const std::vector<std::string>& files) {
  Random random;
  std::vector<Crop> crops;
  std::string bytes;
  for (int round = 0; round < kCropsPerFile; ++round) {
    for (size_t file = 0; file < files.size(); ++file) {
      EST_ASSIGN_OR_RETURN(const Shape shape, image::JpegShape(files[file]));
      Crop crop{.file = file, .window = RandomWindow(shape, random), .flip = false};
      crop.flip = random.Index(2) == 1;
      for (const int64_t value :
           {static_cast<int64_t>(file), crop.window.y, crop.window.x, crop.window.height,
            crop.window.width, static_cast<int64_t>(crop.flip), int64_t{0}})
        AppendInt(value, bytes);
      crops.push_back(crop);
    }
  }
  EST_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(work_dir, "crops.bin"), bytes));
  return crops;
}

}  // namespace estimator::peers
