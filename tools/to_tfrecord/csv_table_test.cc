#include "tools/to_tfrecord/csv_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;

TEST(CsvTable, QuotedFieldsMayHaveCommasQuotesAndLines) {
  EST_ASSERT_OK_AND_ASSIGN(
      const CsvTable table,
      ParseCsv("t.csv", "\xef\xbb\xbfid,text\r\na,\"x, \"\"y\"\"\nz\"\r\n\r\nb,\nc,d"));
  EXPECT_THAT(table.columns, ElementsAre("id", "text"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("a", "x, \"y\"\nz"), ElementsAre("b", ""),
                                      ElementsAre("c", "d")));
  EXPECT_EQ(table.Place(0), "t.csv:2");
  EXPECT_EQ(table.Place(1), "t.csv:5");
}

TEST(CsvTable, LinesMayEndInCarriageReturns) {
  EST_ASSERT_OK_AND_ASSIGN(const CsvTable table,
                           ParseCsv("t.csv", "id,text\ra,5\" disk\rb,\"x\"\r"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("a", "5\" disk"), ElementsAre("b", "x")));
  EXPECT_EQ(table.Place(1), "t.csv:3");
}

TEST(CsvTable, DamagedRowsAreNamedByTheirLine) {
  EXPECT_THAT(ParseCsv("t.csv", "a,b\n1,2\n3\n").status(),
              ErrorIs("t.csv:3: the row has 1 fields, but the header has 2"));
  EXPECT_THAT(ParseCsv("t.csv", "a\n\"x\n\n").status(),
              ErrorIs("t.csv:2: a quoted field has no closing quote"));
  EXPECT_THAT(ParseCsv("t.csv", "a\n\"x\"y\n").status(), ErrorHas("t.csv:2: there is text behind"));
  EXPECT_THAT(ParseCsv("t.csv", "a,a\n").status(), ErrorHas("two columns"));
  EXPECT_THAT(ParseCsv("t.csv", "\n").status(), ErrorHas("no header"));
}

TEST(CsvTable, AMissingColumnIsAnsweredWithTheNearest) {
  EST_ASSERT_OK_AND_ASSIGN(const CsvTable table, ParseCsv("t.csv", "image_id,label\n"));
  EXPECT_THAT(table.Column("labels").status(),
              AllOf(ErrorHas("did you mean 'label'"), ErrorHas("image_id, label")));
  EXPECT_EQ(table.Column("label").value(), 1u);
}

}  // namespace
}  // namespace estimator
