// Every command streams: what it holds does not grow with the variables.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "tools/checkpoint/average.h"
#include "tools/checkpoint/diff.h"
#include "tools/checkpoint/inspect.h"
#include "tools/checkpoint/rewrite.h"

namespace estimator {
namespace {

constexpr int64_t kRows = 1 << 15, kColumns = 256;  // 32 MiB of f32
constexpr int64_t kStrings = 1 << 20;               // 2 MiB stored, 32 MiB as std::strings
// Pieces of 1 MiB in a few forms, and what the allocator keeps of them: up to 14 MiB for cast, of a
// table of 32 or of 128 MiB alike.
constexpr int64_t kBound = 20 << 20;

using Reader = std::unique_ptr<BundleReader>;

class StreamingTest : public ::testing::Test {
 protected:
  // A table, whole or in two parts that lie side by side, and short strings.
  absl::Status Write(const std::string& name, bool in_parts, char last_letter) const {
    EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(dir_.File(name)));
    const int64_t num_parts = in_parts ? 2 : 1, columns = kColumns / num_parts;
    for (int64_t part = 0; part < num_parts; ++part) {
      BundleWriter::Stored stored{.dtype_on_disk = static_cast<int>(DType::kFloat32),
                                  .shape = {kRows, kColumns}};
      if (in_parts) stored.extents = {{}, {.start = part * columns, .length = columns}};
      EST_RETURN_IF_ERROR(writer->AddStored(
          "table", stored, [columns](const BundleWriter::Append& append) -> absl::Status {
            const std::string row(static_cast<size_t>(columns) * sizeof(float), '\x3f');
            for (int64_t i = 0; i < kRows; ++i) EST_RETURN_IF_ERROR(append(row));
            return absl::OkStatus();
          }));
    }
    Array strings(DType::kString, {kStrings});
    for (std::string& text : strings.values<std::string>()) text = "a";
    strings.data<std::string>()[kStrings - 1] = last_letter;
    EST_RETURN_IF_ERROR(writer->Add("words", strings));
    return writer->Finish();
  }

  // The test itself holds nothing large: what it held would count as there before.
  void SetUp() override {
    EST_ASSERT_OK(MeasureInChild([this] { return Write("whole", false, 'a'); }));
    EST_ASSERT_OK(MeasureInChild([this] { return Write("parts", true, 'b'); }));
  }
  Reader Open(const std::string& name) const { return BundleReader::Open(dir_.File(name)).value(); }
  void ExpectStreams(const char* what, const std::function<absl::Status()>& work) {
    const auto memory = MeasureInChild(work);
    EST_ASSERT_OK(memory) << what;
    if (kMemoryIsTrue) {
      EXPECT_LT(memory->growth_bytes, kBound) << what;
    }
  }

  const TempDir dir_;
};

TEST_F(StreamingTest, NoCommandHoldsAVariable) {
  ExpectStreams("verify", [this] {
    return Verify(dir_.File("parts"))->damage.empty() ? absl::OkStatus()
                                                      : absl::DataLossError("damaged");
  });
  for (const char* const name : {"table", "words"}) {
    ExpectStreams("show", [&] { return Show(*Open("parts"), name).status(); });
  }
  ExpectStreams("diff", [this]() -> absl::Status {
    EST_ASSIGN_OR_RETURN(const DiffReport report, Diff(*Open("whole"), *Open("parts"), {}));
    const bool expected = absl::string_view(report.text).find("variables: 1 equal, 1 different") !=
                          absl::string_view::npos;
    return expected ? absl::OkStatus() : absl::InternalError(report.text);
  });
  ExpectStreams("rename", [this] {
    return Rename(*Open("parts"), *NameMap::Parse("table=t"), dir_.File("renamed")).status();
  });
  ExpectStreams("cast", [this] {
    return Cast(*Open("parts"), {.to = DType::kBfloat16}, dir_.File("cast")).status();
  });
  ExpectStreams("extract", [this] {
    return Extract(*Open("parts"), {"table", "words"}, {}, dir_.File("extracted")).status();
  });
  ExpectStreams("average", [this] {
    std::vector<Reader> readers;
    readers.push_back(Open("whole"));
    readers.push_back(Open("parts"));
    return Average(readers, dir_.File("mean")).status();
  });
}

}  // namespace
}  // namespace estimator
