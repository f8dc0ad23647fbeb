// Every command takes a checkpoint in TensorFlow's V1 format, and writes today's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/testing/v1_files.h"
#include "tools/checkpoint/average.h"
#include "tools/checkpoint/diff.h"
#include "tools/checkpoint/inspect.h"
#include "tools/checkpoint/rewrite.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Reader = std::unique_ptr<BundleReader>;

const std::string& Golden() {
  static const std::string* const path = new std::string("testdata/checkpoints_v1/");
  return *path;
}
Reader Open(const std::string& prefix) {
  auto reader = BundleReader::Open(prefix);
  EST_EXPECT_OK(reader);
  return *std::move(reader);
}

TEST(V1, IsListedAndShown) {
  const Reader reader = Open(Golden() + "partitioned");
  EXPECT_THAT(*List(*reader, {}), HasSubstr("rows      float32  [7,3]        21     84       3"));
  EXPECT_THAT(*Show(*reader, "counts"), HasSubstr("values      -3 -2 -1 0 1 2 3 4 5 6"));
  EXPECT_THAT(*Show(*Open(Golden() + "all_dtypes"), "global_step"),
              AllOf(HasSubstr("stored in   " + Golden() + "all_dtypes: 8 bytes at offset "),
                    HasSubstr("values      7\n")));
}

TEST(V1, ComparesEqualToTheSameVariablesInTodaysFormat) {
  for (const char* const name : {"all_dtypes", "partitioned", "sharded"}) {
    const auto report = Diff(*Open(Golden() + name), *Open(Golden() + "expected/" + name), {});
    EXPECT_TRUE(report->equal) << report->text;
    EXPECT_THAT(report->damage, IsEmpty());
  }
}

TEST(V1, IsVerifiedAndDamageNamesTheVariables) {
  const TempDir dir;
  EXPECT_THAT(Verify(Golden() + "sharded")->summary,
              AllOf(HasSubstr("whole: "), HasSubstr("4 variables in 5 values"),
                    HasSubstr("in 2 data files")));
  std::string bytes = ReadFile(Golden() + "blocks").value();
  bytes[bytes.size() - 169] ^= 1;  // in a number of the last of two blocks
  EST_ASSERT_OK(WriteFileAtomically(dir.File("m"), bytes));
  const VerifyReport report = Verify(dir.File("m")).value();
  EXPECT_THAT(report.damage, ElementsAre(AllOf(HasSubstr("d/small (8 bytes at offset "),
                                               HasSubstr("its crc32c is ")),
                                         HasSubstr("e/small (4 bytes at offset ")))
      << report.summary;
}

TEST(V1, RenameCastExtractAndAverageWriteTodaysFormat) {
  const TempDir dir;
  const std::string all = Golden() + "all_dtypes", parts = Golden() + "partitioned";
  EST_ASSERT_OK(Rename(*Open(all), *NameMap::Parse("layer=l"), dir.File("renamed")));
  EXPECT_TRUE(FileExists(IndexPath(dir.File("renamed"))));
  const Reader renamed = Open(dir.File("renamed"));
  const Reader expected = Open(Golden() + "expected/all_dtypes");
  EXPECT_EQ(renamed->index().tensors.at("l/complex64").crc32c(),
            expected->index().tensors.at("layer/complex64").crc32c());
  EXPECT_TRUE(SameBits(*renamed->Read("text"), *expected->Read("text")));
  EXPECT_THAT(Verify(dir.File("renamed"))->damage, IsEmpty());

  EST_ASSERT_OK(Cast(*Open(parts), {.to = DType::kFloat64}, dir.File("cast")));
  EXPECT_EQ(Open(dir.File("cast"))->index().tensors.at("rows").slices.size(), 3u);
  const auto report = Diff(*Open(dir.File("cast")), *Open(parts), {.ignore_dtype = true});
  EXPECT_TRUE(report->equal) << report->text;

  EST_ASSERT_OK(Extract(*Open(parts), {"counts"}, {}, dir.File("extracted")));
  EXPECT_THAT(Open(dir.File("extracted"))->names(), ElementsAre("counts"));

  std::vector<Reader> readers;
  readers.push_back(Open(parts));
  readers.push_back(Open(Golden() + "expected/partitioned"));
  EST_ASSERT_OK(Average(readers, dir.File("mean")));
  EXPECT_TRUE(SameBits(*Open(dir.File("mean"))->Read("columns"), *readers[1]->Read("columns")));
}

// As StreamingTest: what the commands hold does not grow with the variables.
TEST(V1, NoCommandHoldsAVariable) {
  constexpr int64_t kElements = 8 << 20;  // 32 MiB of f32, 64 MiB of i64
  const TempDir dir;
  const std::string path = dir.File("m");
  const auto written = MeasureInChild([&path] {
    Array numbers(DType::kInt64, {kElements});
    for (int64_t i = 0; i < kElements; ++i) numbers.data<int64_t>()[i] = i;
    return WriteV1File(path, {{.name = "f", .value = Array(DType::kFloat32, {kElements})},
                              {.name = "n", .value = numbers}});
  });
  EST_ASSERT_OK(written);
  const auto expect_streams = [](const char* what, const std::function<absl::Status()>& work) {
    const auto memory = MeasureInChild(work);
    SCOPED_TRACE(what);
    EST_ASSERT_OK(memory);
    testing::ExpectGrowthBelow(memory->growth_bytes, 12 << 20);
  };
  expect_streams("verify", [&] { return Verify(path).status(); });
  expect_streams("show", [&] { return Show(*Open(path), "n").status(); });
  expect_streams("diff", [&] { return Diff(*Open(path), *Open(path), {}).status(); });
  expect_streams("rename", [&] {
    return Rename(*Open(path), *NameMap::Parse("f=g"), dir.File("renamed")).status();
  });
}

}  // namespace
}  // namespace estimator
