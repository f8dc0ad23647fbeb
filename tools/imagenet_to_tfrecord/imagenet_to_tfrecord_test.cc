// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/image/image_format.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array Gray(int64_t channels) {
  Array image(DType::kUint8, {8, 12, channels});
  for (uint8_t& pixel : image.values<uint8_t>()) pixel = 90;
  return image;
}

TEST(ImagenetToTfrecord, WritesTheExamplesOfTensorFlowsConverter) {
  const TempDir dir;
  const auto add = [&](const std::string& name, const std::string& bytes) {
    EST_ASSERT_OK(CreateDirectories(Dirname(dir.File("in/" + name))));
    EST_ASSERT_OK(WriteFileAtomically(dir.File("in/" + name), bytes));
  };
  const std::string rgb = image::EncodeJpeg(Gray(3)).value();
  const std::string gray = image::EncodeJpeg(Gray(1)).value();
  add("train/n01/rgb.JPEG", rgb);
  add("train/n02/gray.JPEG", gray);
  add("train/n02/png.JPEG", image::EncodePng(Gray(4)).value());
  add("validation/n01/v.JPEG", rgb);
  add("LOC_synset_mapping.txt", "n01 tench, Tinca tinca\nn02 goldfish\n");
  add("imagenet_2012_bounding_boxes.csv", "rgb.JPEG,0.1,0.2,0.3,0.4\nrgb.JPEG,0.5,0.6,0.7,0.8\n");
  const std::string command =
      absl::StrCat("tools/imagenet_to_tfrecord/imagenet_to_tfrecord ",
                   "--input_dir=", dir.File("in"), " --output_dir=", dir.File("out"));
  const ProgramRun many = RunProgram(command);
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_THAT(many.output, HasSubstr("split train has 3 images, which are fewer than its 1024"));
  const ProgramRun run = RunProgram(command + " --train_shards=2 --validation_shards=1");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_TRUE(FileExists(dir.File("out/validation-00000-of-00001")));
  EXPECT_EQ(ReadFile(dir.File("out/labels.txt")).value(), "tench, Tinca tinca\ngoldfish\n");

  FeatureSpecs specs;
  for (const char* key : {"image/encoded", "image/filename", "image/format", "image/colorspace",
                          "image/class/synset", "image/class/text"}) {
    specs[key] = FixedLenFeature{.dtype = DType::kString};
  }
  for (const char* key : {"image/class/label", "image/height", "image/width", "image/channels"}) {
    specs[key] = FixedLenFeature{.dtype = DType::kInt64};
  }
  specs["image/object/bbox/label"] = VarLenFeature{.dtype = DType::kInt64};
  for (const char* key : {"xmin", "xmax", "ymin", "ymax"}) {
    specs[absl::StrCat("image/object/bbox/", key)] = VarLenFeature{};
  }
  std::map<std::string, ArrayMap> examples;
  for (const char* shard : {"out/train-00000-of-00002", "out/train-00001-of-00002"}) {
    const auto reader = TFRecordReader::Open(dir.File(shard)).value();
    for (auto record = reader->Next().value(); record; record = reader->Next().value()) {
      EST_ASSERT_OK_AND_ASSIGN(const ArrayMap parsed, ParseSingleExample(*record, specs));
      examples[parsed.at("image/filename").scalar<std::string>()] = parsed;
    }
  }
  ASSERT_EQ(examples.size(), 3u);
  for (const auto& [name, example] : examples) {
    EXPECT_EQ(example.at("image/format").scalar<std::string>(), "JPEG") << name;
    EXPECT_EQ(example.at("image/colorspace").scalar<std::string>(), "RGB") << name;
    EXPECT_EQ(example.at("image/channels").scalar<int64_t>(), 3) << name;
    EXPECT_EQ(example.at("image/height").scalar<int64_t>(), 8) << name;
    EXPECT_EQ(example.at("image/width").scalar<int64_t>(), 12) << name;
  }
  const ArrayMap& first = examples.at("rgb.JPEG");
  EXPECT_EQ(first.at("image/encoded").scalar<std::string>(), rgb);
  EXPECT_EQ(first.at("image/class/label").scalar<int64_t>(), 1);
  EXPECT_EQ(first.at("image/class/synset").scalar<std::string>(), "n01");
  EXPECT_EQ(first.at("image/class/text").scalar<std::string>(), "tench, Tinca tinca");
  EXPECT_THAT(first.at("image/object/bbox/xmin").values<float>(), ElementsAre(0.1f, 0.5f));
  EXPECT_THAT(first.at("image/object/bbox/ymin").values<float>(), ElementsAre(0.2f, 0.6f));
  EXPECT_THAT(first.at("image/object/bbox/label").values<int64_t>(), ElementsAre(1, 1));
  // A gray JPEG stays as it is. A PNG with the name of a JPEG becomes one.
  EXPECT_EQ(examples.at("gray.JPEG").at("image/encoded").scalar<std::string>(), gray);
  EXPECT_EQ(examples.at("gray.JPEG").at("image/object/bbox/xmin").num_elements(), 0);
  const std::string png = examples.at("png.JPEG").at("image/encoded").scalar<std::string>();
  EXPECT_EQ(image::DetectImageFormat(png), image::ImageFormat::kJpeg);
  EXPECT_EQ(image::JpegShape(png).value(), (Shape{8, 12, 3}));
}

TEST(ImagenetToTfrecord, MistakesOfTheCommandLineExitWith2) {
  const ProgramRun run = RunProgram("tools/imagenet_to_tfrecord/imagenet_to_tfrecord");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, AllOf(HasSubstr("--input_dir=DIR is missing"),
                                HasSubstr("--output_dir=DIR is missing")));
  const TempDir dir;
  EXPECT_EQ(
      RunProgram(absl::StrCat("tools/imagenet_to_tfrecord/imagenet_to_tfrecord --input_dir=",
                              dir.path(), " --output_dir=", dir.File("o"), " --train_shards=0"))
          .exit_code,
      2);
}

}  // namespace
}  // namespace estimator
