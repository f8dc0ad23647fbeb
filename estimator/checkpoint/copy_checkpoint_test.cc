#include "estimator/checkpoint/copy_checkpoint.h"

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// model.ckpt is a TensorBundle and old a sharded checkpoint of the older format. Beside each is one
// of step 0.
TEST(CopyCheckpoint, TakesNoOtherCheckpointWithTheSamePrefix) {
  const TempDir from, to;
  for (const char* name :
       {"model.ckpt.index", "model.ckpt.data-00000-of-00001", "model.ckpt-0.index",
        "model.ckpt-0.data-00000-of-00001", "old-00001-of-00002", "old-00000-of-00002", "old-0"})
    EST_ASSERT_OK(WriteFileAtomically(from.File(name), name));
  EST_ASSERT_OK(CopyCheckpoint(from.File("model.ckpt"), to.path(), "a"));
  EST_ASSERT_OK(CopyCheckpoint(from.File("old"), to.path(), "b"));
  const auto files = ListDirectory(to.path());
  EST_ASSERT_OK(files);
  EXPECT_THAT(*files, ::testing::UnorderedElementsAre("a.index", "a.data-00000-of-00001",
                                                      "b-00001-of-00002", "b-00000-of-00002",
                                                      "checkpoint"));
}

}  // namespace
}  // namespace estimator
