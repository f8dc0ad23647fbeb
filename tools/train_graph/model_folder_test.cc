#include "tools/train_graph/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class ModelFolder : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes = "") {
    EST_ASSERT_OK(WriteFileAtomically(dir_.File(name), bytes));
  }
  std::string Found() { return FindGraph(dir_.path(), "").value_or("none"); }
  TempDir dir_;
};

TEST_F(ModelFolder, FindsTheGraphOfTheLargestStep) {
  Write("model.ckpt-95.meta");
  Write("model.ckpt-1000.meta");
  Write("model.ckpt-200.index");
  Write("other.meta");
  EXPECT_EQ(Found(), dir_.File("model.ckpt-1000.meta"));
  Write(kImportedGraphName);
  EXPECT_EQ(Found(), dir_.File(kImportedGraphName));
  EXPECT_EQ(*FindGraph(dir_.path(), dir_.File("other.meta")), dir_.File("other.meta"));
}

TEST_F(ModelFolder, SaysWhatIsMissing) {
  EXPECT_THAT(FindGraph("", "").status().message(), HasSubstr("--model_dir=DIR must be given"));
  EXPECT_THAT(FindGraph(dir_.File("none"), "").status().message(), HasSubstr("there is no folder"));
  EXPECT_THAT(FindGraph(dir_.path(), "").status().message(),
              HasSubstr("checkpoint_save_graph_def=False"));
  EXPECT_THAT(FindGraph("", dir_.File("x.meta")).status().message(), HasSubstr("there is no file"));
  EXPECT_THAT(FindGraph("", dir_.File("model.ckpt-5")).status().message(),
              HasSubstr("--meta must be a file such as model.ckpt-1000.meta"));
}

TEST_F(ModelFolder, CopiesTheCheckpointBesideTheGraph) {
  const std::string old = dir_.File("old"), fresh = dir_.File("new");
  EST_ASSERT_OK(CreateDirectories(old));
  Saver saver;
  EST_ASSERT_OK(saver.Save(old, 5, {{"w", Array::Scalar(5.f)}}).status());
  EST_ASSERT_OK(saver.Save(old, 50, {{"w", Array::Scalar(50.f)}}).status());
  const std::string meta = JoinPath(old, "model.ckpt-5.meta");
  EST_ASSERT_OK(WriteFileAtomically(meta, "the graph"));
  EST_ASSERT_OK(PrepareFolder(fresh, meta));
  EXPECT_EQ(LatestCheckpoint(fresh).value().value_or(""), JoinPath(fresh, "model.ckpt-5"));
  EXPECT_EQ(LoadVariable(fresh, "w")->scalar<float>(), 5);
  EXPECT_FALSE(FileExists(JoinPath(fresh, "model.ckpt-50.index")));
  EXPECT_EQ(*ReadFile(JoinPath(fresh, kImportedGraphName)), "the graph");
  EXPECT_EQ(*FindGraph(fresh, ""), JoinPath(fresh, kImportedGraphName));

  // A folder with checkpoints keeps them.
  EST_ASSERT_OK(PrepareFolder(old, meta));
  EXPECT_EQ(LatestCheckpoint(old).value().value_or(""), JoinPath(old, "model.ckpt-50"));
  EXPECT_EQ(*FindGraph(old, ""), JoinPath(old, kImportedGraphName));
  EST_ASSERT_OK(PrepareFolder(old, JoinPath(old, kImportedGraphName)));
}

TEST_F(ModelFolder, RefusesToBeginWithOtherValues) {
  Write("model.ckpt-5.meta", "the graph");
  const absl::Status status = PrepareFolder(dir_.File("new"), dir_.File("model.ckpt-5.meta"));
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("there is none beside"));
  EXPECT_FALSE(FileExists(JoinPath(dir_.File("new"), kImportedGraphName)));
}

}  // namespace
}  // namespace estimator
