// rename, cast, extract and average write checkpoints that hold what they should.
#include "tools/checkpoint/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "tools/checkpoint/average.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr int kComplex64 = 8;

class RewriteTest : public ::testing::Test {
 protected:
  // Numbers, strings, a partitioned variable, and one of a dtype that has no DType.
  void Write(const std::string& name, float value) {
    const auto writer = BundleWriter::Open(dir_.File(name)).value();
    EST_ASSERT_OK(writer->Add("dense/kernel", Array::Of<float>({2}, {value, 1e6f})));
    EST_ASSERT_OK(writer->Add("half", Array::Of<float>({2}, {value, 3}).Cast(DType::kBfloat16)));
    EST_ASSERT_OK(writer->Add("global_step", Array::Scalar<int64_t>(static_cast<int64_t>(value))));
    EST_ASSERT_OK(writer->Add("text", Array::Of<std::string>({2}, {"", "hello"})));
    EST_ASSERT_OK(writer->AddSlice("part", {3}, {{0, 2}}, Array::Of<float>({2}, {value, 1})));
    EST_ASSERT_OK(writer->AddSlice("part", {3}, {{2, 1}}, Array::Of<float>({1}, {2})));
    const float complex[] = {value, -1};
    EST_ASSERT_OK(writer->AddStored("complex", {.dtype_on_disk = kComplex64, .shape = {}},
                                    [&](const BundleWriter::Append& append) {
                                      return append({reinterpret_cast<const char*>(complex), 8});
                                    }));
    EST_ASSERT_OK(writer->Finish());
  }
  std::unique_ptr<BundleReader> Open(const std::string& name) {
    auto reader = BundleReader::Open(dir_.File(name));
    EST_EXPECT_OK(reader);
    return reader.ok() && (*reader)->VerifyContents().ok() ? *std::move(reader) : nullptr;
  }
  void WriteInput(const std::string& name, const std::string& state) {
    EST_ASSERT_OK(WriteFileAtomically(InputStatePath(dir_.File(name)), state));
  }
  // The position of the input beside a checkpoint; "none" if there is none.
  std::string InputOf(const std::string& name) {
    return ReadInputState(dir_.File(name))->value_or("none");
  }
  const TempDir dir_;
};

TEST_F(RewriteTest, RenameKeepsEveryByteOfEveryDType) {
  Write("a", 5);
  const auto a = Open("a");
  const auto text =
      Rename(*a, *NameMap::Parse("dense=head,part=p/q,complex=c,text=t"), dir_.File("b"));
  EST_ASSERT_OK(text);
  EXPECT_THAT(*text, HasSubstr("part          p/q"));
  const auto b = Open("b");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"dense/kernel", "head/kernel"}, {"half", "half"}, {"text", "t"}, {"part", "p/q"}}) {
    EXPECT_TRUE(SameBits(*a->Read(from), *b->Read(to))) << from;
  }
  EXPECT_EQ(b->index().tensors.at("p/q").slices.size(), 2u);
  EXPECT_EQ(b->index().tensors.at("c").masked_crc32c,
            a->index().tensors.at("complex").masked_crc32c);
}

TEST_F(RewriteTest, RenameInPlaceReplacesTheCheckpoint) {
  Write("a", 5);
  const auto a = Open("a");
  EST_ASSERT_OK(Rename(*a, *NameMap::Parse("dense=head"), dir_.File("a")));
  EXPECT_TRUE(Open("a")->Has("head/kernel"));
}

// A graph with the old names would restore nothing.
TEST_F(RewriteTest, TheGraphOfAnOlderCheckpointIsRemovedAndTheSourcesStaysWhereItIs) {
  Write("a", 5);
  Write("b", 6);
  for (const char* const name : {"a", "b"}) {
    EST_ASSERT_OK(WriteFileAtomically(MetaGraphPath(dir_.File(name)), "graph"));
  }
  const auto text = Rename(*Open("a"), *NameMap::Parse("dense=head"), dir_.File("b"));
  EXPECT_THAT(*text, HasSubstr("note: removed " + MetaGraphPath(dir_.File("b"))));
  EXPECT_FALSE(FileExists(MetaGraphPath(dir_.File("b"))));
  EXPECT_TRUE(FileExists(MetaGraphPath(dir_.File("a"))));
  EST_ASSERT_OK(Rename(*Open("a"), *NameMap::Parse("dense=head"), dir_.File("a")));
  EXPECT_FALSE(FileExists(MetaGraphPath(dir_.File("a"))));
}

TEST_F(RewriteTest, ADamagedSourceGivesNoCheckpoint) {
  Write("a", 5);
  const std::string path = dir_.File("a.data-00000-of-00001");
  std::string bytes = ReadFile(path).value();
  bytes[3] = static_cast<char>(bytes[3] ^ 1);
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  const auto a = BundleReader::Open(dir_.File("a")).value();
  const auto status = Rename(*a, *NameMap::Parse("half=h"), dir_.File("b")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ListDirectory(dir_.path())->size(), 2u) << "nothing of b is left";
}

TEST_F(RewriteTest, CastGoesToBfloat16AndBackAndLeavesTheRest) {
  Write("a", 5);
  EST_ASSERT_OK(Cast(*Open("a"), {.to = DType::kBfloat16}, dir_.File("b")));
  const auto b = Open("b");
  for (const char* const name : {"dense/kernel", "half", "part"}) {
    EXPECT_EQ(b->Spec(name)->dtype, DType::kBfloat16) << name;
  }
  EXPECT_EQ(b->Spec("global_step")->dtype, DType::kInt64);
  EST_ASSERT_OK(
      Cast(*b, {.from = {DType::kBfloat16}, .filter = {.exclude = "half"}}, dir_.File("c")));
  const auto c = Open("c");
  EXPECT_TRUE(SameBits(*c->Read("part"), Array::Of<float>({3}, {5, 1, 2})));
  EXPECT_EQ(c->Read("dense/kernel")->data<float>()[1], 999424.0f) << "1e6 in 8 bits";
  EXPECT_EQ(c->Spec("half")->dtype, DType::kBfloat16);
}

TEST_F(RewriteTest, CastSaysWhatBecomesInfinite) {
  Write("a", 5);
  const auto text = Cast(*Open("a"), {.to = DType::kFloat16}, dir_.File("b"));
  EXPECT_THAT(*text, HasSubstr("dense/kernel: 1 of 2 numbers are too large for float16"));
}

// Of a program that keeps global_step as int32: what we save goes back to it.
TEST_F(RewriteTest, CastTurnsIntegersIntoInt32AndBackAndLeavesFloatingNumbers) {
  Write("a", 5);
  const auto text = Cast(*Open("a"), {.to = DType::kInt32, .filter = {.include = "^global_step$"}},
                         dir_.File("b"));
  EST_ASSERT_OK(text);
  EXPECT_THAT(*text, HasSubstr("cast 1 variables to int32"));
  EXPECT_TRUE(SameBits(*Open("b")->Read("global_step"), Array::Scalar<int32_t>(5)));
  EXPECT_EQ(Open("b")->Spec("dense/kernel")->dtype, DType::kFloat32);
  EST_ASSERT_OK(Cast(*Open("b"), {.to = DType::kInt64}, dir_.File("c")));
  EXPECT_TRUE(SameBits(*Open("c")->Read("global_step"), Array::Scalar<int64_t>(5)));
}

TEST_F(RewriteTest, CastRefusesAnIntegerThatDoesNotFitAndMixedKinds) {
  const auto writer = BundleWriter::Open(dir_.File("a")).value();
  EST_ASSERT_OK(writer->Add("ids", Array::Of<int64_t>({2}, {-2147483648, 2147483648})));
  EST_ASSERT_OK(writer->Finish());
  const absl::Status status = Cast(*Open("a"), {.to = DType::kInt32}, dir_.File("b")).status();
  EXPECT_THAT(
      status,
      StatusIs(
          absl::StatusCode::kOutOfRange,
          HasSubstr(
              "ids: 2147483648 does not fit into int32; leave the variable out with --include")));
  EXPECT_FALSE(FileExists(IndexPath(dir_.File("b"))));
  EXPECT_THAT(Cast(*Open("a"), {.to = DType::kFloat32, .from = {DType::kInt64}}, dir_.File("b")),
              ErrorHas("cannot cast int64 to float32"));
}

TEST_F(RewriteTest, ExtractTakesNamesAndWhatAFilterFinds) {
  Write("a", 5);
  const auto a = Open("a");
  EST_ASSERT_OK(Extract(*a, {"text"}, {.include = "^part|^half"}, dir_.File("b")));
  EXPECT_THAT(Open("b")->names(), ::testing::ElementsAre("half", "part", "text"));
  EXPECT_THAT(Extract(*a, {"txt"}, {}, dir_.File("c")), ErrorHas("txt (did you mean 'text'?)"));
  EXPECT_THAT(Extract(*a, {}, {}, dir_.File("c")), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RewriteTest, AverageIsTheMeanAndTheRestIsTheLastOnes) {
  std::vector<std::unique_ptr<BundleReader>> readers;
  for (const float value : {1.0f, 2.0f, 6.0f}) {
    Write(absl::StrCat(value), value);
    readers.push_back(Open(absl::StrCat(value)));
  }
  const auto text = Average(readers, dir_.File("mean"));
  EST_ASSERT_OK(text);
  EXPECT_THAT(*text, HasSubstr("averaged 4 variables of 3 checkpoints; global_step, text as in"));
  const auto mean = Open("mean");
  EXPECT_TRUE(SameBits(*mean->Read("dense/kernel"), Array::Of<float>({2}, {3, 1e6f})));
  EXPECT_TRUE(SameBits(*mean->Read("part"), Array::Of<float>({3}, {3, 1, 2})));
  EXPECT_EQ(mean->Read("half")->AsDouble(0), 3);
  EXPECT_EQ(mean->Read("global_step")->scalar<int64_t>(), 6);
}

TEST_F(RewriteTest, RenameAndCastTakeThePositionOfTheInputAlong) {
  Write("a", 5);
  WriteInput("a", "of a");
  WriteInput("renamed", "of another run");
  const auto a = Open("a");
  const auto renamed = Rename(*a, *NameMap::Parse("dense=head"), dir_.File("renamed"));
  EXPECT_THAT(*renamed, HasSubstr("renamed.input, the input position, is a copy of the source's"));
  EXPECT_EQ(InputOf("renamed"), "of a");
  const auto cast = Cast(*a, {.to = DType::kBfloat16}, dir_.File("cast"));
  EXPECT_THAT(*cast, HasSubstr("cast.input, the input position, is a copy of the source's"));
  EXPECT_EQ(InputOf("cast"), "of a");
  EST_ASSERT_OK(Cast(*a, {.to = DType::kBfloat16}, dir_.File("a")));
  EXPECT_EQ(InputOf("a"), "of a") << "in place";
}

TEST_F(RewriteTest, NoPositionOfTheInputOfAnotherRunStaysBesideNewVariables) {
  Write("a", 5);
  for (const char* const name : {"renamed", "cast", "part", "mean"}) WriteInput(name, "another's");
  const auto a = Open("a");
  std::vector<std::unique_ptr<BundleReader>> readers;
  readers.push_back(Open("a"));
  const std::vector<std::pair<std::string, absl::StatusOr<std::string>>> texts = {
      {"renamed", Rename(*a, *NameMap::Parse("dense=head"), dir_.File("renamed"))},
      {"cast", Cast(*a, {.to = DType::kBfloat16}, dir_.File("cast"))},
      {"part", Extract(*a, {"text"}, {}, dir_.File("part"))},
      {"mean", Average(readers, dir_.File("mean"))}};
  for (const auto& [name, text] : texts) {
    EST_ASSERT_OK(text);
    EXPECT_THAT(*text, HasSubstr("note: removed " + dir_.File(name + ".input"))) << name;
    EXPECT_EQ(InputOf(name), "none") << name;
  }
}

TEST_F(RewriteTest, ExtractAndAverageLeaveThePositionOfTheInputOut) {
  Write("a", 5);
  WriteInput("a", "of a");
  std::vector<std::unique_ptr<BundleReader>> readers;
  readers.push_back(Open("a"));
  EST_ASSERT_OK(Extract(*readers[0], {"text"}, {}, dir_.File("part")));
  EST_ASSERT_OK(Average(readers, dir_.File("mean")));
  EXPECT_EQ(InputOf("part"), "none");
  EXPECT_EQ(InputOf("mean"), "none");
  EXPECT_EQ(InputOf("a"), "of a");
}

TEST_F(RewriteTest, AverageRefusesOtherModelsWithOneTable) {
  Write("a", 1);
  EST_ASSERT_OK(Extract(*Open("a"), {"text", "half"}, {}, dir_.File("b")));
  std::vector<std::unique_ptr<BundleReader>> readers;
  readers.push_back(Open("a"));
  readers.push_back(Open("b"));
  const absl::Status status = Average(readers, dir_.File("mean")).status();
  EXPECT_THAT(status, ErrorHas("4 variables differ"));
  EXPECT_THAT(status, ErrorHas("complex64 []"));
}

}  // namespace
}  // namespace estimator
