#include "estimator/data/sources/file_datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using Strings = std::vector<std::string>;

Strings Rest(Iterator& iterator) {
  Strings values;
  while (true) {
    const auto element = iterator.Next();
    EST_EXPECT_OK(element);
    if (!element.ok() || !element->has_value()) return values;
    values.push_back((*element)->features.Only()->scalar<std::string>());
  }
}

// Reads all, and again from each position in a fresh iterator.
Strings ValuesWithResume(const Dataset& dataset) {
  const auto reference = dataset.MakeIterator();
  EST_EXPECT_OK(reference);
  if (!reference.ok()) return {};
  const Strings all = Rest(**dataset.MakeIterator());
  for (size_t i = 0; i <= all.size(); ++i) {
    const auto resumed = dataset.MakeIterator().value();
    EST_EXPECT_OK(resumed->RestoreState((*reference)->SaveState().value()));
    EXPECT_EQ(Rest(*resumed), Strings(all.begin() + static_cast<int64_t>(i), all.end()));
    EST_EXPECT_OK((*reference)->Next());
  }
  return all;
}

class FileDatasets : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File(name), bytes));
    return dir_.File(name);
  }
  std::string WriteRecords(const std::string& name, const Strings& records,
                           Compression compression = Compression::kNone) {
    const auto writer = TFRecordWriter::Open(dir_.File(name), {.compression = compression}).value();
    for (const std::string& record : records) EST_EXPECT_OK(writer->Write(record));
    EST_EXPECT_OK(writer->Close());
    return dir_.File(name);
  }
  TempDir dir_;
};

TEST_F(FileDatasets, TFRecordsOfSeveralFilesInOrder) {
  for (const Compression kind : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const Strings files = {WriteRecords("a", {"1", "22", ""}, kind), WriteRecords("b", {}, kind),
                           WriteRecords("c", {"333"}, kind)};
    EXPECT_EQ(ValuesWithResume(TFRecordDataset(files, {.compression = kind})),
              (Strings{"1", "22", "", "333"}));
    const Strings shuffled =
        ValuesWithResume(TFRecordDataset(files, {.compression = kind}).Repeat(3).Shuffle(3));
    EXPECT_EQ(shuffled.size(), 12u);
  }
}

TEST_F(FileDatasets, MapErrorsNameTheRecord) {
  const std::string file = WriteRecords("a", {"good", "good", "bad"});
  const auto check = [](const Element& e) -> absl::StatusOr<Element> {
    if (e.features.Only()->scalar<std::string>() == "good") return e;
    return absl::InvalidArgumentError("not good");
  };
  for (const int parallel : {1, 3}) {
    const auto iterator =
        TFRecordDataset({file}).Map(check, {.num_parallel_calls = parallel}).MakeIterator().value();
    EST_EXPECT_OK(iterator->Next());
    EST_EXPECT_OK(iterator->Next());
    EXPECT_THAT(iterator->Next(),
                ErrorIs(absl::StrCat("Map: record 2 of ", file, " at byte 40: not good")));
  }
}

TEST_F(FileDatasets, PatternsAreExpandedInPlace) {
  const Strings files = {WriteRecords("b-0", {"b0"}), WriteRecords("b-1", {"b1"}),
                         WriteRecords("a", {"a"}), WriteRecords("[x]", {"x"})};
  EXPECT_EQ(ValuesWithResume(TFRecordDataset({dir_.File("b-*"), files[2], files[3]})),
            (Strings{"b0", "b1", "a", "x"}));
}

TEST_F(FileDatasets, PatternsThatNoFileMatchesAreNamed) {
  EXPECT_THAT(
      TFRecordDataset({dir_.File("x*"), dir_.File("y*")}).MakeIterator(),
      StatusIs(absl::StatusCode::kNotFound, absl::StrCat("no file matches \"", dir_.File("x*"),
                                                         "\", \"", dir_.File("y*"), "\"")));
}

TEST_F(FileDatasets, APathOfAnUnknownStoreIsExplained) {
  for (const char* const path : {"hdfs://b/a", "hdfs://b/a*"}) {
    EXPECT_THAT(TFRecordDataset({path}).MakeIterator(),
                ErrorHas("this program has no file system for hdfs://"));
  }
}

TEST_F(FileDatasets, ParallelReadsAlternateInAFixedOrder) {
  const Strings files = {WriteRecords("a", {"a0", "a1", "a2"}), WriteRecords("b", {"b0"}),
                         WriteRecords("c", {}), WriteRecords("d", {"d0", "d1"})};
  EXPECT_EQ(ValuesWithResume(TFRecordDataset(files, {.num_parallel_reads = 2})),
            (Strings{"a0", "b0", "a1", "a2", "d0", "d1"}));
  for (const int num_parallel_reads : {3, 8}) {
    const Strings values =
        ValuesWithResume(TFRecordDataset(files, {.num_parallel_reads = num_parallel_reads}));
    EXPECT_EQ(values.size(), 6u);
  }
  EXPECT_THAT(TFRecordDataset(files, {.num_parallel_reads = 0}).MakeIterator(),
              ErrorIs("TFRecord: num_parallel_reads is 0; it must be at least 1"));
}

TEST_F(FileDatasets, AnEpochHasTheRecordsThatTheNamesCount) {
  const Strings counted = {WriteRecords("a-00-3.tfrec", {"0", "1", "2"}),
                           WriteRecords("a-01-7.tfrec", Strings(7, "x"))};
  for (const int reads : {1, 2}) {
    const Dataset records = TFRecordDataset(counted, {.num_parallel_reads = reads});
    EXPECT_EQ(records.ExamplesPerEpoch(), 10) << reads;
    EXPECT_EQ(records.Shuffle(5).Repeat().Batch(2).ExamplesPerEpoch(), 10) << reads;
    EXPECT_EQ(records.Take(-1).Skip(0).ExamplesPerEpoch(), 10) << reads;
    const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
    const auto same = [](const Dataset& window) -> absl::StatusOr<Dataset> { return window; };
    for (const Dataset& fewer :
         {records.Take(4), records.Shard(2, 0), records.Skip(1), records.Filter(all),
          records.TakeWhile(all), records.Window(2, same)}) {
      EXPECT_EQ(fewer.ExamplesPerEpoch(), -1) << fewer.Describe();
    }
    EXPECT_EQ(records.Cardinality(), -1) << "a name may be wrong, so nothing is read by it";
    const Dataset mixed =
        TFRecordDataset({counted[0], WriteRecords("b", {"3"})}, {.num_parallel_reads = reads});
    EXPECT_EQ(mixed.ExamplesPerEpoch(), -1) << reads;
    EXPECT_THAT(records.Shuffle(1).Advice(),
                testing::Contains(testing::HasSubstr("Shuffle(1) mixes only 1 of 10 examples")));
    for (const Dataset& other : {records.Shuffle(2), records.Batch(2).Shuffle(1),
                                 records.Repeat().Shuffle(1), mixed.Shuffle(1)}) {
      EXPECT_THAT(other.Advice(), testing::Not(testing::Contains(testing::HasSubstr("mixes only"))))
          << other.Describe();
    }
  }
}

TEST_F(FileDatasets, AdviceIsTheSameForParallelReads) {
  Strings files;
  for (int i = 0; i < 40; ++i) files.push_back(WriteRecords(absl::StrCat("s-", i), {"0"}));
  const std::string large = WriteRecords("large", Strings(20, std::string(100, 'x')));
  for (const int reads : {1, 2}) {
    EXPECT_THAT(TFRecordDataset(files, {.num_parallel_reads = reads}).Advice(),
                testing::Contains(testing::HasSubstr("reads 40 files of 17 B on average")));
    EXPECT_THAT(
        TFRecordDataset({large}, {.buffer_size_bytes = 1024, .num_parallel_reads = reads}).Advice(),
        testing::Contains(testing::HasSubstr("at a time: raise its buffer_size_bytes")));
  }
}

TEST_F(FileDatasets, BuffersOfAnySizeReadTheSame) {
  const Strings records = {std::string(100, 'x'), "", std::string(3, 'y')};
  const std::string file = WriteRecords("a", records);
  const std::string lines = Write("b", "one\ntwo\n");
  for (const int64_t bytes : {1, 7, 1 << 20}) {
    EXPECT_EQ(ValuesWithResume(TFRecordDataset({file}, {.buffer_size_bytes = bytes})), records);
    EXPECT_EQ(ValuesWithResume(TextLineDataset({lines}, {.buffer_size_bytes = bytes})),
              (Strings{"one", "two"}));
  }
  EXPECT_THAT(TFRecordDataset({file}, {.buffer_size_bytes = 0}).MakeIterator().value()->Next(),
              ErrorHas("the buffer size is 0 bytes; it must be at least 1"));
}

TEST_F(FileDatasets, ThatAreIndexedSeek) {
  const Strings files = {WriteRecords("a", {"a0", "a1"}), WriteRecords("b", {}),
                         WriteRecords("c", {"c0", "", "c2"})};
  const Strings all = {"a0", "a1", "c0", "", "c2"};
  for (const int num_parallel_reads : {1, 3}) {
    const Dataset dataset =
        TFRecordDataset(files, {.num_parallel_reads = num_parallel_reads, .indexed = true});
    EXPECT_EQ(dataset.Cardinality(), 5);
    EXPECT_EQ(dataset.element_spec()->ToString(),
              TFRecordDataset(files).element_spec()->ToString());
    EXPECT_EQ(ValuesWithResume(dataset), all);
    EXPECT_EQ(ValuesWithResume(dataset.Skip(3)), (Strings{"", "c2"}));
    EXPECT_THAT(ValuesWithResume(dataset.Shuffle(5, {.seed = 1})),
                testing::UnorderedElementsAreArray(all));
    const auto batch = dataset.Batch(5).MakeIterator().value()->Next().value();
    EXPECT_THAT(batch->features.Only()->values<std::string>(), testing::ElementsAreArray(all));
  }
  EXPECT_TRUE(FileExists(dir_.File(".c.index")));
}

TEST_F(FileDatasets, ThatAreIndexedNameADamagedRecord) {
  const std::string file = WriteRecords("a", {"0", "1"});
  std::string bytes = ReadFile(file).value();
  bytes[17 + 12] = 'x';
  EST_ASSERT_OK(WriteFileAtomically(file, bytes));
  const auto iterator = TFRecordDataset({file}, {.indexed = true}).MakeIterator().value();
  EST_EXPECT_OK(iterator->Next());
  EXPECT_THAT(iterator->Next(),
              StatusIs(absl::StatusCode::kDataLoss,
                       file + ": record 1 at byte 17: the crc32c of its 1 bytes does not match: "
                              "the file is damaged"));
  EXPECT_THAT(
      TFRecordDataset({file}, {.compression = Compression::kGzip, .indexed = true}).MakeIterator(),
      ErrorHas("GZIP files cannot be read at any position"));
}

TEST_F(FileDatasets, APositionInAnotherFileIsRefused) {
  const Strings files = {WriteRecords("a", {"0"}), WriteRecords("b", {"1", "2"}),
                         WriteRecords("c", {"3"})};
  const auto iterator = TFRecordDataset(files).MakeIterator().value();
  EST_EXPECT_OK(iterator->Next());
  EST_EXPECT_OK(iterator->Next());
  const std::string state = iterator->SaveState().value();
  const auto restore = [&](const Strings& now) {
    return TFRecordDataset(now).MakeIterator().value()->RestoreState(state);
  };
  EST_EXPECT_OK(restore(files));
  EST_EXPECT_OK(restore({files[0], files[1]}));  // later files may change
  EXPECT_THAT(restore({files[1], files[2]}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "TFRecord: the files have changed: the saved input position is in file 1, "
                       "which was \"b\" of 3 files and is now \"c\" of 2"));
}

// The recipe for several hosts: each reads its part of the files.
TEST_F(FileDatasets, ShardsOfFilesAreReadByHosts) {
  for (int i = 0; i < 5; ++i)
    WriteRecords(absl::StrCat("part-", i), {absl::StrCat(i, "a"), absl::StrCat(i, "b")});
  const auto read = [](const Element& file) -> absl::StatusOr<Dataset> {
    return TFRecordDataset({file.features.Only()->scalar<std::string>()});
  };
  Strings together;
  for (int host = 0; host < 2; ++host) {
    const Dataset dataset = ListFiles(dir_.File("part-*"), {.shuffle = true, .seed = 3})
                                .Shard(2, host)
                                .Interleave(read, {.cycle_length = 2, .num_parallel_calls = 2});
    const Strings values = ValuesWithResume(dataset);
    EXPECT_EQ(values.size(), host == 0 ? 6u : 4u);
    together.insert(together.end(), values.begin(), values.end());
  }
  EXPECT_THAT(together, testing::UnorderedElementsAre("0a", "0b", "1a", "1b", "2a", "2b", "3a",
                                                      "3b", "4a", "4b"));
}

// A listing such as ImageNet's: 1024 files, of which 16 are open, and a buffer of 10,000 records.
TEST_F(FileDatasets, TheStateOfALargeListingIsSmall) {
  Strings files;
  const Strings records(40, std::string(8, 'x'));
  for (int i = 0; i < 1024; ++i) files.push_back(WriteRecords(absl::StrCat("train-", i), records));
  const auto iterator = TFRecordDataset(files, {.num_parallel_reads = 16})
                            .Shuffle(10000, {.seed = 1})
                            .Repeat()
                            .Batch(128)
                            .Prefetch(2)
                            .MakeIterator()
                            .value();
  size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    EST_EXPECT_OK(iterator->Next());
    most = std::max(most, iterator->SaveState()->size());
  }
  EXPECT_LT(most, 64u << 10);
  EXPECT_GT(most, 1000u);
}

TEST_F(FileDatasets, TextLinesEndWithLfOrCrLfOrTheFile) {
  const Strings files = {Write("a", "one\ntwo\r\n\nfour"), Write("b", ""),
                         Write("c", std::string(100000, 'x') + "\nend\n")};
  EXPECT_EQ(ValuesWithResume(TextLineDataset(files)),
            (Strings{"one", "two", "", "four", std::string(100000, 'x'), "end"}));
}

TEST_F(FileDatasets, FixedLengthRecordsSkipHeaderAndFooter) {
  const Strings files = {Write("a", "HHaabbF"), Write("b", "HHF"), Write("c", "HHccF")};
  const Dataset dataset =
      FixedLengthRecordDataset(files, 2, {.header_bytes = 2, .footer_bytes = 1});
  EXPECT_EQ(dataset.Cardinality(), 3);
  EXPECT_EQ(ValuesWithResume(dataset), (Strings{"aa", "bb", "cc"}));
  EXPECT_EQ(ValuesWithResume(dataset.Shuffle(3).Repeat(2)).size(), 6u);
  const std::string packed = Write("z", Compress("HHaabbF", Compression::kGzip).value());
  EXPECT_EQ(
      ValuesWithResume(FixedLengthRecordDataset(
          {packed}, 2, {.header_bytes = 2, .footer_bytes = 1, .compression = Compression::kGzip})),
      (Strings{"aa", "bb"}));
  EXPECT_THAT(
      FixedLengthRecordDataset(files, 3, {.header_bytes = 2}).MakeIterator(),
      ErrorIs(dir_.File("a") +
              ": its 7 bytes are not a header of 2, records of 3 and a footer of 0 bytes: 2 bytes "
              "are left over"));
}

TEST_F(FileDatasets, AllMissingFilesAreNamed) {
  const Strings files = {Write("a", ""), dir_.File("x"), dir_.File("y")};
  const absl::Status status = TFRecordDataset(files).Batch(2).MakeIterator().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               absl::StrCat("TFRecord: no such file: ", dir_.File("x"), ", ",
                                            dir_.File("y"))));
}

TEST_F(FileDatasets, ListFilesFeedsInterleave) {
  WriteRecords("part-0", {"a0", "a1"});
  WriteRecords("part-1", {"b0", "b1"});
  Write("other", "");
  const Dataset files = ListFiles(dir_.File("part-*"));
  EXPECT_EQ(files.Cardinality(), 2);
  const auto open = [](const Element& file) -> absl::StatusOr<Dataset> {
    return TFRecordDataset({file.features.Only()->scalar<std::string>()});
  };
  EXPECT_EQ(ValuesWithResume(files.Interleave(open, {.cycle_length = 2})),
            (Strings{"a0", "b0", "a1", "b1"}));
  EXPECT_THAT(ListFiles(dir_.File("none-*")).MakeIterator(), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace estimator
