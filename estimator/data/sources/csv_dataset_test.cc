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

// Fixed bug: the message had all names of a million columns.
TEST_F(Csv, AMessageShowsSomeOfManyColumns) {
  std::string header = "column_0", text = std::string(100000, 'y');
  for (int i = 1; i < 100000; ++i) absl::StrAppend(&header, ",column_", i);
  const absl::Status many = CsvDataset({Write("many", header + "\n")}, defaults_, {.header = true})
                                .MakeIterator()
                                .status();
  EXPECT_THAT(many, ErrorHas("the header has 100000 columns (column_0, column_1, "));
  EXPECT_THAT(many, ErrorHas("and 99980 more), but record_defaults has 2"));
  const auto iterator =
      CsvDataset({Write("long", text + ",x\n")}, defaults_).MakeIterator().value();
  EXPECT_THAT(iterator->Next().status(), ErrorHas("yyy... (100000 bytes)"));
}

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

// A fixed bug: the number of quotes said where a record ends, so that a quote in a field joined all
// lines behind it. The expected rows are those of TensorFlow 2.15.1 with ignore_errors.
TEST_F(Csv, AStrayQuoteDamagesItsRecordOnly) {
  const auto rows = [&](const std::string& bytes) {
    const std::vector<Array> defaults = {Array(DType::kInt32, {0}), Array::String("")};
    const auto iterator =
        CsvDataset({Write("a.csv", bytes)}, defaults, {.column_names = {"a", "b"}})
            .IgnoreErrors(9)
            .MakeIterator()
            .value();
    return Rest(*iterator);
  };
  EXPECT_EQ(rows("1,a\n2,5\" disk\n3,c\n4,d\n5,e\n"), Strings({"1 a", "3 c", "4 d", "5 e"}));
  EXPECT_EQ(rows("1,a\n2,b\"\n3,\"c\n\"\n4,d\n"), Strings({"1 a", "3 c\n", "4 d"}));
  EXPECT_EQ(rows("1,a\n2,b\"c\",d\"\n3,c\n"), Strings({"1 a", "3 c"}));
  EXPECT_EQ(rows("1,a\n2,x\"y,\"c\nd\"\n3,c\n4,e\n"), Strings({"1 a", "3 c", "4 e"}));
  EXPECT_EQ(rows("1,a\n2,\"b\" ,\"c\nd\"\n3,c\n"), Strings({"1 a", "3 c"}));
  EXPECT_EQ(rows("1,a\n2,\"b\"x\n3,c\n"), Strings({"1 a"}));  // the quote is never closed
  EXPECT_EQ(rows("1,a\n2,\"a\"\"b\nc\"\n3,c\n"), Strings({"1 a", "2 a\"b\nc", "3 c"}));
}

TEST_F(Csv, LinesHaveEndsOfAllThreeKinds) {
  for (const std::string bytes : {"1,x\n2,y\n", "1,x\r\n2,y\r\n", "1,x\r2,y\r", "1,x\r2,y",
                                  "1,\"x\"\r\n2,y", "1,x\r\n2,\"y\"\r"}) {
    for (const bool use_quote_delim : {true, false}) {
      if (!use_quote_delim && bytes.find('"') != std::string::npos) continue;
      const Dataset dataset =
          CsvDataset({Write("a.csv", bytes)}, defaults_,
                     {.use_quote_delim = use_quote_delim, .column_names = {"a", "b"}});
      const auto iterator = dataset.MakeIterator().value();
      EST_ASSERT_OK(iterator->Next());
      const auto resumed = dataset.MakeIterator().value();
      EST_ASSERT_OK(resumed->RestoreState(iterator->SaveState().value()));
      EXPECT_EQ(Rest(*resumed), Strings({"2 y"})) << bytes;
    }
  }
}

TEST_F(Csv, AByteOrderMarkIsDropped) {
  for (const std::string header : {"", "a,b\r\n", "\"a\",\"b\"\r\n"}) {
    CsvDatasetOptions options = {.header = !header.empty()};
    if (header.empty()) options.column_names = {"a", "b"};
    const Dataset dataset = CsvDataset({Write("a.csv", "\xef\xbb\xbf" + header + "1,x\r\n2,y\r\n")},
                                       defaults_, options);
    const auto iterator = dataset.MakeIterator().value();
    const auto resumed = dataset.MakeIterator().value();
    EST_ASSERT_OK(iterator->Next());
    EST_ASSERT_OK(resumed->RestoreState(iterator->SaveState().value()));
    EXPECT_EQ(Rest(*resumed), Strings({"2 y"}));
    EXPECT_EQ(Rest(*dataset.MakeIterator().value()), Strings({"1 x", "2 y"}));
  }
}

TEST_F(Csv, ALineWithoutEndIsRefusedEarlyAndSkippedAsOne) {
  const std::string file =
      Write("a.csv", "1,x\n2," + std::string((size_t{64} << 20) + 1, 'y') + "\n3,z\n");
  const Dataset dataset = CsvDataset({file}, defaults_, {.column_names = {"a", "b"}});
  const auto iterator = dataset.MakeIterator().value();
  EST_EXPECT_OK(iterator->Next());
  EXPECT_THAT(iterator->Next(), ErrorHas("line 1 at byte 4 has more than 64"));
  EXPECT_EQ(Rest(*dataset.IgnoreErrors(1).MakeIterator().value()), Strings({"1 x", "3 z"}));
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
