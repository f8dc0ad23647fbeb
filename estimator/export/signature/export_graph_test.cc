#include "estimator/export/signature/export_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

class SignaturesTest : public GraphTest {
 protected:
  Signatures Build(const ExportOutputs& outputs, const InputReceiver& receiver) {
    excluded_.clear();
    return BuildServingSignatures(outputs, receiver, excluded_);
  }

  std::map<std::string, std::string> excluded_;
};

TEST_F(SignaturesTest, EveryOutputHasOne) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Signatures signatures =
      Build({{"serving_default", PredictOutput({{"y", Exp(x)}})}, {"other", PredictOutput(x)}},
            ServingInputReceiver({{"x", x}}, {{"raw", x}}));
  EXPECT_THAT(signatures, UnorderedElementsAre(Key("other"), Key("serving_default")));
  EXPECT_THAT(signatures.at("serving_default").inputs, ElementsAre(Key("raw")));
  EXPECT_THAT(excluded_, ElementsAre());
}

TEST_F(SignaturesTest, ClassificationAndRegressionTakeOneStringTensorCalledInputs) {
  const InputReceiver examples =
      BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {3}}}})(2);
  const Tensor y = Exp(examples.features.at("x"));
  const ExportOutputs outputs = {{"classify", ClassificationOutput({.scores = y})},
                                 {"regress", RegressionOutput(y)},
                                 {"serving_default", PredictOutput(y)}};
  const Signatures signatures = Build(outputs, examples);
  EXPECT_THAT(signatures.at("classify").inputs, ElementsAre(Key("inputs")));
  EXPECT_THAT(signatures.at("classify").outputs, ElementsAre(Key("scores")));
  EXPECT_THAT(signatures.at("regress").outputs, ElementsAre(Key("outputs")));
  EXPECT_THAT(signatures.at("serving_default").inputs, ElementsAre(Key("examples")));

  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Tensor z = Exp(x);
  EXPECT_THAT(Build({{"classify", ClassificationOutput({.scores = z})},
                     {"serving_default", PredictOutput(z)}},
                    ServingInputReceiver({{"x", x}}, {{"x", x}})),
              ElementsAre(Key("serving_default")));
  EXPECT_THAT(excluded_.at("classify"), HasSubstr("a single tensor input of type tf.string"));
}

TEST_F(SignaturesTest, AnOutputOfAPlaceholderThatIsNotFedIsLeftOut) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor hidden = Placeholder(DType::kFloat32, {2}, "hidden");
  EXPECT_THAT(Build({{"serving_default", PredictOutput(Exp(hidden))}},
                    ServingInputReceiver({{"x", x}}, {{"x", x}})),
              ElementsAre());
  EXPECT_THAT(excluded_.at("serving_default"), HasSubstr("need 'hidden', which is not an input"));
}

TEST_F(SignaturesTest, AlternativesMakeFurtherSignatures) {
  const InputReceiver examples =
      BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {3}}}})(2);
  InputReceiver receiver = examples;
  receiver.receiver_tensors_alternatives["raw"] = {{"x", examples.features.at("x")}};
  const Signatures signatures =
      Build({{"serving_default", PredictOutput(Exp(examples.features.at("x")))}}, receiver);
  EXPECT_THAT(signatures, ElementsAre(Key("raw:serving_default"), Key("serving_default")));
}

}  // namespace
}  // namespace estimator
