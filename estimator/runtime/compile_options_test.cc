#include "estimator/runtime/compile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(CompileOptions, ADisabledPassDoesNotRun) {
  const CompileOptions options{.disable_passes = {"fuse_pool"}};
  EXPECT_FALSE(Runs(options, "fuse_pool"));
  EXPECT_TRUE(Runs(options, "fuse_bias"));
  EXPECT_TRUE(Runs({}, "fuse_pool"));
}

TEST(CompileOptions, AllUnknownPassesAreNamedWithTheKnownOnes) {
  EST_EXPECT_OK(CheckPassNames({}));
  EST_EXPECT_OK(CheckPassNames(OptionalPasses()));
  const absl::Status status = CheckPassNames({"fuse_pol", "fuse_bias", "layouts"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("unknown names: \"fuse_pol\", \"layouts\";"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("fuse_pool, fuse_conv_block"));
}

TEST(CompileOptions, FlagsAreParsed) {
  EXPECT_EQ(*ParseConvAlgorithm("direct"), ConvAlgorithm::kDirect);
  EXPECT_EQ(*ParseConvAlgorithm("winograd"), ConvAlgorithm::kWinograd);
  EXPECT_EQ(*ParseConvAlgorithm("auto"), ConvAlgorithm::kAuto);
  EXPECT_THAT(ParseConvAlgorithm("fft").status(), ErrorHas("auto, direct or winograd, given"));
  EXPECT_THAT(ParsePassNames("fuse_pool, fuse_bias,"),
              ::testing::ElementsAre("fuse_pool", "fuse_bias"));
  EXPECT_TRUE(ParsePassNames("").empty());
}

}  // namespace
}  // namespace estimator
