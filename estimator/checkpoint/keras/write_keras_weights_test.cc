#include "estimator/checkpoint/keras/write_keras_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/keras/hdf5_file.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Variables = std::vector<std::pair<std::string, Array>>;

Variables Read(const std::string& path) {
  const auto reader = BundleReader::Open(path).value();
  Variables variables;
  for (const std::string& name : reader->names())
    variables.emplace_back(name, reader->Read(name).value());
  return variables;
}

// testdata/interop/check_keras_files.py loads such files with Keras.
TEST(WriteKerasWeights, WhatIsWrittenIsRead) {
  const TempDir dir;
  const std::string path = dir.File("new/w.h5");
  for (const std::string file : {"small_weights.h5", "text.h5", "dtypes.h5"}) {
    const Variables variables = Read("testdata/keras/" + file);
    EST_ASSERT_OK(WriteKerasWeights(path, variables));
    const Variables again = Read(path);
    ASSERT_EQ(again.size(), variables.size());
    for (size_t i = 0; i < again.size(); ++i) {
      EXPECT_EQ(again[i].first, variables[i].first);
      ASSERT_EQ(again[i].second.TypeString(), variables[i].second.TypeString());
      EXPECT_EQ(std::memcmp(again[i].second.raw(), variables[i].second.raw(),
                            variables[i].second.num_bytes()),
                0);
    }
  }
}

TEST(WriteKerasWeights, PartsOfALayerAreInItsGroup) {
  const TempDir dir;
  const std::string path = dir.File("w.h5");
  const Array one = Array::Scalar(1.0f);
  EST_ASSERT_OK(WriteKerasWeights(path, {{"both/forward_lstm/lstm_cell/kernel", one},
                                         {"mha/query/kernel", one},
                                         {"mha/value/kernel", one},
                                         {"a/b/kernel", one}}));
  std::vector<std::string> groups;
  const auto contents = Hdf5File::Open(path).value()->Walk("weight_names");
  for (const Hdf5Dataset& dataset : contents->datasets) groups.push_back(dataset.group);
  EXPECT_THAT(groups, ElementsAre("a/b", "both", "mha", "mha"));
}

TEST(WriteKerasWeights, ManyLayersWithLongNamesAreWritten) {
  const TempDir dir;
  const std::string path = dir.File("w.h5");
  Variables variables;
  for (int i = 0; i < 1000; ++i)
    variables.emplace_back(absl::StrCat(std::string(76, 'x'), 1000 + i, "/kernel"),
                           Array::Scalar(static_cast<float>(i)));
  EST_ASSERT_OK(WriteKerasWeights(path, variables));
  EXPECT_EQ(Read(path).size(), 1000);
}

TEST(WriteKerasWeights, BrainFloatsBecomeFloatsAndEqualWeightsGiveEqualBytes) {
  const TempDir dir;
  const Variables variables = {
      {"dense/kernel", Array::Of<float>({2}, {1.5f, -2}).Cast(DType::kBfloat16)}};
  EST_ASSERT_OK(WriteKerasWeights(dir.File("a.h5"), variables));
  EST_ASSERT_OK(WriteKerasWeights(dir.File("b.h5"), variables));
  EXPECT_EQ(Read(dir.File("a.h5"))[0].second.TypeString(), "f32 [2]");
  EXPECT_EQ(ReadFile(dir.File("a.h5")).value(), ReadFile(dir.File("b.h5")).value());
}

TEST(WriteKerasWeights, WhatKerasWouldNotLoadIsRefused) {
  const TempDir dir;
  const Array one = Array::Scalar(1.0f);
  const auto error = [&](const std::string& name, const Variables& variables) {
    const absl::Status status = WriteKerasWeights(dir.File(name), variables);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_FALSE(FileExists(dir.File(name)));
    return std::string(status.message());
  };
  EXPECT_THAT(error("w.weights.h5", {{"d/kernel", one}}), HasSubstr("w.h5"));
  EXPECT_THAT(error("w.keras", {{"d/kernel", one}}), HasSubstr("only from .h5"));
  EXPECT_THAT(error("w.h5", {{"global_step", one}}), HasSubstr("no layer has global_step"));
  EXPECT_THAT(error("w.h5", {{"d/k", one}, {"d/k", one}}), HasSubstr("d/k is given twice"));
  EXPECT_THAT(error("w.h5", {{"d//k", one}}), HasSubstr("cannot be the name"));
  EXPECT_THAT(error("w.h5", {{"d/words", Array::String("x")}}), HasSubstr("only numbers"));
}

}  // namespace
}  // namespace estimator
