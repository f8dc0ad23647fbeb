#include "tools/imagenet_to_tfrecord/imagenet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ImagenetTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, const std::string& text = "") const {
    EST_ASSERT_OK(CreateDirectories(Dirname(dir_.File(name))));
    EST_ASSERT_OK(WriteFileAtomically(dir_.File(name), text));
  }
  absl::StatusOr<Imagenet> Find(ImagenetOptions options = {}) const {
    options.directory = dir_.path();
    return FindImagenet(options);
  }
  const TempDir dir_;
};

TEST_F(ImagenetTest, TensorFlowsLayoutTakesLabelsFromItsFiles) {
  Add("train/n02/n02_1.JPEG");
  Add("train/n01/n01_5.JPEG");
  Add("validation/ILSVRC2012_val_00000002.JPEG");
  Add("validation/ILSVRC2012_val_00000001.JPEG");
  Add("imagenet_lsvrc_2015_synsets.txt", "n02\nn01\n");
  Add("imagenet_metadata.txt", "n00\tentity\nn01\ttench, Tinca tinca\nn02\tgoldfish\n");
  Add("imagenet_2012_validation_synset_labels.txt", "n01\nn02\n");
  Add("imagenet_2012_bounding_boxes.csv", "n01_5.JPEG,0.1,0.2,0.3,0.4\n");
  EST_ASSERT_OK_AND_ASSIGN(const Imagenet found, Find());
  EXPECT_THAT(found.notes, SizeIs(0));
  EXPECT_THAT(found.set.synsets, ElementsAre("n02", "n01"));
  EXPECT_THAT(found.set.classes, ElementsAre("goldfish", "tench, Tinca tinca"));
  ASSERT_THAT(found.train, ElementsAre(0, 1));
  EXPECT_EQ(found.set.samples[0].name, "n01_5.JPEG");
  EXPECT_THAT(found.set.samples[0].labels, ElementsAre(1));
  ASSERT_THAT(found.validation, ElementsAre(2, 3));
  EXPECT_EQ(found.set.samples[2].name, "ILSVRC2012_val_00000001.JPEG");
  EXPECT_THAT(found.set.samples[2].labels, ElementsAre(1));
  EXPECT_THAT(found.set.samples[3].labels, ElementsAre(0));
  EXPECT_EQ(found.set.boxes.at("n01_5.JPEG").at(0).ymin, 0.2f);
}

TEST_F(ImagenetTest, KagglesLayoutTakesLabelsFromItsFiles) {
  Add("ILSVRC/Data/CLS-LOC/train/n01/n01_5.JPEG");
  Add("ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000007.JPEG");
  Add("LOC_synset_mapping.txt", "n01 tench, Tinca tinca\r\nn02 goldfish\r\n");
  Add("LOC_val_solution.csv",
      "ImageId,PredictionString\nILSVRC2012_val_00000007,n02 85 1 499 272 \n");
  Add("ILSVRC/Annotations/CLS-LOC/train/n01/n01_5.xml",
      "<size><width>10</width><height>10</height></size><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax>"
      "<ymax>4</ymax>");
  EST_ASSERT_OK_AND_ASSIGN(const Imagenet found, Find());
  EXPECT_THAT(found.set.classes, ElementsAre("tench, Tinca tinca", "goldfish"));
  ASSERT_THAT(found.validation, ElementsAre(1));
  EXPECT_THAT(found.set.samples[1].labels, ElementsAre(1));
  EXPECT_EQ(found.set.boxes.at("n01_5.JPEG").at(0).xmax, 0.3f);
}

TEST_F(ImagenetTest, FoldersAloneAreEnoughAndNotesSayWhatIsMissing) {
  Add("train/n02/a.JPEG");
  Add("train/n01/b.JPEG");
  Add("val/n02/c.JPEG");
  EST_ASSERT_OK_AND_ASSIGN(const Imagenet found, Find());
  EXPECT_THAT(found.set.synsets, ElementsAre("n01", "n02"));
  EXPECT_THAT(found.set.classes, ElementsAre("n01", "n02"));
  EXPECT_THAT(found.set.samples[2].labels, ElementsAre(1));
  EXPECT_THAT(found.notes, AllOf(SizeIs(3), Contains(HasSubstr("--labels_file")),
                                 Contains(HasSubstr("--bounding_box_file"))));
}

TEST_F(ImagenetTest, MistakesAreNamedTogether) {
  EXPECT_THAT(Find().status(), ErrorHas("has neither images of ImageNet"));
  Add("train/n01/a.JPEG");
  Add("train/n03/b.JPEG");
  Add("train/x.tar");
  Add("imagenet_lsvrc_2015_synsets.txt", "n01\nn02\n");
  EXPECT_THAT(Find().status(), AllOf(ErrorHas("2 entries that are not folders of a known synset"),
                                     ErrorHas("n03"), ErrorHas("x.tar")));
  EST_ASSERT_OK(RemoveDirectoryRecursively(dir_.File("train/n03")));
  EST_ASSERT_OK(RemoveFile(dir_.File("train/x.tar")));
  Add("validation/ILSVRC2012_val_00000001.JPEG");
  Add("validation/ILSVRC2012_val_00000003.JPEG");
  EXPECT_THAT(Find().status(), ErrorHas("pass --validation_labels_file"));
  Add("imagenet_2012_validation_synset_labels.txt", "n09\nn02\n");
  EXPECT_THAT(Find().status(),
              AllOf(ErrorHas("ILSVRC2012_val_00000001.JPEG has the unknown synset n09"),
                    ErrorHas("ILSVRC2012_val_00000003.JPEG has no label")));
  Add("validation/n01/a.JPEG");
  EXPECT_THAT(Find().status(), ErrorHas("has images (ILSVRC2012_val_00000001.JPEG) and folders"));
  EXPECT_THAT(Find({.labels_file = "/no/such"}).status(), ErrorHas("/no/such"));
  Add("twice.txt", "n01\nn01\n");
  EXPECT_THAT(Find({.labels_file = dir_.File("twice.txt")}).status(), ErrorHas("a synset twice"));
}

}  // namespace
}  // namespace estimator
