#include "tpu/compile_check/compile_report.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kScheduledHlo[] = R"(HloModule step, is_scheduled=true

ENTRY %main (x: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0:T(8,128)} parameter(0)
  %a = f32[16,128]{1,0:T(8,128)} fusion(%x), kind=kLoop, calls=%f, metadata={op_name="dense/MatMul"}
  %b = f32[8,128]{1,0:T(8,128)} fusion(%a), kind=kLoop, calls=%f
  ROOT %d = f32[8,128]{1,0:T(8,128)} fusion(%b), kind=kLoop, calls=%f
}
)";

CompileRequest RequestFor(absl::string_view slice, std::string stablehlo = "") {
  return {.libtpu = "", .stablehlo = std::move(stablehlo), .target = *FindCompileTarget(slice)};
}

TEST(ReportOn, AProgramThatFitsHasItsMemoryAndItsRoofline) {
  // On a core of a v3: 123e9 / 61.5e12 is 2 ms, 450e6 / 450e9 is 1 ms.
  const CompileOutcome outcome{.status = absl::OkStatus(),
                               .seconds = 2,
                               .costs = {{"flops", 123e9}, {"bytes accessed", 450e6}},
                               .scheduled_hlo = kScheduledHlo};
  const CompileReport report = ReportOn(RequestFor("v3-8"), outcome);
  EXPECT_TRUE(report.passed);
  EXPECT_THAT(report.text, HasSubstr("v3-8 (v3:2x2x1, 8 replicas): compiles (2.0 s)\n"));
  EXPECT_THAT(report.text, HasSubstr("arguments 4.00 KiB, outputs 4.00 KiB"));
  EXPECT_THAT(report.text, HasSubstr("temporaries about 12.00 KiB"));
  EXPECT_THAT(report.text, HasSubstr("% of 16 GiB"));
  EXPECT_THAT(report.text, HasSubstr("8.00 KiB  f32[16,128]  dense/MatMul\n"));
  EXPECT_THAT(report.text, HasSubstr("4.00 KiB  f32[8,128]  (made by the compiler)\n"));
  EXPECT_THAT(report.text, HasSubstr("123.000 GFLOP, 429.15 MiB of memory traffic\n"));
  EXPECT_THAT(report.text,
              HasSubstr("at least 2.000 ms a step, bound by arithmetic (61.5 TFLOP/s"));
}

TEST(ReportOn, TheSameProgramMayBeBoundByTheMemoryOfAnotherChip) {
  // On a v6e: 123e9 / 918e12 is 0.13 ms, 450e6 / 1640e9 is 0.27 ms.
  const CompileOutcome outcome{.status = absl::OkStatus(),
                               .seconds = 2,
                               .costs = {{"flops", 123e9}, {"bytes accessed", 450e6}},
                               .scheduled_hlo = ""};
  const CompileReport report = ReportOn(RequestFor("v6e-8"), outcome);
  EXPECT_THAT(report.text, HasSubstr("at least 0.274 ms a step, bound by memory"));
  EXPECT_THAT(report.text, Not(HasSubstr("memory of a device")));  // not known
}

TEST(ReportOn, AProgramThatDoesNotFitHasItsLargestValues) {
  const std::string program = R"(module {
    %1 = stablehlo.abs %0 : tensor<8x2xf32> loc(#loc0)
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x9xf32>) -> tensor<8x9xbf16> loc(#loc1)
}
#loc0 = loc("Abs")
#loc1 = loc("dense/MatMul")
)";
  const CompileOutcome outcome{.status = absl::ResourceExhaustedError("used 17.2G of 15.7G hbm"),
                               .seconds = 3,
                               .costs = {},
                               .scheduled_hlo = ""};
  const CompileReport report = ReportOn(RequestFor("v2-8", program), outcome);
  EXPECT_FALSE(report.passed);
  EXPECT_THAT(report.text, HasSubstr("v2-8 (v2:2x2x1, 8 replicas): does not fit (3.0 s)\n"));
  EXPECT_THAT(report.text, HasSubstr("  used 17.2G of 15.7G hbm\n"));
  const size_t matmul = report.text.find("144 bytes  bf16[8,9]  dense/MatMul\n");
  const size_t abs = report.text.find("64 bytes  f32[8,2]  Abs\n");
  EXPECT_NE(matmul, std::string::npos) << report.text;
  EXPECT_NE(abs, std::string::npos) << report.text;
  EXPECT_LT(matmul, abs);
}

// All lines of a step's report begin with spaces, but the first.
TEST(ReportOn, EveryLineOfAMessageIsIndented) {
  const CompileOutcome outcome{.status = absl::InternalError("one\nSee two"),
                               .seconds = 0,
                               .costs = {},
                               .scheduled_hlo = ""};
  EXPECT_THAT(ReportOn(RequestFor("v3-8"), outcome).text, HasSubstr("\n  one\n  See two\n"));
}

TEST(ReportOn, OtherFailuresAreToldApart) {
  const std::pair<absl::Status, const char*> cases[] = {
      {absl::AbortedError("signal 6"), "crashes the compiler"},
      {absl::CancelledError("signal 15"), "a signal ended the compiler"},
      {absl::DeadlineExceededError("600 s"), "was not compiled in time"},
      {absl::InvalidArgumentError("bad type"), "does not compile"},
  };
  for (const auto& [status, words] : cases) {
    const CompileOutcome outcome{.status = status, .seconds = 0, .costs = {}, .scheduled_hlo = ""};
    const CompileReport report = ReportOn(RequestFor("v3-8"), outcome);
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(report.text, HasSubstr(words));
    EXPECT_THAT(report.text, HasSubstr(std::string(status.message())));
    EXPECT_THAT(report.text, Not(HasSubstr("the largest values")));
  }
}

TEST(HumanBytes, HasTheUnitOfTheSize) {
  EXPECT_EQ(HumanBytes(144), "144 bytes");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(16.0 * 1024 * 1024 * 1024), "16.00 GiB");
}

}  // namespace
}  // namespace estimator::tpu
