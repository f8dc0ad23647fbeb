#include "models/mnist/digits.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "models/mnist/digit_strokes.h"

namespace estimator::mnist {
namespace {

std::string Bytes(const DigitSet& set) {
  return std::string(static_cast<const char*>(set.images.raw()), set.images.num_bytes()) +
         std::string(static_cast<const char*>(set.labels.raw()), set.labels.num_bytes());
}

TEST(DigitStrokes, EveryDigitHasSeveralStylesInTheUnitBox) {
  for (int digit = 0; digit < kNumClasses; ++digit) {
    EXPECT_GE(GlyphsOf(digit).size(), 3u) << digit;
    for (const Glyph& glyph : GlyphsOf(digit)) {
      for (const Stroke& stroke : glyph) {
        ASSERT_GE(stroke.size(), 2u) << digit;
        for (const Point& point : stroke) {
          EXPECT_TRUE(point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1) << digit;
        }
      }
    }
  }
}

TEST(Digits, HaveMnistsShapes) {
  const DigitSet set = DrawDigits(1, 0, 5);
  EXPECT_EQ(set.images.TypeString(), "u8 [5,28,28]");
  EXPECT_EQ(set.labels.TypeString(), "i32 [5]");
  EXPECT_EQ(DrawDigits(1, 0, 0).images.TypeString(), "u8 [0,28,28]");
}

TEST(Digits, AreTheSameEveryTime) {
  EXPECT_EQ(Bytes(DrawDigits(3, 10, 50)), Bytes(DrawDigits(3, 10, 50)));
}

TEST(Digits, DoNotDependOnTheNumberOfThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::string one = Bytes(DrawDigits(3, 0, 100));
  omp_set_num_threads(3);
  const std::string three = Bytes(DrawDigits(3, 0, 100));
  omp_set_num_threads(before);
  EXPECT_EQ(one, three);
}

TEST(Digits, AnExampleDoesNotDependOnOthers) {
  const DigitSet set = DrawDigits(3, 100, 20);
  std::array<uint8_t, kImagePixels> pixels{};
  const int label = DrawDigit(3, 107, pixels.data());
  EXPECT_EQ(label, set.labels.data<int32_t>()[7]);
  EXPECT_EQ(std::memcmp(pixels.data(), set.images.Row(7).raw(), kImagePixels), 0);
}

TEST(Digits, OtherSeedsAndIndicesAreOtherImages) {
  std::set<std::string> images;
  for (const uint64_t seed : {1, 2}) {
    const DigitSet set = DrawDigits(seed, 0, 500);
    for (int64_t i = 0; i < 500; ++i) {
      images.emplace(static_cast<const char*>(set.images.Row(i).raw()), kImagePixels);
    }
  }
  EXPECT_EQ(images.size(), 1000u);
}

TEST(Digits, ClassesAreEquallyFrequent) {
  const DigitSet set = DrawDigits(5, 0, 4000);
  std::array<int, kNumClasses> counts{};
  for (const int32_t label : set.labels.values<int32_t>()) ++counts.at(static_cast<size_t>(label));
  // 400 expected, standard deviation 19: five of them.
  for (const int count : counts) EXPECT_NEAR(count, 400, 95);
}

// As in MNIST: most of the image is paper, some of it is full ink, and the digit is in the middle.
TEST(Digits, AreInkOnPaperInTheMiddleOfTheImage) {
  const DigitSet set = DrawDigits(6, 0, 300);
  for (int64_t i = 0; i < 300; ++i) {
    const Array image = set.images.Row(i);
    double ink = 0, x_moment = 0, y_moment = 0;
    int num_dark = 0;
    for (int64_t p = 0; p < kImagePixels; ++p) {
      const double value = image.AsDouble(p);
      ink += value;
      x_moment += value * static_cast<double>(p % kImageSide);
      y_moment += value * static_cast<double>(p / kImageSide);
      num_dark += value > 128;
    }
    EXPECT_GT(num_dark, 15) << i;
    EXPECT_LT(num_dark, 300) << i;
    EXPECT_NEAR(x_moment / ink, 13.5, 6) << i;
    EXPECT_NEAR(y_moment / ink, 13.5, 6) << i;
  }
}

// The labels say what is drawn: unseen digits resemble the mean image of their own class more than
// others', far more often than the one time in ten that chance would give.
TEST(Digits, ResembleTheMeanOfTheirClass) {
  std::vector<std::vector<double>> means(kNumClasses, std::vector<double>(kImagePixels));
  const DigitSet train = DrawDigits(8, 0, 2000), test = DrawDigits(8, 1 << 20, 500);
  for (int64_t i = 0; i < 2000; ++i) {
    const Array image = train.images.Row(i);
    std::vector<double>& mean = means[static_cast<size_t>(train.labels.data<int32_t>()[i])];
    for (int64_t p = 0; p < kImagePixels; ++p) mean[static_cast<size_t>(p)] += image.AsDouble(p);
  }
  for (std::vector<double>& mean : means) {
    double norm = 0;
    for (const double v : mean) norm += v * v;
    for (double& v : mean) v /= std::sqrt(norm);
  }
  int num_correct = 0;
  for (int64_t i = 0; i < 500; ++i) {
    const Array image = test.images.Row(i);
    std::array<double, kNumClasses> scores{};
    for (size_t c = 0; c < kNumClasses; ++c) {
      for (int64_t p = 0; p < kImagePixels; ++p) {
        scores[c] += means[c][static_cast<size_t>(p)] * image.AsDouble(p);
      }
    }
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    num_correct += best == test.labels.data<int32_t>()[i];
  }
  EXPECT_GT(num_correct, 250);
}

}  // namespace
}  // namespace estimator::mnist
