#include "estimator/base/flag_spelling.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace estimator {
namespace {

TEST(FlagSpelling, IsReadAsItsMeaningWhileItLives) {
  EXPECT_EQ(MeaningOfArgument("--use_tpu=auto"), "--use_tpu=auto");
  {
    const FlagSpelling spelling("use_tpu=auto", "detect_accelerator=true");
    EXPECT_EQ(MeaningOfArgument("--use_tpu=auto"), "--detect_accelerator=true");
    EXPECT_EQ(MeaningOfArgument("-use_tpu=auto"), "--detect_accelerator=true");
    EXPECT_EQ(SpelledValues("use_tpu"), std::vector<std::string>{"auto"});
    EXPECT_TRUE(SpelledValues("use").empty());
    for (const char* other : {"", "-", "--", "use_tpu=auto", "--use_tpu", "--use_tpu=automatic"})
      EXPECT_EQ(MeaningOfArgument(other), other);
  }
  EXPECT_EQ(MeaningOfArgument("--use_tpu=auto"), "--use_tpu=auto");
}

}  // namespace
}  // namespace estimator
