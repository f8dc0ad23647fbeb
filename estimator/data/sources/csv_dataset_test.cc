#include "estimator/data/sources/csv_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using Strings = std::vector<std::string>;

// "1 x", "2 y": the columns "a" and "b" of the rest of the elements.
Strings Rest(Iterator& iterator) {
  Strings rows;
  while (true) {
    const auto element = iterator.Next();
    EST_EXPECT_OK(element);
    if (!element.ok() || !element->has_value()) return rows;
    rows.push_back(absl::StrCat((*element)->features.at("a").scalar<int32_t>(), " ",
                                (*element)->features.at("b").scalar<std::string>()));
  }
}

class Csv : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File(name), bytes));
    return dir_.File(name);
  }
  TempDir dir_;
  std::vector<Array> defaults_ = {Array(DType::kInt32, {0}), Array::String("")};
};

TEST_F(Csv, RecordsMayHaveSeveralLinesAndResumeAtEachPosition) {
  Write("1.csv", "a,b\n1,\"x\ny\"\n2,z\r\n3,\"\"\n4,\"\"\"q\"\"\"");
  Write("2.csv", "a,b\n");
  Write("3.csv", "a,b\n5,w\n");
  const Strings all = {"1 x\ny", "2 z", "3 ", "4 \"q\"", "5 w"};
  for (const int64_t buffer_size_bytes : {1, 1 << 18}) {
    for (const int num_parallel_calls : {1, 2}) {
      const Dataset dataset = CsvDataset({dir_.File("*.csv")}, defaults_,
                                         {.buffer_size_bytes = buffer_size_bytes,
                                          .header = true,
                                          .num_parallel_calls = num_parallel_calls});
      const auto reference = dataset.MakeIterator().value();
      for (size_t i = 0; i <= all.size(); ++i) {
        const auto resumed = dataset.MakeIterator().value();
        EST_ASSERT_OK(resumed->RestoreState(reference->SaveState().value()));
        EXPECT_EQ(Rest(*resumed), Strings(all.begin() + static_cast<int64_t>(i), all.end()));
        EST_EXPECT_OK(reference->Next());
      }
    }
  }
}

TEST_F(Csv, ColumnsHaveTheNamesOfTheHeaderOrTheOptions) {
  const std::string file = Write("a.csv", "x,y\n1,u\n");
  const auto names = [&](const std::vector<Array>& defaults, const CsvDatasetOptions& options) {
    const auto element = CsvDataset({file}, defaults, options).MakeIterator().value()->Next();
    return element.ok() ? (*element)->ToString() : std::string(element.status().message());
  };
  EXPECT_EQ(names(defaults_, {.header = true}), "x i32 [], y str []");
  EXPECT_EQ(names(defaults_, {.header = true, .column_names = {"p", "q"}}), "p i32 [], q str []");
  EXPECT_EQ(names({defaults_[1], defaults_[1]}, {}), "column_0 str [], column_1 str []");
  EXPECT_EQ(names({defaults_[1]}, {.select_cols = {1}}), "column_1 str []");
  EXPECT_EQ(names({defaults_[1]}, {.header = true, .select_cols = {1}}), "y str []");
  EXPECT_EQ(names(defaults_, {.header = true, .labels = {"y"}}), "x i32 [], labels str []");
}

TEST_F(Csv, ErrorsNameTheRecord) {
  const std::string file = Write("a.csv", "a,b\n1,u\nv,w\n");
  const auto iterator = CsvDataset({file}, defaults_, {.header = true}).MakeIterator().value();
  EST_EXPECT_OK(iterator->Next());
  EXPECT_THAT(iterator->Next(),
              ErrorIs("Map: record 1 of " + file + " at byte 8: Field 0 is not a valid int32: v"));
}

// As TensorFlow's CsvDataset; its decode_csv finds no field.
TEST_F(Csv, AnEmptyLineHasOneEmptyField) {
  const auto iterator =
      CsvDataset({Write("a.csv", "x\n\ny\n")}, {Array::String("none")}).MakeIterator().value();
  for (const std::string expected : {"x", "none", "y"}) {
    EXPECT_EQ(iterator->Next().value()->features.at("column_0").scalar<std::string>(), expected);
  }
}

TEST_F(Csv, BadOptionsAreErrorsOfMakeIterator) {
  const std::string file = Write("a.csv", "x,y\n1,u\n"), empty = Write("b.csv", "");
  const auto error = [&](const std::string& path, const CsvDatasetOptions& options) {
    return CsvDataset({path}, defaults_, options).MakeIterator().status();
  };
  EXPECT_THAT(error(dir_.File("none"), {}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(error(empty, {.header = true}), ErrorHas("the file is empty"));
  EXPECT_THAT(error(file, {.column_names = {"x"}}),
              ErrorIs("CsvDataset: column_names has 1 names, but record_defaults has 2 columns"));
  EXPECT_THAT(error(file, {.column_names = {"x", "x"}}), ErrorHas("the name \"x\""));
  EXPECT_THAT(error(file, {.header = true, .labels = {"z"}}), ErrorHas("the columns are x, y"));
  EXPECT_THAT(error(file, {.field_delim = ""}), ErrorHas("only 1 char"));
  EXPECT_THAT(CsvDataset({file}, {defaults_[0]}, {.header = true}).MakeIterator(),
              ErrorHas("the header has 2 columns (x, y), but record_defaults has 1"));
}

}  // namespace
}  // namespace estimator
