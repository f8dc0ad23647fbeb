#include "tools/replay/cases/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "tools/replay/replay.h"

namespace estimator::replay {
namespace {

constexpr char kFolder[] = "testdata/reference";

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& [name, model] : AllCases()) names.push_back(name);
  return names;
}

TEST(CasesTest, EveryFolderWithAManifestIsACaseAndTheOtherWayRound) {
  const absl::StatusOr<std::vector<std::string>> folders = ListDirectory(kFolder);
  EST_ASSERT_OK(folders);
  std::vector<std::string> with_manifest;
  for (const std::string& folder : *folders) {
    if (FileExists(JoinPath(kFolder, folder, "reference.textproto")))
      with_manifest.push_back(folder);
  }
  EXPECT_THAT(CaseNames(), ::testing::ElementsAreArray(with_manifest));
}

class CaseTest : public ::testing::TestWithParam<std::string> {};

// ResNet-50 has many values before a relu. Which of them are so close to 0 that rounding decides
// their sign depends on the algorithm, which depends on the CPU. So one step is compared, and its
// gradients have the tolerance of whole networks (testdata/reference/resnet/network.py). Plain sums
// match closely. In step 31 of mnist_gradient_descent, rounding decides which element of a pool is
// the largest; the plain sums of oneDNN 2 and 3 differ there too.
ReplayOptions OptionsOf(const std::string& name) {
  ReplayOptions options;
  if (absl::StartsWith(name, "resnet50")) {
    options.num_steps = 1;
    options.variable_rtol = 0.25;
  } else if (name == "mnist_gradient_descent") {
    options.num_steps = 30;
  }
  return options;
}

TEST(CasesTest, AllStepsOfResnet50MatchTensorFlowWithPlainSums) {
  for (const std::string name : {"resnet50_v1", "resnet50_v1_5"}) {
    const absl::StatusOr<ReplayReport> report =
        Replay(AllCases().at(name), JoinPath(kFolder, name),
               {.compile_options = {.conv_algorithm = ConvAlgorithm::kDirect}});
    EST_ASSERT_OK(report);
    EXPECT_TRUE(report->ok()) << report->ToString();
  }
}

TEST_P(CaseTest, MatchesTensorFlow) {
  const absl::StatusOr<ReplayReport> report =
      Replay(AllCases().at(GetParam()), JoinPath(kFolder, GetParam()), OptionsOf(GetParam()));
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_GT(report->matches.size(), 0u);
  EXPECT_THAT(report->notes, ::testing::IsEmpty());  // nothing that is recorded is left out
  std::cout << report->ToString();
}

INSTANTIATE_TEST_SUITE_P(Reference, CaseTest, ::testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });

// The case itself computes each layer by one op.
TEST(CasesTest, TheLanguageModelMatchesUnrolledAndAsALoop) {
  for (const bool unroll : {true, false}) {
    for (const int num_shards : {1, 2}) {
      const absl::StatusOr<ReplayReport> report = Replay(
          LanguageModel(unroll), JoinPath(kFolder, "language_model"), {.num_shards = num_shards});
      EST_ASSERT_OK(report);
      EXPECT_TRUE(report->ok()) << report->ToString();
    }
  }
}

TEST(CasesTest, VersionsOneAndOneAndAHalfOfResnet18AreTheSameNetwork) {
  const absl::StatusOr<ReplayReport> report =
      Replay(Resnet18Version1(), JoinPath(kFolder, "resnet18"));
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
}

TEST(CasesTest, GradientsOfExamplesAreTheSameWithoutALoop) {
  for (const int num_shards : {1, 2}) {
    const absl::StatusOr<ReplayReport> report =
        Replay(VectorizedPerExampleGradients(), JoinPath(kFolder, "per_example_gradients"),
               {.num_shards = num_shards});
    EST_ASSERT_OK(report);
    EXPECT_TRUE(report->ok()) << report->ToString();
  }
}

// What the layer drops follows from the graph's seed and its own: with another, other elements.
TEST(CasesTest, DropoutUnderAnotherSeedIsFoundOut) {
  const TempDir dir;
  const std::string from = JoinPath(kFolder, "mnist_dropout");
  const absl::StatusOr<std::vector<std::string>> names = ListDirectory(from);
  EST_ASSERT_OK(names);
  for (const std::string& name : *names) {
    std::string content = ReadFile(JoinPath(from, name)).value();
    if (name == "reference.textproto") {
      ASSERT_EQ(absl::StrReplaceAll({{"random_seed: 1\n", "random_seed: 2\n"}}, &content), 1);
    }
    EST_ASSERT_OK(WriteFileAtomically(dir.File(name), content));
  }
  const absl::StatusOr<ReplayReport> report = Replay(AllCases().at("mnist_dropout"), dir.path());
  EST_ASSERT_OK(report);
  ASSERT_FALSE(report->ok());
  EXPECT_EQ(report->first_difference->name, "dropout/dropout/SelectV2:0") << report->ToString();
}

// Where the loss is a mean over examples and nothing looks at a replica's own gradients (clipping
// does) or statistics (batch norm does), replicas must reproduce TensorFlow's single-device run.
class ReplicasCaseTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ReplicasCaseTest, MatchesTensorFlowOnTwoReplicas) {
  const absl::StatusOr<ReplayReport> report =
      Replay(AllCases().at(GetParam()), JoinPath(kFolder, GetParam()), {.num_shards = 2});
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_EQ(report->num_steps, 20);
}

// A search ends for each replica by itself. In seq2seq_decode this shows in the scores, which are 0
// after the end.
TEST(CasesTest, TheTransformerDecodesOnTwoReplicas) {
  const absl::StatusOr<ReplayReport> report =
      Replay(AllCases().at("transformer_decode"), JoinPath(kFolder, "transformer_decode"),
             {.num_shards = 2});
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_EQ(report->num_steps, 3);
}

INSTANTIATE_TEST_SUITE_P(Reference, ReplicasCaseTest,
                         ::testing::Values("attention_block", "bidirectional_dynamic_rnn",
                                           "cond_optimizers", "crf_tagger", "ctc", "detector_nms",
                                           "embedding_classifier", "exponential_moving_average",
                                           "l2_regularization", "language_model",
                                           "per_example_gradients", "seq2seq", "transformer"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace estimator::replay
