#include "estimator/records/tfrecord_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using Strings = std::vector<std::string>;
using testing::ElementsAre;

class Index : public testing::Test {
 protected:
  std::string Write(const std::string& name, const Strings& records,
                    Compression compression = Compression::kNone) {
    const auto writer = TFRecordWriter::Open(dir_.File(name), {.compression = compression}).value();
    for (const std::string& record : records) EST_EXPECT_OK(writer->Write(record));
    EST_EXPECT_OK(writer->Close());
    return dir_.File(name);
  }
  TempDir dir_;
};

TEST_F(Index, HasTheByteOfEachRecordAndTheSizeOfTheFile) {
  const std::string file = Write("a", {"1", "", "333"});
  EST_ASSERT_OK_AND_ASSIGN(const TFRecordIndex index, LoadTFRecordIndex(file));
  EXPECT_THAT(index.offsets, ElementsAre(0, 17, 33, 52));
  EXPECT_EQ(index.num_records(), 3);
  EST_ASSERT_OK_AND_ASSIGN(const TFRecordIndex none, LoadTFRecordIndex(Write("empty", {})));
  EXPECT_THAT(none.offsets, ElementsAre(0));
}

TEST_F(Index, IsReadFromTheCacheAndNotMatchedByPatterns) {
  const std::string file = Write("train-0", {"1", "22"});
  EST_ASSERT_OK(LoadTFRecordIndex(file));
  EXPECT_EQ(TFRecordIndexPath(file), dir_.File(".train-0.index"));
  EXPECT_EQ(TFRecordIndexPath("here"), ".here.index");
  EXPECT_THAT(*Glob(dir_.File("*")), ElementsAre(file));
  // A cached index of one record shows that the file is not scanned again.
  EST_ASSERT_OK_AND_ASSIGN(const double modified, FileModifiedTimeSeconds(file));
  EST_ASSERT_OK(WriteFileAtomically(TFRecordIndexPath(file),
                                    EncodeTFRecordIndex({.offsets = {0, 35}}, modified)));
  EST_ASSERT_OK_AND_ASSIGN(const TFRecordIndex cached, LoadTFRecordIndex(file));
  EXPECT_EQ(cached.num_records(), 1);
}

TEST_F(Index, OfAChangedFileIsMadeAgain) {
  const std::string file = Write("a", {"1"});
  EST_ASSERT_OK(LoadTFRecordIndex(file));
  Write("a", {"1", "22"});
  EXPECT_EQ(LoadTFRecordIndex(file)->num_records(), 2);
  // The same size and another time.
  EST_ASSERT_OK(
      WriteFileAtomically(TFRecordIndexPath(file), EncodeTFRecordIndex({.offsets = {0, 35}}, 1e9)));
  EXPECT_EQ(LoadTFRecordIndex(file)->num_records(), 2);
}

TEST_F(Index, ThatIsDamagedIsMadeAgain) {
  const std::string file = Write("a", {"1", "22"});
  EST_ASSERT_OK(LoadTFRecordIndex(file));
  EST_ASSERT_OK_AND_ASSIGN(const std::string good, ReadFile(TFRecordIndexPath(file)));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EST_ASSERT_OK(WriteFileAtomically(TFRecordIndexPath(file), bad));
    EST_ASSERT_OK_AND_ASSIGN(const TFRecordIndex index, LoadTFRecordIndex(file));
    EXPECT_EQ(index.num_records(), 2);
    EXPECT_EQ(*ReadFile(TFRecordIndexPath(file)), good);
  }
}

TEST_F(Index, WithAWrongOffsetIsRefused) {
  const auto decode = [](std::vector<int64_t> offsets) {
    const int64_t size = offsets.back();
    return DecodeTFRecordIndex(EncodeTFRecordIndex({.offsets = std::move(offsets)}, 5), size, 5);
  };
  EST_EXPECT_OK(decode({0, 16, 32}));
  EXPECT_THAT(decode({1, 32}), ErrorHas("record 0 is at byte 1"));
  EXPECT_THAT(decode({0, 15, 32}), ErrorHas("record 1 is at byte 15"));
  EXPECT_THAT(decode({0, 16, 31}), ErrorHas("2 records do not fit a file of 31 bytes"));
  EXPECT_THAT(decode({7}), ErrorHas("0 records do not fit"));
}

TEST_F(Index, OfADamagedFileIsAnErrorAndIsNotCached) {
  const std::string file = Write("a", {"1", "22"});
  EST_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(file));
  bytes[17] = '\x7f';
  EST_ASSERT_OK(WriteFileAtomically(file, bytes));
  EXPECT_THAT(LoadTFRecordIndex(file),
              StatusIs(absl::StatusCode::kDataLoss, file + ": record 1 at byte 17: the crc32c of "
                                                           "its length does not match: the file is "
                                                           "damaged"));
  EXPECT_FALSE(FileExists(TFRecordIndexPath(file)));
}

TEST_F(Index, IsKeptInMemoryIfItCannotBeSaved) {
  const std::string file = Write("a", {"1", "22"});
  // A directory of that name: the file cannot be written even by root.
  EST_ASSERT_OK(CreateDirectories(TFRecordIndexPath(file) + "/x"));
  EXPECT_EQ(LoadTFRecordIndex(file)->num_records(), 2);
}

TEST_F(Index, CountsRecords) {
  EXPECT_EQ(*CountRecords({Write("a", {"1", "22"}), Write("b", {}), Write("c", {"3"})}), 3);
  EXPECT_EQ(*CountRecords({Write("z", {"1", "22"}, Compression::kGzip)}, Compression::kGzip), 2);
  EXPECT_THAT(CountRecords({dir_.File("missing")}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Index, CountsAreReadFromNamesThatHaveThem) {
  // The files have one record each, so another number is that of the names.
  const auto count = [&](const Strings& names) {
    Strings files;
    for (const std::string& name : names) files.push_back(Write(name, {"1"}));
    return CountRecords(files).value();
  };
  EXPECT_EQ(count({"00-512x512-798.tfrec", "01-512x512-799.tfrec"}), 1597);
  EXPECT_EQ(count({"flowers-16.tfrec"}), 16);
  EXPECT_EQ(count({"train-00000-of-01024.tfrec"}), 1);
  EXPECT_EQ(count({"train-1024.tfrecord"}), 1);
  EXPECT_EQ(count({"part-00000.tfrec", "part-00001.tfrec", "part-00002.tfrec"}), 3);
  EXPECT_EQ(count({"part-16.tfrec", "other.tfrec"}), 2);
}

}  // namespace
}  // namespace estimator
