#include "estimator/image/jpeg/jpeg_decode.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "estimator/image/jpeg/jpeg_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

constexpr int kWidth = 117, kHeight = 91;

// How a file for a test is compressed.
struct FileOptions {
  int components = 3;                        // 1: grey, 3: RGB, 4: CMYK
  int h_samp_factor = 2, v_samp_factor = 2;  // of the first component
  int quality = 90;
  int restart_interval = 0;
  bool optimize_coding = false;
  bool progressive = false;
};

// A picture with smooth parts, edges and noise, so that codes of all lengths occur.
std::string WriteFile(const FileOptions& options) {
  jpeg_compress_struct cinfo = {};
  jpeg_error_mgr errors = {};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&cinfo, &bytes, &size);
  cinfo.image_width = kWidth;
  cinfo.image_height = kHeight;
  cinfo.input_components = options.components;
  cinfo.in_color_space = options.components == 1   ? JCS_GRAYSCALE
                         : options.components == 3 ? JCS_RGB
                                                   : JCS_CMYK;
  jpeg_set_defaults(&cinfo);
  jpeg_set_quality(&cinfo, options.quality, TRUE);
  cinfo.comp_info[0].h_samp_factor = options.h_samp_factor;
  cinfo.comp_info[0].v_samp_factor = options.v_samp_factor;
  cinfo.restart_interval = static_cast<unsigned int>(options.restart_interval);
  cinfo.optimize_coding = options.optimize_coding ? TRUE : FALSE;
  if (options.progressive) jpeg_simple_progression(&cinfo);
  jpeg_start_compress(&cinfo, TRUE);
  std::mt19937 random(7);
  std::vector<JSAMPLE> row(static_cast<size_t>(kWidth * options.components));
  for (int y = 0; y < kHeight; ++y) {
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t x = i / static_cast<size_t>(options.components);
      const unsigned int noise = x < 50 ? 0 : random() % (y < 40 ? 10 : 256);
      row[i] = static_cast<JSAMPLE>(std::min<size_t>(255, x / 20 % 2 * 120 + noise));
    }
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&cinfo, rows, 1);
  }
  jpeg_finish_compress(&cinfo);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&cinfo);
  std::free(bytes);
  return file;
}

std::vector<std::string> AllKindsOfFiles() {
  std::vector<std::string> files;
  for (const int components : {1, 3, 4}) {
    for (const int quality : {5, 75, 90, 100}) {
      files.push_back(WriteFile({.components = components, .quality = quality}));
      files.push_back(WriteFile({.components = components,
                                 .h_samp_factor = 1,
                                 .v_samp_factor = 1,
                                 .quality = quality,
                                 .optimize_coding = true}));
      files.push_back(WriteFile({.components = components,
                                 .v_samp_factor = 1,
                                 .quality = quality,
                                 .restart_interval = 3}));
    }
    files.push_back(WriteFile({.components = components, .progressive = true}));
  }
  return files;
}

// Both ways to read the codes give the same pixels, or the same error.
::testing::AssertionResult Agree(absl::string_view file, const Box* window,
                                 const DecodeJpegOptions& options) {
  const auto fast = DecodeJpegWith(JpegCoefficients::kFast, file, window, options);
  const auto expected = DecodeJpegWith(JpegCoefficients::kLibjpeg, file, window, options);
  if (fast.status() != expected.status()) {
    return ::testing::AssertionFailure() << fast.status() << " instead of " << expected.status();
  }
  if (!fast.ok()) return ::testing::AssertionSuccess();
  if (fast->shape() != expected->shape() ||
      fast->values<uint8_t>() != expected->values<uint8_t>()) {
    return ::testing::AssertionFailure() << "the pixels of " << fast->TypeString() << " differ";
  }
  return ::testing::AssertionSuccess();
}

TEST(JpegDecode, WholeImagesHaveThePixelsOfLibjpeg) {
  for (const std::string& file : AllKindsOfFiles()) {
    for (const int channels : {0, 1, 3}) {
      for (const int ratio : {1, 2, 4, 8}) {
        EXPECT_TRUE(Agree(file, nullptr, {.channels = channels, .ratio = ratio}));
      }
    }
  }
}

TEST(JpegDecode, WindowsHaveThePixelsOfLibjpeg) {
  const std::vector<Box> windows = {
      {0, 0, kHeight, kWidth},   {0, 0, 1, 1},           {kHeight - 1, kWidth - 1, 1, 1},
      {0, kWidth - 1, 1, 1},     {kHeight - 1, 0, 1, 1}, {45, 60, 1, 1},
      {16, 16, 16, 16},          {15, 15, 2, 2},         {40, 0, 1, kWidth},
      {0, 70, kHeight, 1},       {33, 5, 58, 100},       {1, 1, kHeight - 2, kWidth - 2},
      {kHeight - 17, 97, 17, 20}};
  for (const std::string& file : AllKindsOfFiles()) {
    for (const Box& window : windows) {
      for (const int channels : {1, 3}) {
        EXPECT_TRUE(Agree(file, &window, {.channels = channels}))
            << "y=" << window.y << " x=" << window.x << " height=" << window.height
            << " width=" << window.width;
      }
    }
    const Box small = {5, 7, 10, 9};
    EXPECT_TRUE(Agree(file, &small, {.ratio = 4}));
    EXPECT_TRUE(Agree(file, &small, {.channels = 3, .ratio = 8}));
  }
}

TEST(JpegDecode, TruncatedFilesGiveTheRowsAndErrorsOfLibjpeg) {
  for (const int restart_interval : {0, 2}) {
    const std::string file = WriteFile({.restart_interval = restart_interval});
    const Box window = {30, 20, 40, 50};
    for (size_t size = file.size(); size > 700; size -= 97) {
      const absl::string_view part = absl::string_view(file).substr(0, size);
      EXPECT_TRUE(Agree(part, nullptr, {})) << size;
      EXPECT_TRUE(Agree(part, nullptr, {.try_recover_truncated = true})) << size;
      EXPECT_TRUE(Agree(part, &window, {.acceptable_fraction = 0.1f})) << size;
    }
    // The last bytes, and bytes behind them.
    for (size_t cut = 0; cut < 12; ++cut) {
      const std::string part = file.substr(0, file.size() - cut);
      EXPECT_TRUE(Agree(part, nullptr, {})) << cut;
      EXPECT_TRUE(Agree(part + std::string(5, '\0'), nullptr, {})) << cut;
      EXPECT_TRUE(Agree(part + "\xff\xff\xff\xd9", nullptr, {})) << cut;
    }
  }
}

TEST(JpegDecode, DamagedFilesGiveThePixelsAndErrorsOfLibjpeg) {
  std::mt19937 random(3);
  for (const int restart_interval : {0, 2}) {
    for (const int components : {1, 3}) {
      const std::string file =
          WriteFile({.components = components, .restart_interval = restart_interval});
      const Box window = {30, 20, 40, 50};
      for (int i = 0; i < 300; ++i) {
        std::string damaged = file;
        for (int k = 0; k < 1 + i % 3; ++k) {
          damaged[random() % file.size()] = static_cast<char>(i % 4 == 0 ? 255 : random() % 256);
        }
        EXPECT_TRUE(Agree(damaged, nullptr, {})) << i;
        EXPECT_TRUE(Agree(damaged, &window, {.try_recover_truncated = i % 2 == 0})) << i;
      }
    }
  }
}

TEST(JpegDecode, FilesWithoutARestartMarkerGiveThePixelsOfLibjpeg) {
  std::string file = WriteFile({.restart_interval = 2});
  const size_t marker = file.find("\xff\xd3");
  ASSERT_NE(marker, std::string::npos);
  file[marker + 1] = '\xd5';
  EXPECT_TRUE(Agree(file, nullptr, {}));
  EXPECT_TRUE(Agree(file.erase(marker, 2), nullptr, {}));
}

}  // namespace
}  // namespace estimator::image
