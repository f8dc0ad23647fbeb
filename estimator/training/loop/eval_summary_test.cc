#include "estimator/training/loop/eval_summary.h"

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/summary/summary_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EvalSummary, APictureThatIsLeftOutIsNamedWithTheReason) {
  const TempDir dir;
  EvalResult result;
  result.values["large"] = Array::String(ScalarSummary("a", 0.5f));
  result.values["note"] = Array::String("\xff no summary");
  const testing::CapturedLog log;
  const absl::Status written = WriteEvalSummary(dir.File("eval"), result, /*max_summary_bytes=*/10);
  EST_EXPECT_OK(written);
  EXPECT_THAT(log.warnings,
              ElementsAre(HasSubstr("Skipping summary for large, large would have 16 bytes"),
                          "Skipping summary for note, cannot parse string to Summary"));
}

}  // namespace
}  // namespace estimator
