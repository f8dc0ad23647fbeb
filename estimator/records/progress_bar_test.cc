#include "estimator/records/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProgressBar, TextHasTheShareTheRateAndTheTimeLeft) {
  EXPECT_EQ(ProgressText("images", 50, 200, 0, 10),
            "[======>                 ] 25% 50 of 200 images, 5/s, 30.0 s left");
  EXPECT_EQ(ProgressText("images", 200, 200, 0, 40),
            "[========================] 100% 200 of 200 images, 5/s, 40.0 s");
}

TEST(ProgressBar, WorkOfAnEarlierRunDoesNotCountForTheRate) {
  EXPECT_THAT(ProgressText("images", 150, 200, 100, 10), HasSubstr("5/s, 10.0 s left"));
}

TEST(ProgressBar, AnUnknownTotalShowsNoBar) {
  EXPECT_EQ(ProgressText("records", 1500, 0, 0, 1), "1.5k records, 1.5k/s");
}

TEST(ProgressBar, ATerminalGetsOneLineThatIsRedrawnAndALogNothingForAMoment) {
  const TempDir dir;
  for (const auto style : {ProgressBar::Style::kTerminal, ProgressBar::Style::kLines}) {
    std::FILE* const out = std::fopen(dir.File("out").c_str(), "w");
    ASSERT_NE(out, nullptr);
    {
      ProgressBar progress("images", 2, style, out);
      progress.AddEarlier(1);
      progress.Add(1);
    }
    std::fclose(out);
    EST_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(dir.File("out")));
    if (style == ProgressBar::Style::kLines) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_THAT(text, HasSubstr("\r[========================] 100% 2 of 2 images"));
      EXPECT_THAT(text, EndsWith("\033[K\n"));
    }
  }
}

}  // namespace
}  // namespace estimator
