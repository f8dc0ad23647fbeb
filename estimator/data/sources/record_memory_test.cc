// Reads a million records through the pipeline of a training, and checks that memory does not grow.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/compression.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

constexpr int64_t kRecordsOfAFile = 10'000, kBatch = 100, kRecords = 1'000'000;

// Fixed bug: a compressed file of any size was read into memory.
TEST(RecordMemory, AGzipBombIsRefusedBeforeItIsInMemory) {
  if (!kMemoryIsTrue) GTEST_SKIP() << "sanitizers take address space of their own";
  constexpr int64_t kBytes = int64_t{256} << 20;
  const TempDir dir;
  {
    const auto bomb = Compress(std::string(kBytes, '\0'), Compression::kGzip);
    EST_ASSERT_OK(bomb);
    EST_ASSERT_OK(WriteFileAtomically(dir.File("bomb"), *bomb));
  }
  const auto error = [&] {
    return FixedLengthRecordDataset({dir.File("bomb")}, 2, {.compression = Compression::kGzip})
        .MakeIterator()
        .status();
  };
  const auto measured = MeasureInChild([&]() -> absl::Status {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto most = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + kBytes);
    const rlimit limit = {.rlim_cur = most, .rlim_max = most};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return absl::InternalError("setrlimit");
    const absl::Status status = error();
    return absl::StrContains(status.message(), "decompressed, too much for the memory")
               ? absl::OkStatus()
               : absl::InternalError(status.ToString());
  });
  EST_ASSERT_OK(measured);
  EXPECT_LT(measured->growth_bytes, kBytes / 8);
  EST_EXPECT_OK(error());  // without the limit it fits
}

TEST(RecordMemory, StaysFlatOverAMillionRecords) {
  if (!kMemoryIsTrue) GTEST_SKIP() << "sanitizers keep memory that was freed";
  const TempDir dir;
  for (int f = 0; f < 2; ++f) {
    auto writer = TFRecordWriter::Open(dir.File(absl::StrCat("train-", f)));
    EST_ASSERT_OK(writer);
    for (int64_t i = 0; i < kRecordsOfAFile; ++i) {
      EST_ASSERT_OK((*writer)->Write(ExampleBuilder()
                                         .Ints("label", {i})
                                         .Floats("values", {1, 2, 3, static_cast<float>(i)})
                                         .Bytes("name", {absl::StrCat("record ", i)})
                                         .Serialize()));
    }
    EST_ASSERT_OK((*writer)->Close());
  }
  const Dataset dataset =
      TFRecordDataset({dir.File("train-*")}, {.num_parallel_reads = 2})
          .Repeat()
          .Shuffle(1000, {.seed = 1})
          .Map(ParseExample({{"label", FixedLenFeature{.dtype = DType::kInt64}},
                             {"values", FixedLenFeature{.dtype = DType::kFloat32, .shape = {4}}},
                             {"name", FixedLenFeature{.dtype = DType::kString}}}),
               {.num_parallel_calls = 2})
          .IgnoreErrors(10)
          .Batch(kBatch)
          .Prefetch(2);
  const auto iterator = dataset.MakeIterator();
  EST_ASSERT_OK(iterator);
  int64_t resident = 0, state_bytes = 0, sum = 0;
  for (int64_t batch = 0; batch < kRecords / kBatch; ++batch) {
    const auto element = (*iterator)->Next();
    EST_ASSERT_OK(element);
    sum += static_cast<int64_t>((*element)->features.at("label").AsDouble(0));
    if (batch % 500 == 0) {  // as a training saves its position
      const auto state = (*iterator)->SaveState();
      EST_ASSERT_OK(state);
      EXPECT_LT(state->size(), 64u << 10);
      if (batch == 1000) {  // a tenth: buffers are full, and every file was read five times
        resident = ResidentBytes();
        state_bytes = static_cast<int64_t>(state->size());
      } else if (batch > 1000) {
        EXPECT_LT(static_cast<int64_t>(state->size()), state_bytes + 4096);
      }
    }
  }
  EXPECT_GT(sum, 0);
  const int64_t growth = ResidentBytes() - resident;
  // The heap's fragments vary by less than that; a leak of 8 bytes a record is more.
  EXPECT_LT(growth, 4 << 20) << "grew by " << growth << " bytes from " << resident;
}

}  // namespace
}  // namespace estimator
