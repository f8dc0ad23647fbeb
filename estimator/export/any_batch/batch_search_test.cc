#include "estimator/export/any_batch/batch_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Model = std::function<Tensor(const Tensor& x)>;  // of the feature x: f32 [batch, 4]

// Builds `model` behind a receiver, its result as y, and notes the sizes.
class Built {
 public:
  explicit Built(Model model, std::function<std::string(int64_t)> output = nullptr)
      : model_(std::move(model)), output_(std::move(output)) {}

  ExportGraphFn fn() {
    return [this](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
      sizes.insert(batch_size);
      ExportGraph built;
      built.graph = std::make_unique<Graph>();
      const GraphScope scope(*built.graph);
      const InputReceiver receiver =
          BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 4}}}})(batch_size);
      const Tensor y = model_(receiver.features.at("x"));
      std::map<std::string, std::string> excluded;
      built.signatures = BuildServingSignatures(
          {{"serving_default", PredictOutput({{output_ ? output_(batch_size) : "y", y}})}},
          receiver, excluded);
      return built;
    };
  }
  BatchModel Find(const BatchSearchOptions& options = {}) {
    auto found = FindBatchModel(fn(), options);
    EST_EXPECT_OK(found);
    return found.ok() ? *std::move(found) : BatchModel();
  }
  std::set<int64_t> sizes;

 private:
  const Model model_;
  const std::function<std::string(int64_t)> output_;
};

Tensor FailUnless(bool ok, const Tensor& x, const std::string& why) {
  return ok ? x : x.graph()->Fail(absl::InvalidArgumentError(why));
}

TEST(BatchSearchTest, AModelThatTakesAnyBatchIsFound) {
  Built built([](const Tensor& x) { return Exp(Reshape(x, {2 * x.dim(0), 2})); });
  const BatchModel model = built.Find();
  EXPECT_THAT(model.obstacles, IsEmpty());
  EXPECT_THAT(model.refused, IsEmpty());
  EXPECT_EQ(model.batch_size, 2);
  EXPECT_EQ(*built.sizes.rbegin(), 65537);
}

TEST(BatchSearchTest, ARecurrentNetworkTakesAnyBatch) {
  const BatchModel model = Built([](const Tensor& x) {
                             const Tensor lengths = Cast(ReduceMax(x, {1}), DType::kInt32);
                             const auto [outputs, states] = BidirectionalDynamicRnn(
                                 rnn_cell::GRUCell(2), rnn_cell::LSTMCell(3),
                                 Reshape(x, {x.dim(0), 2, 2}), {.sequence_length = lengths});
                             return Concat(outputs, 2);
                           }).Find();
  EXPECT_THAT(model.obstacles, IsEmpty());
  EXPECT_THAT(model.refused, IsEmpty());
}

// Each cap is beyond the sizes that are compared with each other.
TEST(BatchSearchTest, ASizeThatStopsGrowingIsAnObstacle) {
  for (const int64_t cap : {10, 100, 1024, 10000, 50000}) {
    const BatchModel model = Built([cap](const Tensor& x) {
                               return Slice(x, {0, 0}, {std::min(x.dim(0), cap), 4}, "first");
                             }).Find({.static_batch_size = 7});
    ASSERT_EQ(model.obstacles.size(), 1u) << cap;
    EXPECT_THAT(
        model.obstacles[0],
        HasSubstr(" differs from what sizes 2, 3 and 5 predict: value of 'first/size' (Const) is"));
    EXPECT_EQ(model.batch_size, 7);
    EXPECT_EQ(model.built.signatures.at("serving_default").inputs.at("x").dim(0), 7);
  }
}

TEST(BatchSearchTest, AnotherNetworkForLargeBatchesIsAnObstacle) {
  EXPECT_THAT(
      Built([](const Tensor& x) { return x.dim(0) > 512 ? Exp(x) : Negate(x); }).Find().obstacles,
      ElementsAre(
          HasSubstr("at batch size 1031 differs from what sizes 2, 3 and 5 predict: 'Exp' (Exp) "
                    "is in the place of 'Neg' (Neg)")));
  EXPECT_THAT(Built([](const Tensor& x) { return Exp(x); },
                    [](int64_t batch) { return batch > 100 ? "large" : "small"; })
                  .Find()
                  .obstacles,
              ElementsAre(HasSubstr("output 'large' of signature 'serving_default'")));
}

// Zeros of more than 1000 elements are another op.
TEST(BatchSearchTest, ZerosOfAnySizeAreNoObstacle) {
  for (const int64_t width : {1, 7, 300, 2000}) {
    const BatchModel model = Built([width](const Tensor& x) {
                               return Concat({x, Zeros({x.dim(0), width})}, 1);
                             }).Find();
    EXPECT_THAT(model.obstacles, IsEmpty()) << width;
  }
}

TEST(BatchSearchTest, SizesWithLargeConstantsAreNotTried) {
  Built built([](const Tensor& x) {
    const int64_t n = x.dim(0);
    Array ones(DType::kFloat32, {n, 1024});
    for (float& one : ones.values<float>()) one = 1;
    return Concat({x, Constant(ones)}, 1);
  });
  EXPECT_THAT(built.Find({.max_constant_bytes = 1 << 20}).obstacles, IsEmpty());
  EXPECT_LE(*built.sizes.rbegin(), 256);
}

TEST(BatchSearchTest, AModelThatTakesMultiplesIsBuiltForMultiples) {
  for (const int64_t unit : {2, 4, 8, 6, 10, 128}) {
    const BatchModel model =
        Built([unit](const Tensor& x) {
          return Exp(FailUnless(x.dim(0) % unit == 0, x, "the batch must be a multiple"));
        }).Find();
    EXPECT_THAT(model.obstacles, IsEmpty()) << unit;
    ASSERT_FALSE(model.refused.empty());
    EXPECT_THAT(model.refused[0].error, HasSubstr("the batch must be a multiple"));
  }
}

TEST(BatchSearchTest, TheCallersOwnSizeIsTriedToo) {
  const auto multiple_of_77 = [](const Tensor& x) {
    return Exp(FailUnless(x.dim(0) % 77 == 0, x, "77 rows"));
  };
  const BatchModel model = Built(multiple_of_77).Find({.static_batch_size = 77});
  EXPECT_THAT(model.obstacles, IsEmpty());
  EXPECT_EQ(model.batch_size, 154);
}

TEST(BatchSearchTest, AModelThatTakesOneSizeIsTiedToIt) {
  Built built(
      [](const Tensor& x) { return Exp(FailUnless(x.dim(0) == 6, x, "six rows, please")); });
  const BatchModel model = built.Find({.static_batch_size = 6});
  EXPECT_THAT(model.obstacles,
              ElementsAre(HasSubstr("the model refuses other batch sizes: six rows, please")));
  EXPECT_EQ(model.batch_size, 6);
}

TEST(BatchSearchTest, AModelThatTakesNoSizeIsAnErrorThatNamesTheCure) {
  Built built(
      [](const Tensor& x) { return Exp(FailUnless(x.dim(0) == 6, x, "six rows, please")); });
  const absl::Status status = FindBatchModel(built.fn()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("six rows, please")));
  EXPECT_THAT(status,
              ErrorHas("built for batches of 2, 16, 240, 2560, 2, 1; if the model takes certain "
                       "sizes only, pass one to the input receiver as default_batch_size"));
}

TEST(BatchSearchTest, AnErrorThatIsNotAboutTheBatchStaysAsItIs) {
  const ExportGraphFn fails = [](int64_t) -> absl::StatusOr<ExportGraph> {
    return absl::UnimplementedError("a loop");
  };
  EXPECT_EQ(FindBatchModel(fails).status(), absl::UnimplementedError("a loop"));
}

TEST(BatchSearchTest, AModelThatRefusesLargeBatchesIsFreeBelow) {
  const BatchModel model =
      Built([](const Tensor& x) { return Exp(FailUnless(x.dim(0) <= 512, x, "too many")); }).Find();
  EXPECT_THAT(model.obstacles, IsEmpty());
  EXPECT_EQ(model.refused[0].batch_size, 1031);
}

}  // namespace
}  // namespace estimator
