#include "tpu/compile_check/largest_batch.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/compile_check/chips.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kUsableMiB = 7660;  // of a device of the stand-in compiler, about that of a v2

// The model's memory in MiB, by the rows of a device.
using MemoryOfRows = double (*)(int64_t rows);

absl::Status TooLarge(double needed_mib) {
  return absl::ResourceExhaustedError(
      absl::StrFormat("Ran out of memory on HBM, the total memory required for HLO temporaries "
                      "(%.2fM) exceeds available HBM (%.2fM). HLO module: step.",
                      needed_mib, kUsableMiB));
}

// A scheduled program with one temporary of so many MiB.
std::string Scheduled(double mib) {
  return absl::StrCat("HloModule step, is_scheduled=true\n\nENTRY %main () -> f32[1024] {\n",
                      "  %a = s8[", static_cast<int64_t>(mib), ",1048576]{1,0} fusion()\n",
                      "  ROOT %b = f32[1024]{0} fusion(%a)\n}\n");
}

std::string DumpFolder() {
  const absl::string_view args = std::getenv("LIBTPU_INIT_ARGS");
  const absl::string_view flag = "--xla_jf_dump_to=";
  const size_t begin = args.find(flag) + flag.size();
  return std::string(args.substr(begin, args.find(' ', begin) - begin));
}

// A stand-in for libtpu compiles programs whose text is their number of rows.
class LargestBatchTest : public ::testing::Test {
 protected:
  CompileRequest Request(MemoryOfRows memory, bool tells_memory = true) const {
    return {.libtpu = "",
            .stablehlo = "",
            .target = *FindCompileTarget("v2-8"),
            .compiler = [memory, tells_memory](
                            const CompileRequest& asked) -> absl::StatusOr<pjrt::CompiledProgram> {
              int64_t rows = 0;
              if (!absl::SimpleAtoi(asked.stablehlo, &rows))
                return absl::InvalidArgumentError("no number of rows");
              const double mib = memory(rows);
              if (mib > kUsableMiB)
                return tells_memory ? TooLarge(mib) : absl::ResourceExhaustedError("too large");
              if (tells_memory)
                std::ofstream(DumpFolder() + "/module.TLP-hlo.txt") << Scheduled(mib);
              return pjrt::CompiledProgram();
            }};
  }
  CompileOutcome OutcomeOf(int64_t rows, MemoryOfRows memory, bool tells_memory = true) const {
    CompileRequest request = Request(memory, tells_memory);
    request.stablehlo = absl::StrCat(rows);
    const absl::StatusOr<CompileOutcome> outcome = CompileInChild(request);
    EST_EXPECT_OK(outcome);
    return outcome.value_or(CompileOutcome());
  }
  LargestBatch Find(int64_t rows, MemoryOfRows memory, const SearchLimits& limits = {},
                    bool tells_memory = true) {
    return FindLargestBatch(
        Request(memory, tells_memory), OutcomeOf(rows, memory, tells_memory), rows,
        [this](int64_t count) -> absl::StatusOr<std::optional<std::string>> {
          tried_.push_back(count);
          if (count == unbuildable_) return std::optional<std::string>();
          return std::optional<std::string>(absl::StrCat(count));
        },
        limits);
  }

  std::vector<int64_t> tried_;
  int64_t unbuildable_ = -1;
};

// 500 MiB of variables and 35 MiB a row: 204.6 rows fit.
double Linear(int64_t rows) { return 500 + 35 * static_cast<double>(rows); }
// The memory of the rows jumps, as if the compiler changed layouts: 311 rows fit.
double WithAJump(int64_t rows) {
  return rows < 312 ? 10 * static_cast<double>(rows) : 10000 + static_cast<double>(rows);
}
double NothingFits(int64_t) { return 9000; }

TEST_F(LargestBatchTest, InterpolatesDownFromABatchThatDoesNotFit) {
  const LargestBatch largest = Find(/*rows=*/512, Linear);
  EST_EXPECT_OK(largest.ended);
  EXPECT_EQ(largest.fits, 200);
  EXPECT_EQ(largest.too_large, 208);
  EXPECT_LE(largest.num_compiles, 4);
  EXPECT_EQ(largest.num_compiles, static_cast<int>(tried_.size()));
  EXPECT_EQ(LargestBatchLine(largest, 512, 8),
            "  the largest batch that fits has 200 rows a replica, 1600 in all; 208 rows a replica "
            "do not fit; this one has 512 and 4096\n");
}

TEST_F(LargestBatchTest, HalvesWhereMemoryIsNotAStraightLine) {
  const LargestBatch largest = Find(/*rows=*/2048, WithAJump, {.max_compiles = 20});
  EST_EXPECT_OK(largest.ended);
  EXPECT_EQ(largest.fits, 304);
  EXPECT_EQ(largest.too_large, 312);
  EXPECT_LE(largest.num_compiles, 14);
}

TEST_F(LargestBatchTest, HalvesIfTheMemoryIsNotKnown) {
  const LargestBatch largest = Find(/*rows=*/512, Linear, {}, /*tells_memory=*/false);
  EST_EXPECT_OK(largest.ended);
  EXPECT_EQ(largest.fits, 200);
  EXPECT_THAT(tried_, ElementsAre(256, 128, 192, 224, 208, 200));
}

TEST_F(LargestBatchTest, ABatchThatFitsGrowsUntilItFillsTheMemory) {
  const LargestBatch largest = Find(/*rows=*/16, Linear, {.max_compiles = 4, .resolution = 0.125});
  EXPECT_GE(largest.fits, 176);
  EXPECT_LE(largest.fits, 200);
  EXPECT_LE(largest.num_compiles, 4);
}

TEST_F(LargestBatchTest, TheRowsThatWereCheckedNeedNoMultipleOf8) {
  const LargestBatch largest = Find(/*rows=*/205, Linear);
  EST_EXPECT_OK(largest.ended);
  EXPECT_EQ(largest.fits, 200);
  EXPECT_EQ(largest.too_large, 205);
  EXPECT_THAT(tried_, ElementsAre(200));
}

TEST_F(LargestBatchTest, EvenEightRowsMayBeTooLarge) {
  const LargestBatch largest = Find(/*rows=*/64, NothingFits);
  EST_EXPECT_OK(largest.ended);
  EXPECT_EQ(largest.fits, 0);
  EXPECT_EQ(largest.too_large, 8);
  EXPECT_THAT(LargestBatchLine(largest, 64, 8), HasSubstr("no batch fits: even 8 rows a replica"));
}

TEST_F(LargestBatchTest, TheNumberOfProgramsIsLimited) {
  const LargestBatch largest =
      Find(/*rows=*/512, Linear, {.max_compiles = 2}, /*tells_memory=*/false);
  EXPECT_EQ(largest.ended.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(largest.num_compiles, 2);
  EXPECT_EQ(LargestBatchLine(largest, 512, 8),
            "  the largest batch that fits is not known exactly: 128 rows a replica, 1024 in all, "
            "fit; 256 rows a replica do not fit; the search ended early: it compiles at most 2 "
            "programs; this one has 512 and 4096\n");
}

TEST_F(LargestBatchTest, TheTimeOfAllProgramsIsLimited) {
  CompileRequest request = Request(Linear);
  request.compiler = [](const CompileRequest&) -> absl::StatusOr<pjrt::CompiledProgram> {
    for (;;) pause();
  };
  CompileOutcome outcome;
  outcome.status = TooLarge(18000);
  const auto program = [](int64_t rows) { return std::optional<std::string>(absl::StrCat(rows)); };
  const LargestBatch largest = FindLargestBatch(request, outcome, 512, program, {.seconds = 0.2});
  EXPECT_EQ(largest.ended.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(largest.num_compiles, 1);
  EXPECT_THAT(LargestBatchLine(largest, 512, 8),
              HasSubstr("512 rows a replica do not fit; the search ended early: it may take 0.2 s; "
                        "--tpu_check_seconds allows more"));
}

TEST_F(LargestBatchTest, ASignalEndsTheSearch) {
  CompileRequest request = Request(Linear);
  request.compiler = [](const CompileRequest&) -> absl::StatusOr<pjrt::CompiledProgram> {
    kill(getpid(), SIGTERM);
    for (;;) pause();
  };
  CompileOutcome outcome;
  outcome.status = TooLarge(18000);
  const auto program = [](int64_t rows) { return std::optional<std::string>(absl::StrCat(rows)); };
  EXPECT_EQ(FindLargestBatch(request, outcome, 512, program).ended.code(),
            absl::StatusCode::kCancelled);
}

TEST_F(LargestBatchTest, AModelOfOneBatchSizeIsAnErrorWithTheRows) {
  unbuildable_ = 256;
  const LargestBatch largest = Find(/*rows=*/512, Linear, {}, /*tells_memory=*/false);
  EXPECT_EQ(largest.num_compiles, 0);
  EXPECT_THAT(LargestBatchLine(largest, 512, 8),
              HasSubstr("the model cannot be built for 256 rows"));
}

TEST_F(LargestBatchTest, EachCompilationIsLoggedWithItsSeconds) {
  const testing::CapturedLog log;
  Find(/*rows=*/205, Linear);
  EXPECT_THAT(
      log.infos,
      ElementsAre(HasSubstr("on v2-8: compiling 200 rows a replica, program 1 of at most 8"),
                  ::testing::ContainsRegex("^200 rows a replica fit \\([0-9.]+ s\\)")));
}

TEST_F(LargestBatchTest, TheEstimateNeedsNoCompilation) {
  const CompileOutcome outcome = OutcomeOf(/*rows=*/100, Linear);  // 4000 MiB
  // 0.93 of 8 GiB: 190 rows, in multiples of 8. Variables do not grow, so 200 would fit.
  EXPECT_EQ(EstimateRows(Request(Linear), outcome, 100), 184);
  CompileOutcome unknown;
  EXPECT_EQ(EstimateRows(Request(Linear), unknown, 100), 0);
}

TEST(ParseMemoryShortage, ReadsBothFormsOfLibtpu) {
  const auto temporaries = ParseMemoryShortage(
      "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
      "temporaries (22.36G) exceeds available HBM (512.00M). HLO module: step.");
  ASSERT_TRUE(temporaries.has_value());
  EXPECT_NEAR(temporaries->needed, 22.36 * 1024 * kMiB, 1);
  EXPECT_NEAR(temporaries->available, 512 * kMiB, 1);
  const auto used = ParseMemoryShortage(
      "Ran out of memory in memory space hbm. Used 17.20G of 15.75G hbm. Exceeded by 1.45G.");
  ASSERT_TRUE(used.has_value());
  EXPECT_NEAR(used->needed, 17.2 * 1024 * kMiB, 1);
  EXPECT_NEAR(used->available, 15.75 * 1024 * kMiB, 1);
  EXPECT_FALSE(ParseMemoryShortage("out of memory").has_value());
  EXPECT_FALSE(ParseMemoryShortage("Used up of all").has_value());
}

}  // namespace
}  // namespace estimator::tpu
