// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/sources/idx.h"
#include "estimator/image/png/png.h"
#include "estimator/proto/example.pb.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// A PNG of one color.
std::string Picture(uint8_t gray, int64_t side = 6) {
  Array image(DType::kUint8, {side, side + 1, 3});
  for (uint8_t& pixel : image.values<uint8_t>()) pixel = gray;
  return image::EncodePng(image).value();
}

class ToTfrecordTest : public ::testing::Test {
 protected:
  ToTfrecordTest() : in_(dir_.File("in")), out_(dir_.File("out")) {
    EST_EXPECT_OK(CreateDirectories(in_));
  }
  void Add(const std::string& name, const std::string& bytes) const {
    const std::string path = JoinPath(in_, name);
    EST_ASSERT_OK(CreateDirectories(Dirname(path)));
    EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  }
  // cat/0.png ... and dog/0.png ..., each of another color.
  void AddFolders(int each) const {
    for (int i = 0; i < each; ++i) {
      Add(absl::StrCat("cat/", i, ".png"), Picture(static_cast<uint8_t>(i)));
      Add(absl::StrCat("dog/", i, ".png"), Picture(static_cast<uint8_t>(100 + i)));
    }
  }
  ProgramRun Run(const std::string& flags, const std::string& prefix = "") const {
    return RunProgram(absl::StrCat(prefix, "tools/to_tfrecord/to_tfrecord --input_dir=", in_,
                                   " --output_dir=", out_, " ", flags));
  }
  // The contents of the files of the output whose names begin with `prefix`, by name.
  std::map<std::string, std::string> Files(const std::string& prefix) const {
    std::map<std::string, std::string> files;
    for (const std::string& name : *ListDirectory(out_)) {
      if (absl::StartsWith(name, prefix)) files[name] = ReadFile(JoinPath(out_, name)).value();
    }
    return files;
  }
  std::vector<proto::Example> Examples(const std::string& prefix) const {
    std::vector<proto::Example> examples;
    for (const auto& [name, contents] : Files(prefix)) {
      EST_EXPECT_OK(ForEachRecord(JoinPath(out_, name), InputCompression::kAuto,
                                  [&](const Record& record) -> absl::Status {
                                    examples.push_back(ParseExampleRecord(record).value());
                                    return absl::OkStatus();
                                  }));
    }
    return examples;
  }
  const TempDir dir_;
  const std::string in_, out_;
};

const proto::Feature& Get(const proto::Example& example, const std::string& key) {
  static const auto* const none = new proto::Feature;
  const auto found = example.features().feature().find(key);
  return found == example.features().feature().end() ? *none : found->second;
}
std::string Text(const proto::Example& example, const std::string& key) {
  const auto& values = Get(example, key).bytes_list().value();
  return values.empty() ? "(none)" : values[0];
}
std::vector<int64_t> Ints(const proto::Example& example, const std::string& key) {
  const auto& values = Get(example, key).int64_list().value();
  return {values.begin(), values.end()};
}

TEST_F(ToTfrecordTest, FoldersOfClassesBecomeExamplesWithTheKeysOfTensorFlowsConverter) {
  AddFolders(3);
  const ProgramRun run = Run("");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("1 files, 6 records"));
  EXPECT_EQ(ReadFile(JoinPath(out_, "labels.txt")).value(), "cat\ndog\n");
  const auto examples = Examples("train-00000-of-00001");
  ASSERT_THAT(examples, SizeIs(6));
  int cats = 0;
  for (const proto::Example& example : examples) {
    EXPECT_THAT(example.features().feature(), SizeIs(9));
    const bool cat = Text(example, "image/class/text") == "cat";
    cats += cat ? 1 : 0;
    EXPECT_THAT(Ints(example, "image/class/label"), ElementsAre(cat ? 1 : 2));
    EXPECT_THAT(Ints(example, "image/height"), ElementsAre(6));
    EXPECT_THAT(Ints(example, "image/width"), ElementsAre(7));
    EXPECT_THAT(Ints(example, "image/channels"), ElementsAre(3));
    EXPECT_EQ(Text(example, "image/colorspace"), "RGB");
    EXPECT_EQ(Text(example, "image/format"), "PNG");
    EXPECT_EQ(
        Text(example, "image/encoded"),
        ReadFile(JoinPath(in_, cat ? "cat" : "dog", Text(example, "image/filename"))).value());
  }
  EXPECT_EQ(cats, 3);
}

TEST_F(ToTfrecordTest, TheBytesDependOnTheSeedButNotOnThreadsOrBatches) {
  AddFolders(20);
  EXPECT_EQ(Run("--num_shards=3 --num_threads=1 --batch_size=1").exit_code, 0);
  const auto files = Files("train");
  ASSERT_THAT(files, SizeIs(3));
  EXPECT_EQ(Run("--num_shards=3 --num_threads=5 --batch_size=4 --force --split=train").exit_code,
            0);
  EST_ASSERT_OK(RemoveDirectoryRecursively(out_));
  EXPECT_EQ(Run("--num_shards=3 --num_threads=5 --batch_size=4").exit_code, 0);
  EXPECT_TRUE(Files("train") == files);
  const ProgramRun other = Run("--num_shards=3 --seed=6");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.output,
              AllOf(HasSubstr("--split was train, shuffled by --seed=12345 and is train, shuffled "
                              "by --seed=6"),
                    HasSubstr("pass --force")));
  EXPECT_EQ(Run("--num_shards=3 --seed=6 --force").exit_code, 0);
  EXPECT_FALSE(Files("train") == files);
  EXPECT_EQ(Run("--num_shards=2 --noshuffle --force").exit_code, 0);
  ASSERT_THAT(Files("train"), SizeIs(2));
  EXPECT_EQ(Text(Examples("train")[0], "image/filename"), "0.png");
}

TEST_F(ToTfrecordTest, AKilledRunIsContinuedToTheSameBytes) {
  AddFolders(60);
  const std::string flags = "--num_shards=12 --batch_size=4";
  EXPECT_EQ(Run(flags).exit_code, 0);
  const auto files = Files("train");
  EST_ASSERT_OK(RemoveDirectoryRecursively(out_));
  int killed = 0;
  for (int milliseconds = 10;; milliseconds += 10) {
    const std::string timeout = absl::StrFormat("timeout -s KILL %.3f ", milliseconds * 1e-3);
    const ProgramRun run = Run(flags, timeout);
    if (run.exit_code == 0) break;
    ASSERT_THAT(run.output, Not(HasSubstr("error:")));
    ++killed;
  }
  EXPECT_GT(killed, 0);
  EXPECT_TRUE(Files("train") == files);
  EXPECT_THAT(Files(".train-"), SizeIs(0));
  const ProgramRun again = Run(flags);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.output, HasSubstr("12 of the files are from an earlier run"));
}

// A run that is killed between its first shard and the entry in the manifest.
TEST_F(ToTfrecordTest, TheManifestIsWrittenBeforeTheFirstShard) {
  AddFolders(2);
  Add("cat/a.txt", "no image");
  EXPECT_EQ(Run("--num_shards=1").exit_code, 1);
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(out_, "train-00000-of-00001"), "not in the manifest"));
  const ProgramRun again = Run("--num_shards=1 --allow_bad=1");
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(Examples("train"), SizeIs(4));
}

TEST_F(ToTfrecordTest, TemporaryFilesOfKilledRunsAreRemoved) {
  AddFolders(2);
  EST_ASSERT_OK(CreateDirectories(out_));
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(out_, ".labels.txt.tmp-999999999-0"), "cat"));
  EXPECT_EQ(Run("").exit_code, 0);
  EXPECT_THAT(Files(".labels.txt"), SizeIs(0));
}

TEST_F(ToTfrecordTest, CtrlCSaysHowManyFilesAreFinished) {
  for (int i = 0; i < 300; ++i) Add(absl::StrCat("cat/", i, ".png"), Picture(1, 200));
  const std::string flags = "--num_shards=100 --batch_size=1 --num_threads=1";
  // A signal before the program has installed its handler ends it at once.
  ProgramRun run;
  for (int milliseconds = 20; !absl::StrContains(run.output, "stopping as soon");
       milliseconds += 20) {
    EST_ASSERT_OK(RemoveDirectoryRecursively(out_));
    run = Run(flags, absl::StrFormat("timeout -s INT %.3f ", milliseconds * 1e-3));
    ASSERT_NE(run.exit_code, 0);
  }
  EXPECT_THAT(run.output, HasSubstr(" of 100 files are finished, and the same command continues"));
  EXPECT_EQ(Run(flags).exit_code, 0);
  EXPECT_THAT(Examples("train"), SizeIs(300));
}

TEST_F(ToTfrecordTest, AShardIsWrittenAgainIfItOrItsInputsChanged) {
  AddFolders(8);
  EXPECT_EQ(Run("--num_shards=4 --noshuffle").exit_code, 0);
  const auto files = Files("train");
  EST_ASSERT_OK(RemoveFile(JoinPath(out_, "train-00001-of-00004")));
  Add("dog/7.png", Picture(250, 9));
  const ProgramRun again = Run("--num_shards=4 --noshuffle");
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("2 of the files are from an earlier run"));
  const auto now = Files("train");
  EXPECT_TRUE(now.at("train-00001-of-00004") == files.at("train-00001-of-00004"));
  EXPECT_FALSE(now.at("train-00003-of-00004") == files.at("train-00003-of-00004"));
  Add("dog/8.png", Picture(9));
  const ProgramRun more = Run("--num_shards=4 --noshuffle");
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_THAT(more.output, HasSubstr("images was 16 and is 17"));
}

TEST_F(ToTfrecordTest, UnusableFilesAreAllListedAndFailUnlessTheyAreAllowed) {
  AddFolders(10);
  Add("cat/a.txt", "no image");
  Add("dog/3.png", Picture(3, 30).substr(0, 60));
  Add("dog/empty.png", "");
  const ProgramRun failed = Run("--num_shards=6 --noshuffle");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.output,
              AllOf(HasSubstr("3 of 22 images cannot be used"),
                    HasSubstr("cat/a.txt: neither JPEG"), HasSubstr("dog/3.png: "),
                    HasSubstr("dog/empty.png: the file is empty"), HasSubstr("--allow_bad=3")));
  EXPECT_THAT(ReadFile(JoinPath(out_, "unused_files-train.txt")).value(),
              AllOf(HasSubstr("cat/a.txt\tneither JPEG"), HasSubstr("dog/empty.png\t")));
  const size_t finished = Files("train").size();
  EXPECT_LT(finished, 6u);  // no shard that lacks an image
  EXPECT_EQ(Run("--num_shards=6 --noshuffle --allow_bad=2").exit_code, 1);
  const ProgramRun allowed = Run("--num_shards=6 --noshuffle --allow_bad=3");
  EXPECT_EQ(allowed.exit_code, 0) << allowed.output;
  EXPECT_THAT(allowed.output,
              AllOf(HasSubstr("6 files, 19 records"), HasSubstr("3 files were left out")));
  EXPECT_THAT(Examples("train"), SizeIs(19));
  // A later run lists them too, although their shards are finished.
  EXPECT_EQ(Run("--num_shards=6 --noshuffle").exit_code, 1);
}

TEST_F(ToTfrecordTest, CsvWithAColumnForEachLabelWritesTheKeysOfTheUser) {
  Add("images/Test_0.jpg", Picture(1));
  Add("images/Test_1.jpg", Picture(2));
  Add("train.csv", "image_id,healthy,rust\nTest_0,1,0\nTest_1,0.0,1.0\n");
  const std::string csv = absl::StrCat(
      "--noshuffle --csv=", in_, "/train.csv --path_suffix=.jpg --label_columns=healthy,rust ",
      "--nodefault_keys --image_key=image --filename_key=image_name ");
  const std::string input = absl::StrCat("--input_dir=", in_, "/images ");
  const ProgramRun columns = Run(csv + input + "--label_format=columns");
  EXPECT_EQ(columns.exit_code, 0) << columns.output;
  auto examples = Examples("train");
  ASSERT_THAT(examples, SizeIs(2));
  EXPECT_THAT(examples[0].features().feature(), SizeIs(4));
  EXPECT_EQ(Text(examples[1], "image_name"), "Test_1");
  EXPECT_EQ(Text(examples[1], "image"), Picture(2));
  EXPECT_THAT(Ints(examples[1], "healthy"), ElementsAre(0));
  EXPECT_THAT(Ints(examples[1], "rust"), ElementsAre(1));

  const ProgramRun target = Run(csv + input + "--label_key=target --one_hot_key=hot --force");
  EXPECT_EQ(target.exit_code, 0) << target.output;
  examples = Examples("train");
  EXPECT_THAT(Ints(examples[0], "target"), ElementsAre(1, 0));
  EXPECT_THAT(Get(examples[0], "hot").float_list().value(), ElementsAre(1.0f, 0.0f));
}

TEST_F(ToTfrecordTest, IdsWithoutAnExtensionNameTheFlagThatCompletesThem) {
  Add("images/Test_0.png", Picture(1));
  Add("train.csv", "image_id,label\nTest_0,1\n");
  const ProgramRun run = Run(
      absl::StrCat("--csv=", in_, "/train.csv --input_dir=", in_, "/images --label_column=label"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, AllOf(HasSubstr("images/Test_0.png: complete the ids of column image_id"),
                                HasSubstr("--path_suffix=.png")));
}

TEST_F(ToTfrecordTest, CsvLabelsAreNamesOrIntegersOrSeveral) {
  for (const char* name : {"a.png", "b.png", "c.png"}) Add(name, Picture(1));
  Add("t.csv", "file,kind,number,all\na.png,owl,7,owl cat\nb.png,cat,0,\nc.png,owl,3,cat\n");
  const std::string csv = absl::StrCat("--noshuffle --force --csv=", in_, "/t.csv ");
  EXPECT_EQ(Run(csv + "--label_column=kind --first_label=0").exit_code, 0);
  EXPECT_THAT(Ints(Examples("train")[0], "image/class/label"), ElementsAre(1));
  EXPECT_EQ(Text(Examples("train")[1], "image/class/text"), "cat");
  EXPECT_EQ(Run(csv + "--label_column=number").exit_code, 0);
  EXPECT_THAT(Ints(Examples("train")[0], "image/class/label"), ElementsAre(7));
  EXPECT_THAT(Ints(Examples("train")[1], "image/class/label"), ElementsAre(0));
  EXPECT_EQ(Run(csv + "--label_column=number --first_label=1").exit_code, 2);
  EXPECT_EQ(Run(csv + "--label_column=all --label_separator=' '").exit_code, 0);
  EXPECT_THAT(Ints(Examples("train")[0], "image/class/label"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Ints(Examples("train")[1], "image/class/label"), SizeIs(0));
  EXPECT_EQ(Run(csv).exit_code, 0);  // images without labels
  EXPECT_THAT(Examples("train")[0].features().feature().count("image/class/label"), 0);

  EXPECT_THAT(Run(csv + "--label_column=knd").output, HasSubstr("did you mean 'kind'?"));
  const ProgramRun kinds = Run(csv + "--label_columns=kind,number");
  EXPECT_EQ(kinds.exit_code, 1);
  EXPECT_THAT(kinds.output, HasSubstr("t.csv:2: \"owl\" in column kind is not 0 or 1"));
  EXPECT_THAT(Run(csv + "--label_column=all").output, HasSubstr("t.csv:3 has no all"));
  Add("u.csv", "file\nmissing.png\n");
  EXPECT_THAT(Run(absl::StrCat("--force --csv=", in_, "/u.csv")).output,
              HasSubstr("missing.png: "));
}

TEST_F(ToTfrecordTest, IdxImagesBecomePngWithTheLabelsOfTheFile) {
  EST_ASSERT_OK(WriteIdx(JoinPath(in_, "train-images-idx3-ubyte"),
                         Array::Of<uint8_t>({2, 1, 2}, {1, 2, 3, 4})));
  EST_ASSERT_OK(
      WriteIdx(JoinPath(in_, "train-labels-idx1-ubyte"), Array::Of<uint8_t>({2}, {9, 0})));
  const ProgramRun run = Run("--noshuffle");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const auto examples = Examples("train");
  ASSERT_THAT(examples, SizeIs(2));
  EXPECT_THAT(Ints(examples[0], "image/class/label"), ElementsAre(9));
  EXPECT_THAT(image::DecodePng(Text(examples[1], "image/encoded")).value().values<uint8_t>(),
              ElementsAre(3, 4));
  EXPECT_EQ(Text(examples[1], "image/colorspace"), "Grayscale");
  EXPECT_THAT(Run("--idx_images=t10k-images-idx3-ubyte").output,
              HasSubstr("has no t10k-images-idx3-ubyte"));
}

TEST_F(ToTfrecordTest, SplitsGetTheirFractionsAndNamesStateCounts) {
  AddFolders(10);
  const ProgramRun run = Run("--split=train=0.75,validation=0.25 --num_shards=2 --counts_in_names");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(Files("train-00001-of-00002-8.tfrec"), SizeIs(1));
  EXPECT_THAT(Files("validation-00000-of-00002-2.tfrec"), SizeIs(1));
  EXPECT_THAT(Examples("validation"), SizeIs(5));
  EXPECT_THAT(Examples("train"), SizeIs(15));
}

TEST_F(ToTfrecordTest, CompressedFilesAndSeveralShardsBySize) {
  AddFolders(10);
  EXPECT_EQ(Run("--compression=gzip --shard_mb=0.002").exit_code, 0);
  EXPECT_GT(Files("train").size(), 2u);
  EXPECT_THAT(Examples("train"), SizeIs(20));
}

TEST_F(ToTfrecordTest, PngBecomesJpegIfAsked) {
  Add("a/1.png", Picture(77, 16));
  EXPECT_EQ(Run("--rgb_jpeg").exit_code, 0);
  const auto examples = Examples("train");
  ASSERT_THAT(examples, SizeIs(1));
  EXPECT_EQ(Text(examples[0], "image/format"), "JPEG");
  EXPECT_THAT(Text(examples[0], "image/encoded"), StartsWith("\xff\xd8\xff"));
}

TEST_F(ToTfrecordTest, MistakesAreNamedWithTheirCure) {
  const ProgramRun none = RunProgram("tools/to_tfrecord/to_tfrecord");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, AllOf(HasSubstr("--input_dir=DIR is missing"),
                                 HasSubstr("--output_dir=DIR is missing")));
  EXPECT_THAT(Run("--input_dir=/no/such").output,
              HasSubstr("--input_dir=/no/such is not a folder"));
  const ProgramRun empty = Run("");
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_THAT(empty.output, HasSubstr("has no folders with images"));
  AddFolders(1);
  EXPECT_THAT(Run("--num_shards=9").output, HasSubstr("split train has 2 images, which are fewer"));
  EXPECT_THAT(Run("--split=a=0.5,b=0.6").output, HasSubstr("the sum of the fractions is 1.1"));
  EXPECT_THAT(Run("--label_column=x").output, HasSubstr("--label_column needs --csv=FILE"));
  EXPECT_THAT(Run("--text_key=image/class/label").output,
              HasSubstr("image/class/label (--label_key and --text_key)"));
  EXPECT_EQ(Run("--label_format=list").exit_code, 2);
  EXPECT_EQ(Run("--no_such_flag").exit_code, 2);
  EXPECT_FALSE(FileExists(out_));
  Add("beside.png", Picture(1));
  EXPECT_THAT(Run("").output, HasSubstr("has files beside the folders of classes: beside.png"));
}

TEST_F(ToTfrecordTest, FilesOfOthersAndOtherClassesAreNotMixed) {
  AddFolders(2);
  EST_ASSERT_OK(CreateDirectories(out_));
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(out_, "train-00000-of-00001"), "x"));
  const ProgramRun others = Run("");
  EXPECT_EQ(others.exit_code, 1);
  EXPECT_THAT(others.output, HasSubstr("which this tool did not write"));
  EXPECT_EQ(Run("--force").exit_code, 0);
  Add("bird/1.png", Picture(1));
  const ProgramRun classes = Run("--split=validation");
  EXPECT_EQ(classes.exit_code, 1);
  EXPECT_THAT(classes.output, HasSubstr("labels.txt has other classes"));
}

}  // namespace
}  // namespace estimator
