// Runs the program as a user does.
#include "estimator/records/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/png/png.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A PNG of one color.
std::string Picture(uint8_t gray, int64_t height, int64_t width) {
  Array image(DType::kUint8, {height, width, 1});
  for (uint8_t& pixel : image.values<uint8_t>()) pixel = gray;
  return image::EncodePng(image).value();
}

std::string ExampleOf(int64_t label, const std::string& text) {
  return ExampleBuilder()
      .Ints("image/class/label", {label})
      .Bytes("image/class/text", {text})
      .Floats("weights", {0.5f, 2})
      .Bytes("image/encoded", {Picture(static_cast<uint8_t>(50 * label), 20, 10)})
      .Serialize();
}

class TfrecordTest : public ::testing::Test {
 protected:
  // Writes Examples of the labels 0, 1, 2, 0, 1, 2, ...
  std::string Write(const std::string& name, int64_t count,
                    Compression compression = Compression::kNone) {
    const std::vector<std::string> texts = {"cat", "dog", "owl"};
    const auto writer = TFRecordWriter::Open(dir_.File(name), {.compression = compression}).value();
    for (int64_t i = 0; i < count; ++i) {
      EST_EXPECT_OK(writer->Write(ExampleOf(i % 3, texts[static_cast<size_t>(i % 3)])));
    }
    EST_EXPECT_OK(writer->Close());
    return dir_.File(name);
  }
  static std::vector<std::string> Read(const std::string& path) {
    std::vector<std::string> records;
    const auto reader = TFRecordReader::Open(path).value();
    for (auto record = reader->Next().value(); record; record = reader->Next().value()) {
      records.push_back(*record);
    }
    return records;
  }
  static ProgramRun Run(const std::string& arguments) {
    return RunProgram("tools/tfrecord/tfrecord " + arguments);
  }
  const TempDir dir_;
};

TEST_F(TfrecordTest, HelpIsAWordToo) {
  const ProgramRun help = Run("help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, StartsWith("tfrecord COMMAND FILES"));
}

TEST_F(TfrecordTest, WrongArgumentsAreAnsweredWithTheCure) {
  EXPECT_THAT(Run("").output, HasSubstr("`help` shows them"));
  EXPECT_THAT(Run("verfy x").output, HasSubstr("did you mean verify?"));
  const ProgramRun missing = Run("count " + dir_.File("none-*"));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.output, HasSubstr("no file: " + dir_.File("none-*")));
  EXPECT_THAT(Run("show").output, HasSubstr("expected `tfrecord show FILE`"));
  EXPECT_THAT(Run("count '' x").output, HasSubstr("is empty"));
  const std::string file = Write("a", 1);
  EXPECT_THAT(Run("count --num=3 " + file).output, HasSubstr("count does not take --num"));
  EXPECT_THAT(Run("count --compression=lzma " + file).output,
              HasSubstr("not one of auto, none, gzip, zlib"));
  EXPECT_THAT(Run("show --records=1,x " + file).output, HasSubstr("not a list of record numbers"));
}

TEST_F(TfrecordTest, ListShowsFilesTotalsAndTheKeysOfTheFirstRecord) {
  Write("a-0", 3);
  Write("a-1", 2, Compression::kGzip);
  const ProgramRun list = Run(absl::StrCat("list '", dir_.File("a-*"), "'"));
  EXPECT_EQ(list.exit_code, 0) << list.output;
  EXPECT_THAT(list.output, AllOf(HasSubstr("2 files, 5 records"), HasSubstr("GZIP"),
                                 HasSubstr("image/class/text"), HasSubstr("\"cat\""),
                                 HasSubstr("PNG, "), HasSubstr("0.5, 2")));
}

TEST_F(TfrecordTest, CountComparesTheCountsInNames) {
  Write("good-4.tfrec", 4);
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("labels.txt"), "cat\n"));
  const ProgramRun good = Run("count " + dir_.path());
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_THAT(good.output, HasSubstr("4 records in 1 files"));
  Write("wrong-7.tfrec", 2);
  const ProgramRun wrong = Run("count " + dir_.path());
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("its name states 7"), HasSubstr("6 records in 2")));
  EXPECT_EQ(Run("verify " + dir_.path()).exit_code, 1);
}

TEST_F(TfrecordTest, ShowPrintsChosenRecordsInTheOrderGiven) {
  const std::string file = Write("a", 6);
  const ProgramRun show = Run("show --records=4,0 --max_values=1 " + file);
  EXPECT_EQ(show.exit_code, 0) << show.output;
  EXPECT_THAT(show.output,
              AllOf(StartsWith(file + ": record 4 at byte "), HasSubstr("\"dog\""),
                    HasSubstr("record 0 at byte 0"), HasSubstr("\"cat\""), HasSubstr("0.5, ...")));
  const ProgramRun past = Run("show --records=6 " + file);
  EXPECT_EQ(past.exit_code, 2);
  EXPECT_THAT(past.output, HasSubstr("has 6 records, so there is no record 6"));
}

TEST_F(TfrecordTest, VerifyNamesEveryDamagedRecordAndContinues) {
  const std::string file = Write("a", 4);
  EXPECT_EQ(Run("verify --images " + file).exit_code, 0);
  std::vector<int64_t> offsets;
  const auto reader = TFRecordReader::Open(file).value();
  do offsets.push_back(reader->position().offset);
  while (reader->Skip().value());
  std::string bytes = ReadFile(file).value();
  bytes[static_cast<size_t>(offsets[1]) + 40] ^= 1;  // data of record 1
  bytes[static_cast<size_t>(offsets[3]) + 2] ^= 1;   // the length of record 3
  EST_ASSERT_OK(WriteFileAtomically(file, bytes));
  const ProgramRun verify = Run("verify " + file);
  EXPECT_EQ(verify.exit_code, 1);
  EXPECT_THAT(verify.output,
              AllOf(HasSubstr(absl::StrCat(file, ": record 1 at byte ", offsets[1], ": ")),
                    HasSubstr(absl::StrCat(file, ": record 3 at byte ", offsets[3], ": ")),
                    HasSubstr("can be read"), HasSubstr("1 files are damaged")));
  EXPECT_EQ(Run("count " + file).exit_code, 2);
}

TEST_F(TfrecordTest, VerifyNamesTheKeyOfADamagedImage) {
  const auto writer = TFRecordWriter::Open(dir_.File("a")).value();
  const std::string picture = Picture(5, 30, 30);
  EST_ASSERT_OK(writer->Write(ExampleOf(1, "dog")));
  EST_ASSERT_OK(
      writer->Write(ExampleBuilder().Bytes("image/encoded", {picture.substr(0, 60)}).Serialize()));
  EST_ASSERT_OK(writer->Write(ExampleBuilder().Ints("label", {1}).Serialize()));
  EST_ASSERT_OK(writer->Write("no example"));
  EST_ASSERT_OK(writer->Close());
  const ProgramRun verify = Run("verify --images " + dir_.File("a"));
  EXPECT_EQ(verify.exit_code, 1);
  EXPECT_THAT(verify.output,
              AllOf(HasSubstr("key \"image/encoded\": "), HasSubstr("record 1 at byte"),
                    HasSubstr("there is no key \"image/encoded\"; the keys are label"),
                    HasSubstr("record 3 at byte"), HasSubstr("not a serialized tf.train.Example"),
                    Not(HasSubstr("record 0"))));
  EXPECT_EQ(Run("verify --noexamples " + dir_.File("a")).exit_code, 0);
}

TEST_F(TfrecordTest, StatsCountLabels) {
  const ProgramRun stats = Run("stats " + Write("a", 4));
  EXPECT_EQ(stats.exit_code, 0) << stats.output;
  EXPECT_THAT(stats.output, AllOf(HasSubstr("    0      2  50.00%  cat"),
                                  HasSubstr("4 records, 3 labels, the rarest 1 times, the most "
                                            "frequent 2 times")));
  EXPECT_THAT(Run("stats --label_key=image/class/text " + dir_.File("a")).output, HasSubstr("owl"));
  const ProgramRun wrong = Run("stats --label_key=class " + dir_.File("a"));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("pass --label_key"),
                                  HasSubstr("there is no key \"class\"; the keys are")));
}

TEST_F(TfrecordTest, SplitAndMergeKeepRecordsAndTheirOrder) {
  const std::string file = Write("a", 7);
  const std::string prefix = dir_.File("out/part");
  const ProgramRun split =
      Run(absl::StrCat("split --num_shards=3 --counts_in_names ", file, " ", prefix));
  EXPECT_EQ(split.exit_code, 0) << split.output;
  EXPECT_TRUE(FileExists(prefix + "-00000-of-00003-2.tfrec"));
  EXPECT_TRUE(FileExists(prefix + "-00002-of-00003-3.tfrec"));
  EXPECT_EQ(Run("count " + dir_.File("out")).exit_code, 0);
  const std::string merged = dir_.File("merged");
  const ProgramRun merge = Run(absl::StrCat("merge ", dir_.File("out"), " ", merged));
  EXPECT_EQ(merge.exit_code, 0) << merge.output;
  EXPECT_EQ(ReadFile(merged).value(), ReadFile(file).value());

  const ProgramRun again = Run(absl::StrCat("merge ", file, " ", merged));
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.output, HasSubstr("exists; choose another name, or pass --force"));
  EXPECT_EQ(
      Run(absl::StrCat("merge --force --output_compression=gzip ", file, " ", merged)).exit_code,
      0);
  EXPECT_EQ(Run("count " + merged).output,
            absl::StrCat("file", std::string(merged.size() - 4, ' '), "  records\n", merged,
                         "        7\n7 records in 1 files\n"));
  EXPECT_THAT(Run(absl::StrCat("merge --force ", file, " ", file)).output,
              HasSubstr("is an input and the output"));
  EXPECT_THAT(Run(absl::StrCat("split --num_shards=8 ", file, " ", prefix)).output,
              HasSubstr("there are 7 records for 8 shards"));
}

TEST_F(TfrecordTest, ADamagedInputLeavesNoOutput) {
  const std::string file = Write("a", 3);
  std::string bytes = ReadFile(file).value();
  bytes.resize(bytes.size() - 5);
  EST_ASSERT_OK(WriteFileAtomically(file, bytes));
  const ProgramRun merge = Run(absl::StrCat("merge ", file, " ", dir_.File("m")));
  EXPECT_EQ(merge.exit_code, 2);
  EXPECT_THAT(merge.output, HasSubstr(file + ": record 2 at byte "));
  EXPECT_FALSE(FileExists(dir_.File("m")));
  EXPECT_FALSE(FileExists(dir_.File(".m.tmp")));
}

TEST_F(TfrecordTest, IndexWritesTheIndexOfEachFileThatIsNotCompressed) {
  const std::string file = Write("a", 5);
  const ProgramRun index = Run("index " + file);
  EXPECT_EQ(index.exit_code, 0) << index.output;
  EXPECT_THAT(index.output, HasSubstr(dir_.File(".a.index") + "        5"));
  EXPECT_TRUE(FileExists(dir_.File(".a.index")));
  EXPECT_THAT(Run("count " + dir_.path()).output, HasSubstr("5 records in 1 files"));
  const ProgramRun compressed = Run("index " + Write("z", 2, Compression::kGzip));
  EXPECT_EQ(compressed.exit_code, 2);
  EXPECT_THAT(compressed.output, HasSubstr("is a GZIP file"));
}

TEST_F(TfrecordTest, SampleDrawsImagesWithTheirLabels) {
  const std::string file = Write("a", 6);
  const std::string sheet = dir_.File("sheet.png");
  const ProgramRun sample =
      Run(absl::StrCat("sample --num=6 --columns=3 --side=64 ", file, " ", sheet));
  EXPECT_EQ(sample.exit_code, 0) << sample.output;
  EST_ASSERT_OK_AND_ASSIGN(const Array image, image::DecodePng(ReadFile(sheet).value()));
  EXPECT_EQ(image.shape()[1], 3 * 70 + 6);
  EXPECT_THAT(Run(absl::StrCat("sample ", file, " ", sheet)).output, HasSubstr("pass --force"));
  const ProgramRun key = Run(absl::StrCat("sample --force --image_key=image ", file, " ", sheet));
  EXPECT_EQ(key.exit_code, 2);
  EXPECT_THAT(key.output, HasSubstr("there is no key \"image\"; the keys are"));
  EXPECT_THAT(Run(absl::StrCat("sample --force --num=0 ", file, " ", sheet)).output,
              HasSubstr("--num=0 is not between 1 and"));
}

}  // namespace
}  // namespace estimator
