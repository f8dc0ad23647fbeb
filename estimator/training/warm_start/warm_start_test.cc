// Warm start: which variables, from where, and through which vocabularies.
#include "estimator/training/warm_start/warm_start.h"

#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/testing/v1_files.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/slot_creator.h"
#include "estimator/runtime/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WarmStartTest : public GraphTest {
 protected:
  WarmStartTest() : prefix_(dir_.File("old.ckpt")) {
    const auto writer = BundleWriter::Open(prefix_).value();
    const auto add = [&](const char* name, const Array& value) {
      EST_EXPECT_OK(writer->Add(name, value));
    };
    add("dense/kernel", Array::Of<float>({2}, {1, 2}));
    add("dense/kernel/Momentum", Array::Of<float>({2}, {5, 6}));
    add("dense/bias", Array::Scalar(3.0f));
    add("embedding", Array::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
    add("global_step", Array::Scalar<int64_t>(70));
    EST_EXPECT_OK(writer->Finish());
    GetOrCreateGlobalStep();
    Make("dense/kernel", {2});
    Make("dense/bias", {});
    train::CreateAbsoluteVariable("dense/kernel/Momentum", {2}, DType::kFloat32,
                                  initializers::Zeros());
  }

  Variable Make(const std::string& name, const Shape& shape) {
    return GetVariable(name, shape, {.initializer = initializers::Constant(-1)});
  }
  std::set<std::string> Chosen(const VarsToWarmStart& vars) {
    return *WarmStart({.ckpt_to_initialize_from = prefix_, .vars_to_warm_start = vars}, graph_,
                      store_);
  }
  absl::Status Error(WarmStartSettings settings) {
    settings.ckpt_to_initialize_from = prefix_;
    return WarmStart(settings, graph_, store_).status();
  }
  std::string Vocabulary(const std::string& name, const std::string& words) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File(name), words));
    return dir_.File(name);
  }

  TempDir dir_;
  const std::string prefix_;
  VariableStore store_;
};

// Defect 20 upstream: the documentation says all; only trainable ones are.
TEST_F(WarmStartTest, TheDefaultTakesTheVariablesOfTheModel) {
  GetVariable("embedding", {3, 2}, {.trainable = false});
  GetVariable("counter", {}, {.trainable = false});
  const testing::CapturedLog log;
  EXPECT_THAT(Chosen(".*"), ElementsAre("dense/bias", "dense/kernel", "embedding"));
  EXPECT_THAT(log.warnings,
              ElementsAre(AllOf(HasSubstr("not in " + prefix_), HasSubstr("counter"))));
  EXPECT_THAT(store_.Peek("dense/kernel")->values<float>(), ElementsAre(1, 2));
  EXPECT_FALSE(store_.Has("global_step"));
}

TEST_F(WarmStartTest, AListTakesVariablesOfAnyKind) {
  EXPECT_THAT(Chosen({"dense/kernel", "global"}),
              ElementsAre("dense/kernel", "dense/kernel/Momentum", "global_step"));
  EXPECT_EQ(store_.Peek("global_step")->scalar<int64_t>(), 70);
}

// Checkpoints have no local variables, such as the totals of metrics.
TEST_F(WarmStartTest, LocalVariablesAreNotChosen) {
  GetVariable("dense/total", {}, {.trainable = false, .local = true});
  EXPECT_THAT(Chosen({"dense"}),
              ElementsAre("dense/bias", "dense/kernel", "dense/kernel/Momentum"));
}

TEST_F(WarmStartTest, ExpressionsMatchTheStartOfANameWithOrWithoutTensorFlowsColonZero) {
  EXPECT_THAT(Chosen(".*kernel:0$"), ElementsAre("dense/kernel"));
  EXPECT_THAT(Chosen(".*kernel$"), ElementsAre("dense/kernel"));
  EXPECT_THAT(Chosen("kernel"), IsEmpty());
}

TEST_F(WarmStartTest, NamesAreWholeNames) {
  EXPECT_THAT(Chosen(VarsToWarmStart::Named({"dense/kernel"})), ElementsAre("dense/kernel"));
  EXPECT_THAT(Error({.vars_to_warm_start = VarsToWarmStart::Named({"dense/kernels"})}),
              ErrorIs(AllOf(HasSubstr("'dense/kernels' (did you mean 'dense/kernel'?)"),
                            HasSubstr("it has global_step, dense/kernel"))));
}

TEST_F(WarmStartTest, WithoutVarsOnlyThoseWithAVocabularyAreTaken) {
  EXPECT_THAT(Chosen(std::nullopt), IsEmpty());
}

TEST_F(WarmStartTest, NamesThatAreNotUsedAreErrorsThatListTheCandidates) {
  EXPECT_THAT(
      Error({.var_name_to_prev_var_name = {{"dense/bia", "x"}}}),
      ErrorIs(AllOf(HasSubstr("var_name_to_prev_var_name that were not used: 'dense/bia' (did you "
                              "mean 'dense/bias'?)"),
                    HasSubstr("viable variable names: dense/kernel, dense/bias"))));
  EXPECT_THAT(
      Error({.vars_to_warm_start = "dense/kernel", .var_name_to_vocab_info = {{"dense/bias", {}}}}),
      ErrorHas("var_name_to_vocab_info that were not used: 'dense/bias'"));
}

TEST_F(WarmStartTest, EveryMismatchIsInOneTableWithTheSettingThatCuresIt) {
  Make("embeddings", {3, 2});
  Make("output", {9});
  EXPECT_THAT(Error({.var_name_to_prev_var_name = {{"dense/bias", "global_step"}}}),
              ErrorIs(AllOf(HasSubstr("3 of 4 variables differ"),
                            HasSubstr("dense/bias (there global_step)  f32 []     i64 []"),
                            HasSubstr("map it in var_name_to_prev_var_name"),
                            HasSubstr("leave it out of vars_to_warm_start"))));
  EXPECT_FALSE(store_.Has("dense/kernel")) << "nothing is loaded after an error";
}

// A fixed bug: the cure was Scaffold::partial_restore, which has no say in a warm start.
TEST_F(WarmStartTest, ASlotThatTheOldRunDidNotKeepIsToBeLeftOut) {
  GetVariable("dense/kernel/Adam", {2}, {.trainable = false});
  EXPECT_THAT(Error({.vars_to_warm_start = {"dense/kernel"}}),
              ErrorIs(AllOf(HasSubstr("dense/kernel/Adam"), HasSubstr("vars_to_warm_start"),
                            Not(HasSubstr("partial_restore")))));
}

TEST_F(WarmStartTest, WordsKeepTheirRowsAndTheRestComesFromTheBackup) {
  Make("words", {5, 2});
  const VocabInfo info{.new_vocab = Vocabulary("new", "c\nx\na\n"),
                       .new_vocab_size = 3,
                       .num_oov_buckets = 2,
                       .old_vocab = Vocabulary("old", "a\nb\nc\n"),
                       .backup_initializer = initializers::Constant(9)};
  WarmStartSettings settings{.ckpt_to_initialize_from = prefix_,
                             .vars_to_warm_start = std::nullopt,
                             .var_name_to_vocab_info = {{"words", info}},
                             .var_name_to_prev_var_name = {{"words", "embedding"}}};
  const auto names = WarmStart(settings, graph_, store_);
  EST_ASSERT_OK(names);
  EXPECT_THAT(*names, ElementsAre("words"));
  EXPECT_THAT(store_.Peek("words")->values<float>(), ElementsAre(5, 6, 9, 9, 1, 2, 9, 9, 9, 9));
  settings.var_name_to_vocab_info["words"].backup_initializer = nullptr;
  EST_ASSERT_OK(WarmStart(settings, graph_, store_));
  EXPECT_THAT(store_.Peek("words")->values<float>(), ElementsAre(5, 6, 0, 0, 1, 2, 0, 0, 0, 0));
}

// The rows of new words are those of the run's seed, whatever the old run had.
TEST_F(WarmStartTest, ABackupIsDrawnWithTheSeedOfTheRun) {
  Make("words", {3, 2});
  const WarmStartSettings settings{
      .ckpt_to_initialize_from = prefix_,
      .vars_to_warm_start = std::nullopt,
      .var_name_to_vocab_info = {{"words",
                                  {.new_vocab = Vocabulary("new", "x\ny\na\n"),
                                   .new_vocab_size = 3,
                                   .old_vocab = Vocabulary("old", "a\nb\nc\n"),
                                   .backup_initializer = initializers::RandomUniform()}}},
      .var_name_to_prev_var_name = {{"words", "embedding"}}};
  const auto drawn = [&](int64_t seed) {
    graph_.set_seed(seed);
    EST_EXPECT_OK(WarmStart(settings, graph_, store_));
    return store_.Peek("words")->Clone();
  };
  const Array one = drawn(1), two = drawn(2), again = drawn(1);
  EXPECT_EQ(one.ToString(), again.ToString());
  EXPECT_NE(one.ToString(), two.ToString());
  EXPECT_EQ(one.AsDouble(4), 1) << "the row of a word that was known";
}

TEST_F(WarmStartTest, AxisOneMovesColumnsAndOneAxisIsEnough) {
  Make("output/kernel", {3, 3});
  Make("output/bias", {3});
  const VocabInfo classes{.new_vocab = Vocabulary("new", "cat\nant\nbee\n"),
                          .new_vocab_size = 3,
                          .old_vocab = Vocabulary("old", "ant\nbee\n")};
  VocabInfo columns = classes;
  columns.axis = 1;
  const auto names =
      WarmStart({.ckpt_to_initialize_from = prefix_,
                 .vars_to_warm_start = "output",
                 .var_name_to_vocab_info = {{"output/kernel", columns}, {"output/bias", classes}},
                 .var_name_to_prev_var_name = {{"output/kernel", "embedding"},
                                               {"output/bias", "dense/kernel"}}},
                graph_, store_);
  EST_ASSERT_OK(names);
  EXPECT_THAT(store_.Peek("output/kernel")->values<float>(),
              ElementsAre(0, 1, 2, 0, 3, 4, 0, 5, 6));
  EXPECT_THAT(store_.Peek("output/bias")->values<float>(), ElementsAre(0, 1, 2));
}

TEST_F(WarmStartTest, SizesThatDoNotFitTheVocabulariesAreErrors) {
  Make("words", {4, 2});
  VocabInfo info{.new_vocab = Vocabulary("new", "c\nx\na\n"),
                 .new_vocab_size = 3,
                 .num_oov_buckets = 0,
                 .old_vocab = Vocabulary("old", "a\nb\nc\nd\n")};
  const auto error = [&] {
    return Error({.vars_to_warm_start = "words",
                  .var_name_to_vocab_info = {{"words", info}},
                  .var_name_to_prev_var_name = {{"words", "embedding"}}});
  };
  EXPECT_THAT(error(),
              ErrorHas("new_vocab_size 3 and num_oov_buckets 0 add up to 3, but axis 0 of the "
                       "variable is 4 (f32 [4,2])"));
  info.num_oov_buckets = 1;
  EXPECT_THAT(error(), ErrorIs(AllOf(HasSubstr("the old vocabulary has 4 words in use"),
                                     HasSubstr("is 3; set old_vocab_size"))));
  info.old_vocab_size = 3;
  EST_EXPECT_OK(error());
  EXPECT_THAT(
      Error({.vars_to_warm_start = "words", .var_name_to_prev_var_name = {{"words", "embedding"}}}),
      ErrorHas("another size: use VocabInfo if its rows are words"));
}

TEST_F(WarmStartTest, WhatIsWrongWithVocabulariesIsSaidTogetherAndWithTheTableOfTheRest) {
  Make("words", {4, 2});
  Make("tags", {4, 2});
  Make("new", {5});
  const VocabInfo info{.new_vocab = Vocabulary("new", "c\nx\na\n"),
                       .new_vocab_size = 3,
                       .num_oov_buckets = 7,
                       .old_vocab = Vocabulary("old", "a\nb\nc\n")};
  EXPECT_THAT(Error({.vars_to_warm_start = "words|tags|new",
                     .var_name_to_vocab_info = {{"words", info}, {"tags", info}},
                     .var_name_to_prev_var_name = {{"words", "embedding"}, {"tags", "embedding"}}}),
              ErrorIs(AllOf(HasSubstr("VocabInfo of 'words': "), HasSubstr("VocabInfo of 'tags': "),
                            HasSubstr("1 of 1 variables differ"), HasSubstr("new"))));
}

TEST_F(WarmStartTest, AVocabularyNeedsItsAxisAndABackupOfTheVariablesShape) {
  Make("words", {3, 2});
  VocabInfo info{.new_vocab = Vocabulary("new", "c\nx\na\n"),
                 .new_vocab_size = 3,
                 .old_vocab = Vocabulary("old", "a\nb\nc\n"),
                 .backup_initializer = [](const Shape&, DType dtype) {
                   return initializers::Constant(9)(Shape{2, 3}, dtype);
                 }};
  const auto error = [&](const char* name, const char* stored) {
    return Error({.vars_to_warm_start = std::nullopt,
                  .var_name_to_vocab_info = {{name, info}},
                  .var_name_to_prev_var_name = {{name, stored}}});
  };
  EXPECT_THAT(error("words", "embedding"),
              ErrorHas("backup_initializer returns f32 [2,3], but must return f32 [3,2]"));
  EXPECT_FALSE(store_.initialized("words"));
  info.axis = 1;
  EXPECT_THAT(error("dense/kernel", "embedding"),
              ErrorHas("the variable is f32 [2] and has no axis 1"));
}

// The values of before stay: the mismatch is found before the first one is read.
TEST_F(WarmStartTest, AMismatchChangesNoVariable) {
  Make("embedding", {9, 9});
  EST_ASSERT_OK(store_.Set("dense/kernel", Array::Of<float>({2}, {7, 8})));
  EST_ASSERT_OK(store_.Set("dense/bias", Array::Scalar(9.0f)));
  EXPECT_FALSE(Error({.vars_to_warm_start = ".*"}).ok());
  ASSERT_TRUE(store_.initialized("dense/kernel") && store_.initialized("dense/bias"));
  EXPECT_THAT(store_.Peek("dense/kernel")->values<float>(), ElementsAre(7, 8));
  EXPECT_EQ(store_.Peek("dense/bias")->scalar<float>(), 9);
  // The variables that are not chosen keep theirs too.
  EST_ASSERT_OK(Error({.vars_to_warm_start = "dense/kernel$"}));
  EXPECT_THAT(store_.Peek("dense/kernel")->values<float>(), ElementsAre(1, 2));
  EXPECT_EQ(store_.Peek("dense/bias")->scalar<float>(), 9);
}

// testdata/saved_models/generate.py: its variables are stored under the paths of their objects.
TEST_F(WarmStartTest, ASavedModelOfKerasServesByTheNamesOfItsVariables) {
  Make("conv2d/bias", {4});
  Make("head/bias", {3});
  const auto names = WarmStart({.ckpt_to_initialize_from = "testdata/saved_models/keras/model",
                                .vars_to_warm_start = ".*(conv2d|head)",
                                .var_name_to_prev_var_name = {{"head/bias", "probabilities/bias"}}},
                               graph_, store_);
  EST_ASSERT_OK(names);
  EXPECT_THAT(*names, ElementsAre("conv2d/bias", "head/bias"));
  EXPECT_EQ(store_.Peek("conv2d/bias")->AsDouble(0), 0) << "and not -1";
  EXPECT_THAT(WarmStart({.ckpt_to_initialize_from = "testdata/saved_models/keras/model",
                         .vars_to_warm_start = "dense/bias"},
                        graph_, store_),
              ErrorIs(AllOf(HasSubstr("dense/bias"), HasSubstr("1 of 1 variables differ"))));
}

TEST_F(WarmStartTest, ACheckpointInTheV1FormatServesAsWell) {
  const std::string v1 = dir_.File("v1.ckpt");
  EST_ASSERT_OK(WriteV1File(v1, {{.name = "dense/kernel", .value = Array::Of<float>({2}, {7, 8})},
                                 {.name = "dense/bias", .value = Array::Scalar(9.0f)}}));
  EXPECT_THAT(*WarmStart({.ckpt_to_initialize_from = v1}, graph_, store_),
              ElementsAre("dense/bias", "dense/kernel"));
  EXPECT_THAT(store_.Peek("dense/kernel")->values<float>(), ElementsAre(7, 8));
}

TEST_F(WarmStartTest, ASourceThatIsNotThereIsNamed) {
  const auto names = WarmStart({.ckpt_to_initialize_from = dir_.File("none")}, graph_, store_);
  EXPECT_THAT(names, StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir_.File("none"))));
}

}  // namespace
}  // namespace estimator
