#include "estimator/base/cpu/cpu_isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class CpuIsaTest : public testing::Test {
 protected:
  ~CpuIsaTest() override { SetNewestCpuIsaForTest(std::nullopt); }
};

TEST_F(CpuIsaTest, WithoutALimitTheProcessMayUseWhatTheCpuHas) {
  EXPECT_TRUE(MayUse(CpuIsa::kAvx2));
  EXPECT_EQ(MayUse(CpuIsa::kAvx512), __builtin_cpu_supports("avx512f") &&
                                         __builtin_cpu_supports("avx512cd") &&
                                         __builtin_cpu_supports("avx512vl"));
  SetNewestCpuIsaForTest(CpuIsa::kAvx512Bf16);
  EXPECT_TRUE(MayUse(CpuIsa::kAvx512));
  EXPECT_TRUE(MayUse(CpuIsa::kAvx512Bf16));
  EXPECT_FALSE(MayUse(CpuIsa::kAmx));
}

TEST_F(CpuIsaTest, ALimitExcludesNewerSets) {
  SetNewestCpuIsaForTest(CpuIsa::kAmx);
  EST_ASSERT_OK(LimitCpuIsa("avx512"));
  EXPECT_TRUE(MayUse(CpuIsa::kAvx512));
  EXPECT_FALSE(MayUse(CpuIsa::kAvx512Bf16));
  EST_ASSERT_OK(LimitCpuIsa("avx2"));
  EXPECT_TRUE(MayUse(CpuIsa::kAvx2));
  EXPECT_FALSE(MayUse(CpuIsa::kAvx512));
}

TEST_F(CpuIsaTest, WhatTheCpuLacksIsAnErrorWithWhatItHas) {
  SetNewestCpuIsaForTest(CpuIsa::kAvx512);
  EXPECT_THAT(LimitCpuIsa("amx"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cpu_isa=amx: this CPU has avx512 at most; set cpu_isa to that "
                                 "or less, or leave it out")));
  EXPECT_TRUE(MayUse(CpuIsa::kAvx512)) << "the limit is not set";
}

TEST_F(CpuIsaTest, AnUnknownNameIsAnErrorWithTheNames) {
  EXPECT_THAT(LimitCpuIsa("AVX2"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cpu_isa must be avx2, avx512, avx512_bf16 or amx, given "
                                 "\"AVX2\"")));
  EXPECT_THAT(LimitCpuIsa(""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("given \"\"")));
}

TEST_F(CpuIsaTest, ALibraryGetsTheLimitAndMayRefuseIt) {
  static std::optional<CpuIsa> seen;
  static bool refuses = false;
  OnCpuIsaLimit([](CpuIsa limit) {
    seen = limit;
    return refuses ? absl::FailedPreconditionError("too late") : absl::OkStatus();
  });
  SetNewestCpuIsaForTest(CpuIsa::kAmx);
  EST_ASSERT_OK(LimitCpuIsa("avx512_bf16"));
  EXPECT_EQ(seen, CpuIsa::kAvx512Bf16);
  refuses = true;
  EXPECT_THAT(LimitCpuIsa("avx2"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("too late")));
  EXPECT_TRUE(MayUse(CpuIsa::kAvx512Bf16)) << "the limit is not set";
  refuses = false;
}

}  // namespace
}  // namespace estimator
