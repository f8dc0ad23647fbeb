#include "tools/imagenet_to_tfrecord/bounding_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::SizeIs;

std::string Box(const std::string& xmin, const std::string& ymin, const std::string& xmax,
                const std::string& ymax) {
  return absl::StrCat("<object><name>n1</name><bndbox><xmin>", xmin, "</xmin>\n<ymin>", ymin,
                      "</ymin><xmax>", xmax, "</xmax><ymax>", ymax, "</ymax></bndbox></object>");
}
std::string Annotation(const std::string& boxes) {
  return absl::StrCat("<annotation><filename>%s</filename><size><width>300</width><height>200",
                      "</height><depth>3</depth></size>", boxes, "</annotation>");
}

TEST(ParseAnnotation, ScalesClampsAndRoundsTo4Digits) {
  EST_ASSERT_OK_AND_ASSIGN(const auto boxes,
                           ParseAnnotation("a.xml", Annotation(Box("100", "20", "200", "150") +
                                                               Box("310", "-5", "10", "250"))));
  ASSERT_THAT(boxes, SizeIs(2));
  EXPECT_EQ(boxes[0].xmin, 0.3333f);
  EXPECT_EQ(boxes[0].ymin, 0.1f);
  EXPECT_EQ(boxes[0].xmax, 0.6667f);
  EXPECT_EQ(boxes[0].ymax, 0.75f);
  EXPECT_EQ(boxes[1].xmin, 0.0333f);  // exchanged
  EXPECT_EQ(boxes[1].xmax, 1);
  EXPECT_EQ(boxes[1].ymin, 0);
  EXPECT_EQ(boxes[1].ymax, 1);
}

TEST(ParseAnnotation, BoxesWithoutAnAreaAreLeftOut) {
  EST_ASSERT_OK_AND_ASSIGN(const auto boxes,
                           ParseAnnotation("a.xml", Annotation(Box("10", "20", "10", "30") +
                                                               Box("400", "1", "500", "9"))));
  EXPECT_THAT(boxes, SizeIs(0));
}

TEST(ParseAnnotation, DamageIsNamed) {
  EXPECT_THAT(ParseAnnotation("a.xml", "<html>").status(),
              AllOf(ErrorHas("a.xml: not an annotation"), ErrorHas("<width>")));
  EXPECT_THAT(ParseAnnotation("a.xml", Annotation(Box("x", "1", "2", "3"))).status(),
              ErrorHas("not a number"));
  EXPECT_THAT(ParseAnnotation("a.xml", Annotation("<xmin>3</xmin>")).status(),
              ErrorHas("a box lacks one of"));
}

TEST(ReadBoundingBoxes, FoldersOfXmlAndTheCsvOfTensorFlowGiveTheSameBoxes) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("n1")));
  EST_ASSERT_OK(
      WriteFileAtomically(dir.File("n1/n1_7.xml"),
                          Annotation(Box("30", "20", "60", "40") + Box("0", "0", "300", "9"))));
  EST_ASSERT_OK(WriteFileAtomically(
      dir.File("b.csv"),
      "\xef\xbb\xbf\"n1_7.JPEG\",0.1000,0.1000,0.2000,0.2000\nn1_7.JPEG,0.0,0.0,1.0,0.0450\n"));
  EST_ASSERT_OK_AND_ASSIGN(const BoundingBoxes xml, ReadBoundingBoxXmls(dir.path()));
  EST_ASSERT_OK_AND_ASSIGN(const BoundingBoxes csv, ReadBoundingBoxCsv(dir.File("b.csv")));
  ASSERT_THAT(xml, SizeIs(1));
  ASSERT_THAT(csv, SizeIs(1));
  for (size_t i = 0; i < 2; ++i) {
    const BoundingBox &a = xml.at("n1_7.JPEG").at(i), &b = csv.at("n1_7.JPEG").at(i);
    EXPECT_EQ(a.xmin, b.xmin);
    EXPECT_EQ(a.xmax, b.xmax);
    EXPECT_EQ(a.ymin, b.ymin);
    EXPECT_EQ(a.ymax, b.ymax);
  }
  EST_ASSERT_OK(WriteFileAtomically(dir.File("c.csv"), "n1_7.JPEG,0.1,0.1,0.2,0.2\nn1_8,1\n"));
  EXPECT_THAT(ReadBoundingBoxCsv(dir.File("c.csv")).status(),
              ErrorHas("c.csv:2: \"n1_8,1\" is not NAME,xmin"));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("n1/n1_8.xml"), "x"));
  EXPECT_THAT(ReadBoundingBoxXmls(dir.path()).status(), ErrorHas("n1_8.xml: not an annotation"));
}

}  // namespace
}  // namespace estimator
