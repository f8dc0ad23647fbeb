#include "tools/saved_model/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(FindSavedModel, TheNewestExportOfABaseFolderIsTaken) {
  const TempDir dir;
  for (const std::string name : {"999", "1700000000", "1700000001", "temp-1700000002", "other"}) {
    ASSERT_TRUE(CreateDirectories(dir.File(name)).ok());
    ASSERT_TRUE(WriteFileAtomically(dir.File(name + "/saved_model.pb"), "").ok());
  }
  ASSERT_TRUE(CreateDirectories(dir.File("1700000009")).ok());  // nothing in it
  EXPECT_EQ(*FindSavedModel(dir.path()), dir.File("1700000001"));
  EXPECT_EQ(*FindSavedModel(dir.File("999")), dir.File("999"));
}

TEST(FindSavedModel, AMetaFileIsAModelAndIsFoundBesideCheckpoints) {
  const TempDir dir;
  const std::string meta = dir.File("model.ckpt-7.meta");
  EXPECT_THAT(Message(FindSavedModel(meta).status()), HasSubstr("there is no file " + meta));
  ASSERT_TRUE(WriteFileAtomically(meta, "").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.File("model.ckpt-7.index"), "").ok());
  EXPECT_EQ(*FindSavedModel(meta), meta);
  for (const std::string& path : {dir.path(), dir.File("model.ckpt-7")}) {
    EXPECT_THAT(Message(FindSavedModel(path).status()),
                HasSubstr("--dir=" + meta + " is the graph of a checkpoint"));
  }
}

TEST(FindSavedModel, WhatIsNotThereIsSaid) {
  const TempDir dir;
  EXPECT_EQ(FindSavedModel(dir.path()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(FindSavedModel(dir.path()).status()), HasSubstr("that folder holds nothing"));
  EXPECT_THAT(Message(FindSavedModel(dir.File("none")).status()),
              HasSubstr("there is no such folder"));
}

TEST(ParseInputFiles, NamesAndFiles) {
  EXPECT_THAT(*ParseInputFiles("x=a/x.npy;y=y=1.npy;"),
              ElementsAre(Pair("x", "a/x.npy"), Pair("y", "y=1.npy")));
  EXPECT_THAT(Message(ParseInputFiles("x.npy").status()), HasSubstr("'x.npy' is not NAME=FILE"));
  EXPECT_THAT(Message(ParseInputFiles("x=").status()), HasSubstr("'x=' is not NAME=FILE"));
  EXPECT_THAT(Message(ParseInputFiles("x=a.npy;x=b.npy").status()), HasSubstr("'x' stands twice"));
}

TEST(ReadInputs, ArraysAndRecords) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("x.npy"), NpyBytes(Array::Of<float>({2}, {1, 2}))).ok());
  auto writer = TFRecordWriter::Open(dir.File("in.tfrecord"));
  ASSERT_TRUE(writer.ok()) << writer.status();
  // An Example may end in zero bytes, which NumPy's strings drop.
  const std::string record("ab\0", 3);
  ASSERT_TRUE((*writer)->Write(record).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const auto inputs = ReadInputs({{"x", dir.File("x.npy")}, {"examples", dir.File("in.tfrecord")}});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_THAT(inputs->at("x").values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(inputs->at("examples").values<std::string>(), ElementsAre(record));
  EXPECT_THAT(Message(ReadInputs({{"x", "x.txt"}}).status()),
              HasSubstr("input 'x': x.txt: an input is a .npy file"));
  ASSERT_TRUE(WriteFileAtomically(dir.File("bad.npy"), "123").ok());
  EXPECT_THAT(Message(ReadInputs({{"x", dir.File("bad.npy")}}).status()),
              HasSubstr("bad.npy: no .npy file"));
  const std::string whole = NpyBytes(Array::Of<float>({2}, {1, 2}));
  ASSERT_TRUE(WriteFileAtomically(dir.File("cut.npy"), whole.substr(0, whole.size() - 3)).ok());
  EXPECT_THAT(
      Message(ReadInputs({{"x", dir.File("cut.npy")}}).status()),
      HasSubstr("cut.npy: the .npy file is cut short: its header says f32 [2], 8 bytes, and "
                "5 follow"));
}

TEST(OutputPath, StaysBelowTheFolder) {
  EXPECT_EQ(*OutputPath("out", "probabilities"), "out/probabilities.npy");
  EXPECT_EQ(*OutputPath("out", "metrics/accuracy..x/value"), "out/metrics/accuracy..x/value.npy");
  EXPECT_EQ(*OutputPath("out", "/etc/x"), "out/etc/x.npy");
  for (const char* const name : {"../x", "a/../../x", ".."}) {
    EXPECT_THAT(Message(OutputPath("out", name).status()),
                HasSubstr("would be written outside of --outdir; --outputs takes others"))
        << name;
  }
}

}  // namespace
}  // namespace estimator
