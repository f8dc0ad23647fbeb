#include "estimator/data/sources/file_datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    EXPECT_THAT(iterator->Next(), ErrorIs(absl::StrCat("Map: record 2 of ", file, ": not good")));
  }
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
