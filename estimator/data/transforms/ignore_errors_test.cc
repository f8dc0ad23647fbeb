#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;
using Strings = std::vector<std::string>;

// A file with the records "0" to "9". Records 2 and 7 are damaged, and ParseOdd refuses record 4.
class IgnoreErrorsTest : public ::testing::Test {
 protected:
  IgnoreErrorsTest() : file_(Write("a", 10, {2, 7})) {}

  std::string Write(const std::string& name, int count, const std::vector<int>& damaged) {
    std::string path = dir_.File(name);
    auto writer = TFRecordWriter::Open(path).value();
    for (int i = 0; i < count; ++i) EST_EXPECT_OK(writer->Write(absl::StrCat(i)));
    EST_EXPECT_OK(writer->Close());
    std::string bytes = ReadFile(path).value();
    for (const int record : damaged) bytes[static_cast<size_t>(record) * 17 + 12] = 'x';
    EST_EXPECT_OK(WriteFileAtomically(path, bytes));
    return path;
  }

  TempDir dir_;
  std::string file_;
};

absl::StatusOr<Element> Parse(const Element& element) {
  if (element.features.at("").scalar<std::string>() == "4")
    return absl::InvalidArgumentError("Key: label. It is 4");
  return element;
}

std::string Value(const std::optional<Element>& element) {
  return element->features.at("").scalar<std::string>();
}

absl::StatusOr<Strings> Values(Iterator& iterator) {
  Strings values;
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator.Next());
    if (!element) return values;
    values.push_back(Value(element));
  }
}

absl::StatusOr<Strings> Values(const Dataset& dataset) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  return Values(*iterator);
}

// Checks that a resume from before every element gives the elements that follow.
void ExpectResumes(const Dataset& dataset) {
  const Strings all = Values(dataset).value();
  for (size_t i = 0; i <= all.size(); ++i) {
    const auto first = dataset.MakeIterator().value();
    for (size_t k = 0; k < i; ++k) EST_ASSERT_OK(first->Next());
    const auto resumed = dataset.MakeIterator().value();
    EST_ASSERT_OK(resumed->RestoreState(first->SaveState().value()));
    EXPECT_EQ(Values(*resumed).value(), Strings(all.begin() + static_cast<long>(i), all.end()))
        << i;
  }
}

TEST_F(IgnoreErrorsTest, SkipsDamagedRecordsAndThoseThatDoNotParse) {
  for (const int calls : {1, 2}) {
    const Dataset dataset =
        TFRecordDataset({file_}).Map(Parse, {.num_parallel_calls = calls}).IgnoreErrors(3);
    EXPECT_THAT(Values(dataset).value(), ElementsAre("0", "1", "3", "5", "6", "8", "9"));
    ExpectResumes(dataset);
    EXPECT_THAT(Values(dataset.Skip(3)).value(), ElementsAre("5", "6", "8", "9"));
  }
}

TEST_F(IgnoreErrorsTest, OneMoreIsAnErrorThatNamesTheRecordAndTheLimit) {
  for (const int calls : {1, 2}) {
    const absl::Status error =
        Values(TFRecordDataset({file_}).Map(Parse, {.num_parallel_calls = calls}).IgnoreErrors(1))
            .status();
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(
        error.message(),
        absl::StrCat("Map: record 4 of ", file_,
                     " at byte 68: Key: label. It is 4; IgnoreErrors(1) has skipped 1 damaged "
                     "elements before it and skips no more"));
  }
  const absl::Status error = Values(TFRecordDataset({file_}).Map(Parse).IgnoreErrors(2)).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(error.message()), HasSubstr("record 7 at byte 119"));
}

TEST_F(IgnoreErrorsTest, CountsAnElementOnceInAllEpochs) {
  const Dataset repeated = TFRecordDataset({file_}).Repeat(5).Map(Parse);
  EXPECT_EQ(Values(repeated.IgnoreErrors(3)).value().size(), 35u);
  EXPECT_FALSE(Values(repeated.IgnoreErrors(2)).ok());
  // A buffer of elements knows their origins.
  const Dataset shuffled = TFRecordDataset({file_}).Repeat(5).Shuffle(4, {.seed = 1}).Map(Parse);
  EXPECT_EQ(Values(shuffled.IgnoreErrors(3)).value().size(), 35u);
  ExpectResumes(shuffled.IgnoreErrors(3));
  EXPECT_THAT(std::string(Values(shuffled.IgnoreErrors(2)).status().message()), HasSubstr(file_));
}

TEST_F(IgnoreErrorsTest, TheCountIsAPartOfTheSavedPosition) {
  const auto dataset = [&](int64_t max_errors) {
    return TFRecordDataset({file_}).Map(Parse).IgnoreErrors(max_errors);
  };
  const auto first = dataset(2).MakeIterator().value();
  for (int i = 0; i < 4; ++i) EST_ASSERT_OK(first->Next());  // 0, 1, 3, 5: 2 and 4 are skipped
  const std::string state = first->SaveState().value();
  const auto same = dataset(2).MakeIterator().value();
  EST_ASSERT_OK(same->RestoreState(state));
  EXPECT_THAT(std::string(Values(*same).status().message()), HasSubstr("IgnoreErrors(2) has"));
  // A run that fails can continue with a higher limit.
  const auto more = dataset(3).MakeIterator().value();
  EST_ASSERT_OK(more->RestoreState(state));
  EXPECT_THAT(Values(*more).value(), ElementsAre("6", "8", "9"));
  // Without a limit, the next damaged record is an error; one can be given later.
  const auto none = dataset(0).MakeIterator().value();
  EST_ASSERT_OK(none->RestoreState(state));
  EXPECT_THAT(Values(*none), StatusIs(absl::StatusCode::kDataLoss));
  const auto before = dataset(0).MakeIterator().value();
  EST_ASSERT_OK(before->Next());
  const auto on = dataset(3).MakeIterator().value();
  EST_ASSERT_OK(on->RestoreState(before->SaveState().value()));
  EXPECT_THAT(Values(*on).value(), ElementsAre("1", "3", "5", "6", "8", "9"));
}

TEST_F(IgnoreErrorsTest, WorksOnIndexedDataAndThoseOfThreads) {
  const Strings good = {"0", "1", "3", "5", "6", "8", "9"};
  const Dataset indexed = TFRecordDataset({file_}, {.indexed = true});
  for (const int calls : {1, 2}) {
    const auto mapped = [&](const Dataset& dataset) {
      return dataset.Map(Parse, {.num_parallel_calls = calls}).IgnoreErrors(3);
    };
    EXPECT_EQ(Values(mapped(indexed)).value(), good);
    for (const int64_t buffer_size : {10, 4}) {
      const Dataset shuffled = mapped(indexed.Shuffle(buffer_size, {.seed = 3}).Repeat(2));
      EXPECT_EQ(Values(shuffled).value().size(), 14u);
      ExpectResumes(shuffled);
    }
    ExpectResumes(indexed.Map(Parse).Shuffle(10, {.seed = 3}).Repeat(2).IgnoreErrors(3));
    EXPECT_EQ(Values(indexed.Map(Parse).Shuffle(10).IgnoreErrors(3)).value().size(), 7u);
  }
  const Strings files = {Write("b", 10, {2, 7}), Write("c", 10, {2, 7})};
  const Dataset many = TFRecordDataset(files, {.num_parallel_reads = 2})
                           .Map(Parse, {.num_parallel_calls = 2})
                           .Prefetch(2)
                           .IgnoreErrors(6);
  Strings twice = good;
  twice.insert(twice.end(), good.begin(), good.end());
  EXPECT_THAT(Values(many).value(), UnorderedElementsAreArray(twice));
  ExpectResumes(many);
}

TEST_F(IgnoreErrorsTest, SkipsTheRestOfAFileAfterADamagedLength) {
  std::string bytes = ReadFile(file_).value();
  bytes[17] = '\x7f';
  EST_ASSERT_OK(WriteFileAtomically(file_, bytes));
  const std::string truncated = Write("b", 2, {});
  EST_ASSERT_OK(WriteFileAtomically(truncated, ReadFile(truncated)->substr(0, 30)));
  const std::string whole = Write("c", 1, {});
  const Dataset dataset = TFRecordDataset({file_, truncated, whole}).IgnoreErrors(2);
  EXPECT_THAT(Values(dataset).value(), ElementsAre("0", "0", "0"));
  ExpectResumes(dataset);
}

TEST_F(IgnoreErrorsTest, DoesNotSkipWhatIsNotAnErrorOfTheData) {
  const auto fail = [](absl::StatusCode code) {
    return [code](const Element&) -> absl::StatusOr<Element> { return absl::Status(code, "no"); };
  };
  for (const absl::StatusCode code : {absl::StatusCode::kUnavailable, absl::StatusCode::kNotFound,
                                      absl::StatusCode::kPermissionDenied}) {
    EXPECT_THAT(Values(Dataset::Range(0, 3).Map(fail(code)).IgnoreErrors(5)), StatusIs(code));
  }
  EXPECT_THAT(Values(Dataset::Range(0, 3)
                         .Filter([](const Element&) -> absl::StatusOr<bool> {
                           return absl::InvalidArgumentError("bad");
                         })
                         .IgnoreErrors(3))
                  .value(),
              ElementsAre());
  EXPECT_THAT(Dataset::Range(0, 3).IgnoreErrors(-1).MakeIterator(),
              ErrorHas("IgnoreErrors: max_errors is -1; it must be at least 0"));
}

// A part that skips a row would pair the rows after it wrongly.
TEST_F(IgnoreErrorsTest, DoesNotSkipWithinAZip) {
  const std::string labels = Write("labels", 10, {});
  EXPECT_THAT(
      Values(Dataset::Zip(TFRecordDataset({file_}), TFRecordDataset({labels})).IgnoreErrors(5)),
      StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(IgnoreErrorsTest, KnowsTheNumberOfElementsOnlyIfItSkipsNone) {
  const Dataset dataset = Dataset::Range(0, 7);
  EXPECT_EQ(dataset.IgnoreErrors(0).Cardinality(), 7);
  EXPECT_EQ(dataset.IgnoreErrors(1).Cardinality(), -1);
  EXPECT_EQ(dataset.IgnoreErrors(1).ExamplesPerEpoch(), 7);
  EXPECT_EQ(dataset.Repeat().IgnoreErrors(1).Cardinality(), Dataset::kInfinite);
  EXPECT_EQ(dataset.IgnoreErrors(1).Describe(), dataset.IgnoreErrors(0).Describe());
}

}  // namespace
}  // namespace estimator
