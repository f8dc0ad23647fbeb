// Vocabularies: words keep their rows.
#include "estimator/training/warm_start/vocab_remap.h"

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VocabRemapTest : public ::testing::Test {
 protected:
  VocabInfo Info(const std::string& new_words, int64_t new_size, const std::string& old_words,
                 int64_t old_size = -1) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File("new"), new_words));
    EST_EXPECT_OK(WriteFileAtomically(dir_.File("old"), old_words));
    return {.new_vocab = dir_.File("new"),
            .new_vocab_size = new_size,
            .old_vocab = dir_.File("old"),
            .old_vocab_size = old_size};
  }
  TempDir dir_;
};

TEST_F(VocabRemapTest, WordsAreFoundWhereverTheyStand) {
  const auto remapping = ReadVocabRemapping(Info("c\nnew\na\n", 3, "a\nb\nc\n"));
  EST_ASSERT_OK(remapping);
  EXPECT_THAT(remapping->old_index, ElementsAre(2, -1, 0));
  EXPECT_EQ(remapping->old_size, 3);
}

TEST_F(VocabRemapTest, SizesCutBothVocabularies) {
  const auto remapping = ReadVocabRemapping(Info("c\nb\na\n", 2, "a\nb\nc\n", 2));
  EST_ASSERT_OK(remapping);
  EXPECT_THAT(remapping->old_index, ElementsAre(-1, 1));
  EXPECT_EQ(remapping->old_size, 2);
}

TEST_F(VocabRemapTest, LinesMayEndInCarriageReturnsAndTheLastInNothing) {
  const auto remapping = ReadVocabRemapping(Info("b\r\na", 2, "a\nb\n"));
  EST_ASSERT_OK(remapping);
  EXPECT_THAT(remapping->old_index, ElementsAre(1, 0));
}

TEST_F(VocabRemapTest, TooFewWordsAndWordsGivenTwiceAreErrors) {
  EXPECT_THAT(ReadVocabRemapping(Info("a\n", 2, "a\n")),
              ErrorIs(AllOf(HasSubstr("new has 1 words"), HasSubstr("new_vocab_size needs 2"))));
  EXPECT_THAT(ReadVocabRemapping(Info("a\n", 1, "a\n", 3)), ErrorHas("old_vocab_size needs 3"));
  EXPECT_THAT(ReadVocabRemapping(Info("a\n", 1, "")), ErrorHas("old has 0 words"));
  EXPECT_THAT(ReadVocabRemapping(Info("a\nb\na\n", 3, "a\n")),
              ErrorHas("'a' twice, in lines 1 and 3"));
  VocabInfo missing = Info("a\n", 1, "a\n");
  missing.old_vocab = dir_.File("none");
  EXPECT_THAT(ReadVocabRemapping(missing), StatusIs(absl::StatusCode::kNotFound));
}

TEST(RemapAxis, MovesRowsAndColumnsAndKeepsTheRest) {
  const Array old_value = Array::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Array rows = Array::Of<float>({3, 3}, {-1, -1, -1, -1, -1, -1, -1, -1, -1});
  RemapAxis(old_value, {.old_index = {1, -1, 0}, .old_size = 2}, 0, &rows);
  EXPECT_THAT(rows.values<float>(), ElementsAre(4, 5, 6, -1, -1, -1, 1, 2, 3));
  Array columns = Array::Of<float>({2, 2}, {-1, -1, -1, -1});
  RemapAxis(old_value, {.old_index = {2}, .old_size = 3}, 1, &columns);
  EXPECT_THAT(columns.values<float>(), ElementsAre(3, -1, 6, -1));
}

}  // namespace
}  // namespace estimator
