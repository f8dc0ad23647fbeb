// Whatever happens to the files of a checkpoint is detected, never crashes, and is told with the
// file, the variable and the offset.
#include "estimator/checkpoint/testing/corruption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/table/table_file.h"
#include "estimator/proto/tensor_bundle.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kVariant = 21, kComplex64 = 8;

// The index names the bytes of the data files in this order.
struct Stored {
  std::string variable;
  int shard;
  int64_t offset, size;
};

class CorruptionTest : public ::testing::Test {
 protected:
  // Numbers, strings, slices, and dtypes that have no DType, in two data files.
  void SetUp() override {
    const auto writer = BundleWriter::Open(prefix_).value();
    EST_ASSERT_OK(writer->Add("a", Array::Of<float>({3}, {1, 2, 3})));
    EST_ASSERT_OK(writer->AddSlice("p", {2, 2}, {{}, {0, 1}}, Array::Of<int32_t>({2, 1}, {1, 3})));
    EST_ASSERT_OK(writer->AddSlice("p", {2, 2}, {{}, {1, 1}}, Array::Of<int32_t>({2, 1}, {2, 4})));
    EST_ASSERT_OK(writer->Add("s", Array::Of<std::string>({2}, {"", "hello"})));
    EST_ASSERT_OK(AddRaw(*writer, "c", kComplex64, {2}, std::string(16, 'c')));
    EST_ASSERT_OK(AddRaw(*writer, "v", kVariant, {0}, ""));
    EST_ASSERT_OK(writer->Add("flag", Array::Of<bool>({2}, {true, false})));
    EST_ASSERT_OK(writer->Finish());
    MoveToSecondShard("s");
    const absl::Status whole = ReadEverything(prefix_);
    EST_ASSERT_OK(whole);
    const auto reader = BundleReader::Open(prefix_).value();
    for (const auto& [name, entry] : reader->index().tensors) {
      for (const BundleEntry* const part : reader->index().PartsOf(entry)) {
        stored_.push_back({name, part->shard, part->offset, part->size});
      }
    }
  }

  static absl::Status AddRaw(BundleWriter& writer, const std::string& name, int dtype,
                             const Shape& shape, const std::string& bytes) {
    return writer.AddStored(name, {.dtype_on_disk = dtype, .shape = shape},
                            [&](const BundleWriter::Append& append) { return append(bytes); });
  }

  // As if two savers had written: the bytes of a variable go to another data file.
  void MoveToSecondShard(const std::string& name) {
    const std::string data = ReadFile(DataPath(prefix_, 0, 1)).value();
    std::map<std::string, std::string> table;
    std::string moved;
    auto entries = ReadIndexTable(IndexPath(prefix_));
    EST_ASSERT_OK(entries);
    for (auto& [key, value] : *entries) {
      proto::BundleHeaderProto header;
      proto::BundleEntryProto entry;
      if (key.empty()) {
        ASSERT_TRUE(header.ParseFromString(value));
        header.set_num_shards(2);
        header.SerializeToString(&value);
      } else if (key == name) {
        ASSERT_TRUE(entry.ParseFromString(value));
        moved = data.substr(static_cast<size_t>(entry.offset()), static_cast<size_t>(entry.size()));
        entry.set_shard_id(1);
        entry.set_offset(0);
        entry.SerializeToString(&value);
      }
      table[key] = value;
    }
    EST_ASSERT_OK(WriteIndexTable(IndexPath(prefix_), table));
    EST_ASSERT_OK(ReplaceFile(DataPath(prefix_, 0, 2), data));
    EST_ASSERT_OK(ReplaceFile(DataPath(prefix_, 1, 2), moved));
    EST_ASSERT_OK(RemoveFile(DataPath(prefix_, 0, 1)));
  }

  const TempDir dir_;
  const std::string prefix_ = dir_.File("m");
  std::vector<Stored> stored_;
};

TEST_F(CorruptionTest, EveryFlippedByteOfTheIndexIsDataLossNamingFileVariablesAndOffset) {
  const std::string path = IndexPath(prefix_);
  const std::string index = ReadFile(path).value();
  int num_named = 0, num_all_named = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    for (const int mask : {1 << (i % 8), 1 << ((i + 3) % 8), 0xff}) {
      std::string damaged = index;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      EST_ASSERT_OK(ReplaceFile(path, damaged));
      const absl::Status status = ReadEverything(prefix_);
      ASSERT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)))
          << "byte " << i << " ^ " << mask;
      ASSERT_THAT(status, ErrorHas("at offset "));
      ASSERT_TRUE(SaysWhatIsLost(status.message())) << status;
      num_named += absl::StrContains(status.message(), "variables, ");
      num_all_named += absl::StrContains(status.message(), "6 variables, a, c, flag, p, s, v");
    }
  }
  // Most bytes stand in values: the names can still be read. In a key, all but one can.
  EXPECT_GT(num_named, 3 * static_cast<int>(index.size()) / 2);
  EXPECT_GT(num_all_named, static_cast<int>(index.size()));
}

TEST_F(CorruptionTest, DamageToOneBlockOfTheIndexNamesOnlyTheVariablesInIt) {
  const auto writer = BundleWriter::Open(prefix_).value();
  for (int i = 100; i < 900; ++i) {
    EST_ASSERT_OK(writer->Add(absl::StrCat("layer_", i), Array::Scalar<float>(1)));
  }
  EST_ASSERT_OK(writer->Finish());
  const std::string path = IndexPath(prefix_);
  const std::string index = ReadFile(path).value();
  const auto table = TableFile::Open(path).value();
  ASSERT_GT(table->blocks().size(), 2u);
  const TableFile::Block& second = table->blocks()[1];
  for (const int64_t at : {int64_t{0}, second.size / 2, second.size - 1, second.size + 4}) {
    std::string damaged = index;
    damaged[static_cast<size_t>(second.offset + at)] ^= 0x20;
    EST_ASSERT_OK(ReplaceFile(path, damaged));
    const absl::Status status = BundleReader::Open(prefix_).status();
    EXPECT_THAT(status, ErrorHas(absl::StrCat("block of ", second.size, " bytes at offset ",
                                              second.offset)));
    EXPECT_THAT(status, ErrorHas(absl::StrCat("after \"", table->blocks()[0].last_key,
                                              "\" up to \"", second.last_key, "\", those of ")));
    EXPECT_THAT(status, ErrorIs(Not(HasSubstr("layer_100"))));
  }
}

TEST_F(CorruptionTest, EveryFlippedByteOfTheDataIsDataLossNamingFileVariableAndOffset) {
  int num_flipped = 0;
  for (const int shard : {0, 1}) {
    const std::string path = DataPath(prefix_, shard, 2);
    const std::string data = ReadFile(path).value();
    for (const Stored& stored : stored_) {
      if (stored.shard != shard) continue;
      const std::string where = absl::StrCat(path, ": ", stored.variable, " (", stored.size,
                                             " bytes at offset ", stored.offset, "): ");
      for (int64_t i = stored.offset; i < stored.offset + stored.size; ++i) {
        for (const int mask : {0x01, 0x80, 0xff}) {
          std::string damaged = data;
          char& byte = damaged[static_cast<size_t>(i)];
          byte = static_cast<char>(byte ^ mask);
          EST_ASSERT_OK(ReplaceFile(path, damaged));
          const absl::Status status = ReadEverything(prefix_);
          ASSERT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(where)))
              << path << " byte " << i;
          ++num_flipped;
        }
      }
    }
    EST_ASSERT_OK(ReplaceFile(path, data));
  }
  EXPECT_EQ(num_flipped, 3 * (12 + 8 + 8 + 16 + 2 + 11)) << "a, p, p, c, flag and s";
}

// The memory of a tensor is allocated before its slices are read.
TEST_F(CorruptionTest, SlicesThatShareBytesAreNoMoreThanTheFileHasAlsoOfStrings) {
  constexpr int64_t kSlice = 1 << 16, kSlices = 64;
  std::map<std::string, std::string> table;
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(1);
  header.SerializeToString(&table[""]);
  proto::BundleEntryProto slice;
  slice.set_dtype(proto::DT_STRING);
  slice.mutable_shape()->add_dim()->set_size(kSlice);
  slice.set_size(kSlice + 4);
  proto::BundleEntryProto whole;
  whole.set_dtype(proto::DT_STRING);
  whole.mutable_shape()->add_dim()->set_size(kSlice * kSlices);
  for (int64_t i = 0; i < kSlices; ++i) {
    auto& extent = *whole.add_slices()->add_extent();
    extent.set_start(i * kSlice);
    extent.set_length(kSlice);
    slice.SerializeToString(&table[SliceKey("w", {{i * kSlice, kSlice}})]);
  }
  whole.SerializeToString(&table["w"]);
  const std::string prefix = dir_.File("shared");
  EST_ASSERT_OK(WriteIndexTable(IndexPath(prefix), table));
  EST_ASSERT_OK(ReplaceFile(DataPath(prefix, 0, 1), std::string(kSlice + 4, '\0')));
  const absl::Status status = BundleReader::Open(prefix).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               AllOf(HasSubstr(IndexPath(prefix)), HasSubstr("w is str [4194304]"),
                                     HasSubstr("the data files have only 65540 bytes"))));
}

TEST_F(CorruptionTest, EveryTruncationIsDataLossNamingFileVariablesAndOffset) {
  const std::string index = ReadFile(IndexPath(prefix_)).value();
  for (size_t size = 0; size < index.size(); ++size) {
    EST_ASSERT_OK(ReplaceFile(IndexPath(prefix_), index.substr(0, size)));
    const absl::Status status = BundleReader::Open(prefix_).status();
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 AllOf(HasSubstr(IndexPath(prefix_)), HasSubstr("at offset "),
                                       HasSubstr("every variable is lost"))))
        << "cut to " << size;
  }
  EST_ASSERT_OK(ReplaceFile(IndexPath(prefix_), index));
  for (const int shard : {0, 1}) {
    const std::string path = DataPath(prefix_, shard, 2);
    const std::string contents = ReadFile(path).value();
    // What was moved to the second file left a gap, behind which `flag` ends the first.
    for (size_t size = 0; size < contents.size(); ++size) {
      EST_ASSERT_OK(ReplaceFile(path, contents.substr(0, size)));
      const absl::Status status = BundleReader::Open(prefix_).status();
      ASSERT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << path << " cut to " << size;
      std::set<std::string> lost;
      const Stored* first = nullptr;
      for (const Stored& stored : stored_) {
        if (stored.shard != shard || stored.offset + stored.size <= static_cast<int64_t>(size)) {
          continue;
        }
        lost.insert(stored.variable);
        if (first == nullptr || stored.offset < first->offset) first = &stored;
      }
      ASSERT_NE(first, nullptr);
      ASSERT_THAT(status, ErrorIs(AllOf(
                              HasSubstr(absl::StrCat(path, ": ", first->variable, " (", first->size,
                                                     " bytes at offset ", first->offset,
                                                     "): the file ends at ", size, "; it lost ")),
                              HasSubstr(ListNames({lost.begin(), lost.end()})))));
    }
    EST_ASSERT_OK(ReplaceFile(path, contents));
  }
}

TEST_F(CorruptionTest, AMissingFileIsToldWithWhatLiesInIt) {
  for (const int shard : {0, 1}) {
    const std::string path = DataPath(prefix_, shard, 2);
    const std::string contents = ReadFile(path).value();
    EST_ASSERT_OK(RemoveFile(path));
    const absl::Status status = BundleReader::Open(prefix_).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr(absl::StrCat(
                                     path, " is missing; it holds ",
                                     shard == 0 ? "5 variables, a, c, flag, p, v" : "1 variable, s",
                                     ", from offset 0 on"))));
    EST_ASSERT_OK(ReplaceFile(path, contents));
  }
  EST_ASSERT_OK(RemoveFile(DataPath(prefix_, 0, 2)));
  EST_ASSERT_OK(RemoveFile(DataPath(prefix_, 1, 2)));
  EXPECT_THAT(BundleReader::Open(prefix_), ErrorIs(AllOf(HasSubstr(DataPath(prefix_, 0, 2)),
                                                         HasSubstr(DataPath(prefix_, 1, 2)))));
}

TEST_F(CorruptionTest, WithoutItsIndexADataFileIsNoCheckpointAndTheMessageSaysWhy) {
  EST_ASSERT_OK(RemoveFile(IndexPath(prefix_)));
  const absl::Status status = BundleReader::Open(prefix_).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr(absl::StrCat("there is no ", IndexPath(prefix_))),
                                     HasSubstr(Basename(DataPath(prefix_, 0, 2))),
                                     HasSubstr("no variable"))));
}

}  // namespace
}  // namespace estimator
