#include "tools/saved_model/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FindSavedModel, TheNewestExportOfABaseFolderIsTaken) {
  const TempDir dir;
  for (const std::string name : {"999", "1700000000", "1700000001", "temp-1700000002", "other"}) {
    EST_ASSERT_OK(CreateDirectories(dir.File(name)));
    EST_ASSERT_OK(WriteFileAtomically(dir.File(name + "/saved_model.pb"), ""));
  }
  EST_ASSERT_OK(CreateDirectories(dir.File("1700000009")));  // nothing in it
  EXPECT_EQ(*FindSavedModel(dir.path()), dir.File("1700000001"));
  EXPECT_EQ(*FindSavedModel(dir.File("999")), dir.File("999"));
}

TEST(FindSavedModel, AMetaFileIsAModelAndIsFoundBesideCheckpoints) {
  const TempDir dir;
  const std::string meta = dir.File("model.ckpt-7.meta");
  EXPECT_THAT(FindSavedModel(meta), ErrorHas("there is no file " + meta));
  EST_ASSERT_OK(WriteFileAtomically(meta, ""));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("model.ckpt-7.index"), ""));
  EXPECT_EQ(*FindSavedModel(meta), meta);
  for (const std::string& path : {dir.path(), dir.File("model.ckpt-7")}) {
    EXPECT_THAT(FindSavedModel(path), ErrorHas("--dir=" + meta + " is the graph of a checkpoint"));
  }
}

TEST(FindSavedModel, WhatIsNotThereIsSaid) {
  const TempDir dir;
  EXPECT_THAT(FindSavedModel(dir.path()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(FindSavedModel(dir.path()), ErrorHas("the folder contains nothing"));
  EXPECT_THAT(FindSavedModel(dir.File("none")), ErrorHas("there is no such folder"));
}

TEST(ParseInputFiles, NamesAndFiles) {
  EXPECT_THAT(*ParseInputFiles("x=a/x.npy;y=y=1.npy;"),
              ElementsAre(Pair("x", "a/x.npy"), Pair("y", "y=1.npy")));
  EXPECT_THAT(ParseInputFiles("x.npy"), ErrorHas("'x.npy' is not NAME=FILE"));
  EXPECT_THAT(ParseInputFiles("x="), ErrorHas("'x=' is not NAME=FILE"));
  EXPECT_THAT(ParseInputFiles("x=a.npy;x=b.npy"), ErrorHas("'x' occurs twice"));
}

TEST(ReadInputs, ArraysAndRecords) {
  const TempDir dir;
  EST_ASSERT_OK(SaveNpy(dir.File("x.npy"), Array::Of<float>({2}, {1, 2})));
  auto writer = TFRecordWriter::Open(dir.File("in.tfrecord"));
  EST_ASSERT_OK(writer);
  // An Example may end in zero bytes, which NumPy's strings drop.
  const std::string record("ab\0", 3);
  EST_ASSERT_OK((*writer)->Write(record));
  EST_ASSERT_OK((*writer)->Close());
  const auto inputs = ReadInputs({{"x", dir.File("x.npy")}, {"examples", dir.File("in.tfrecord")}});
  EST_ASSERT_OK(inputs);
  EXPECT_THAT(inputs->at("x").values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(inputs->at("examples").values<std::string>(), ElementsAre(record));
  EXPECT_THAT(ReadInputs({{"x", "x.txt"}}),
              ErrorHas("input 'x': x.txt: an input must be a .npy file"));
  // As in saved_model_cli: FILE.npz[NAME], or FILE.npz.
  for (const char* const path : {"none.npz", "none.npz[a/b]", "with.npz[x]/none.npz[y[0]]"})
    EXPECT_THAT(ReadInputs({{"x", dir.File(path)}}), StatusIs(absl::StatusCode::kNotFound)) << path;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("bad.npz"), "123"));
  EXPECT_THAT(ReadInputs({{"x", dir.File("bad.npz[x]")}}),
              ErrorHas("bad.npz is not a whole zip archive"));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("bad.npy"), "123"));
  EXPECT_THAT(ReadInputs({{"x", dir.File("bad.npy")}}), ErrorHas("bad.npy: not a .npy file"));
  const std::string whole = NpyBytes(Array::Of<float>({2}, {1, 2}));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("cut.npy"), whole.substr(0, whole.size() - 3)));
  EXPECT_THAT(ReadInputs({{"x", dir.File("cut.npy")}}),
              ErrorHas("cut.npy: the .npy file is cut short: its header says f32 [2], 8 bytes, and "
                       "5 follow"));
}

// A fixed bug: float64, which NumPy makes by default, was refused for a model of float32.
TEST(ConvertInputs, NumbersBecomeThoseOfTheSignatureIfTheirValuesAreKept) {
  const std::map<std::string, SavedTensor> wanted = {
      {"x", {"x:0", DType::kFloat32, std::nullopt}},
      {"n", {"n:0", DType::kInt32, std::nullopt}},
      {"big", {"big:0", DType::kInt32, std::nullopt}},
      {"half", {"half:0", DType::kInt32, std::nullopt}},
      {"text", {"text:0", DType::kString, std::nullopt}}};
  ArrayMap inputs;
  inputs["x"] = Array::Of<double>({2}, {0.1, 2});
  inputs["n"] = Array::Of<int64_t>({1}, {-7});
  inputs["big"] = Array::Of<int64_t>({1}, {int64_t{1} << 40});
  inputs["half"] = Array::Of<double>({1}, {0.5});
  inputs["text"] = Array::Of<float>({1}, {1});
  inputs["other"] = Array::Of<double>({1}, {1});
  ConvertInputs(wanted, inputs);
  EXPECT_THAT(inputs["x"].values<float>(), ElementsAre(0.1f, 2));
  EXPECT_THAT(inputs["n"].values<int32_t>(), ElementsAre(-7));
  EXPECT_EQ(inputs["big"].dtype(), DType::kInt64);
  EXPECT_EQ(inputs["half"].dtype(), DType::kFloat64);
  EXPECT_EQ(inputs["text"].dtype(), DType::kFloat32);
  EXPECT_EQ(inputs["other"].dtype(), DType::kFloat64);
}

TEST(OutputPath, StaysBelowTheFolder) {
  EXPECT_EQ(*OutputPath("out", "probabilities"), "out/probabilities.npy");
  EXPECT_EQ(*OutputPath("out", "metrics/accuracy..x/value"), "out/metrics/accuracy..x/value.npy");
  EXPECT_EQ(*OutputPath("out", "/etc/x"), "out/etc/x.npy");
  for (const char* const name : {"../x", "a/../../x", ".."}) {
    EXPECT_THAT(
        OutputPath("out", name),
        ErrorHas("would be written outside of --outdir; select other outputs with --outputs"))
        << name;
  }
}

}  // namespace
}  // namespace estimator
