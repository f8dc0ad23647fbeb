#include "estimator/checkpoint/bundle/bundle_format.h"

#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

using std::string_literals::operator""s;

TEST(BundleFormat, FileNamesAreTensorFlows) {
  EXPECT_EQ(IndexPath("d/model.ckpt-5"), "d/model.ckpt-5.index");
  EXPECT_EQ(DataPath("d/model.ckpt-5", 2, 16), "d/model.ckpt-5.data-00002-of-00016");
  EXPECT_EQ(MetaGraphPath("d/model.ckpt-5"), "d/model.ckpt-5.meta");
  EXPECT_EQ(MetaGraphPath("d/one-of-5"), "d/one-of-5.meta");
  EXPECT_EQ(MetaGraphPath("7"), "7.meta");
  const std::string any(5, '?');  // no trigraph
  for (const std::string& shard : {any, std::string("00001")}) {
    EXPECT_EQ(MetaGraphPath("d/model.ckpt-5-" + shard + "-of-00016"), "d/model.ckpt-5.meta");
  }
}

TEST(BundleFormat, StepIsTheNumberAfterTheLastDash) {
  EXPECT_EQ(StepOfPrefix("a-3/model.ckpt-50"), 50);
  EXPECT_EQ(StepOfPrefix("a-3/model.ckpt"), -1);
  EXPECT_EQ(StepOfPrefix("model.ckpt-"), -1);
  EXPECT_EQ(StepOfPrefix("model.ckpt-+5"), -1);
  EXPECT_EQ(StepOfPrefix("model.ckpt-99999999999999999999"), -1);
}

// The first entry of the index that TensorFlow 2.15 wrote for a [10,3] variable in three parts.
TEST(BundleFormat, SliceKeyIsTensorFlows) {
  EXPECT_EQ(SliceKey("part", {{.start = 0, .length = 4}, {.start = 0, .length = 3}}),
            "\x00part\x00\x01\x01\x02\x80\x84\x80\x83"s);
}

TEST(BundleFormat, SliceKeyEscapesNamesAndSortsLargeNumbers) {
  EXPECT_EQ(SliceKey("a\x00\xff"s, {}),
            "\x00"
            "a\x00\xff\xff\x00\x00\x01\x00"s);
  // -1 is one byte; 64 is the first that takes two, 8192 the first that takes three.
  EXPECT_EQ(SliceKey("v", {{}}), "\x00v\x00\x01\x01\x01\x80\x7f"s);
  EXPECT_EQ(SliceKey("v", {{.start = 63, .length = 64}}), "\x00v\x00\x01\x01\x01\xbf\xc0\x40"s);
  EXPECT_EQ(SliceKey("v", {{.start = 8191, .length = 8192}}),
            "\x00v\x00\x01\x01\x01\xdf\xff\xe0\x20\x00"s);
  EXPECT_LT(SliceKey("v", {{.start = 127, .length = 1}}),
            SliceKey("v", {{.start = 128, .length = 1}}));
}

}  // namespace
}  // namespace estimator
