// Networks whose kernels prepare their filters once: a step gives the same bits as without that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/testing/network.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Numbers;

class PreparedNetworkTest : public GraphTest {
 protected:
  // Two convolutions in `dtype`, one with a bias and relu, and a dense layer.
  Tensor Network(DType dtype) {
    const auto weights = [dtype](absl::string_view name, const Shape& shape) {
      return Cast(testing::Weights(name, shape, 0.3f), dtype);
    };
    Tensor y = Cast(images_, dtype);
    y = Relu(BiasAdd(Conv2D(y, weights("conv/kernel", {3, 3, 16, 32})), weights("bias", {32})));
    y = Conv2D(y, weights("conv_1/kernel", {1, 1, 32, 48}));
    y = MatMul(Reshape(y, {kBatch, 8 * 8 * 48}), weights("dense/kernel", {8 * 8 * 48, 64}));
    return Cast(y, DType::kFloat32);
  }

  // The result of one step.
  absl::StatusOr<Array> Step(Executable& executable) {
    std::optional<Array> result;
    const absl::Status status = executable
                                    .RunLoop(
                                        1,
                                        []() -> absl::StatusOr<std::optional<StepFeeds>> {
                                          return StepFeeds{{Numbers({kBatch, 8, 8, 16}, 1, 1.0f)}};
                                        },
                                        [&result](int64_t, const StepFetches& fetches) {
                                          result = fetches[0][0].Clone();
                                          return absl::OkStatus();
                                        })
                                    .status();
    if (!status.ok()) return status;
    return *result;
  }

  void ExpectTheSameBits(DType dtype, ConvAlgorithm algorithm) {
    const ProgramSpec spec{.feeds = {images_}, .fetches = {Network(dtype)}, .updates = {}};
    EST_ASSERT_OK(graph_.status());
    EST_ASSERT_OK(InitializeVariables(graph_, store_));
    const CompileOptions with{.conv_algorithm = algorithm, .single_replica = true};
    CompileOptions without = with;
    without.disable_passes = {"derive_values"};
    const auto prepared = MakeCpuBackend(store_, with)->Compile(graph_, spec),
               plain = MakeCpuBackend(store_, without)->Compile(graph_, spec);
    EST_ASSERT_OK(prepared);
    EST_ASSERT_OK(plain);
    for (int step = 0; step < 4; ++step) {
      if (step == 2) {
        EST_ASSERT_OK(store_.Set("conv/kernel", Numbers({3, 3, 16, 32}, 5, 0.3f)));
      } else if (step == 3) {
        EST_ASSERT_OK(store_.Set("dense/kernel", Numbers({8 * 8 * 48, 64}, 6, 0.3f)));
      }
      const auto actual = Step(**prepared), expected = Step(**plain);
      EST_ASSERT_OK(actual);
      EST_ASSERT_OK(expected);
      EXPECT_TRUE(SameBits(*actual, *expected)) << "step " << step;
      if (last_.has_value()) {
        EXPECT_EQ(SameBits(*actual, *last_), step == 1) << "step " << step;
      }
      last_ = *actual;
    }
  }

  static constexpr int64_t kBatch = 4;
  VariableStore store_;
  const Tensor images_ = Placeholder(DType::kFloat32, {kBatch, 8, 8, 16}, "images");
  std::optional<Array> last_;
};

TEST_F(PreparedNetworkTest, WinogradGivesTheSameBits) {
  ExpectTheSameBits(DType::kFloat32, ConvAlgorithm::kWinograd);
}

TEST_F(PreparedNetworkTest, DirectConvolutionsGiveTheSameBits) {
  ExpectTheSameBits(DType::kFloat32, ConvAlgorithm::kDirect);
}

TEST_F(PreparedNetworkTest, Bfloat16GivesTheSameBits) {
  ExpectTheSameBits(DType::kBfloat16, ConvAlgorithm::kAuto);
}

TEST_F(PreparedNetworkTest, ThePlanHasThePreparedFilter) {
  const ProgramSpec spec{.feeds = {images_}, .fetches = {Network(DType::kFloat32)}, .updates = {}};
  CompileOptions options{.conv_algorithm = ConvAlgorithm::kWinograd};
  const auto program = Program::Compile(graph_, spec, options);
  EST_ASSERT_OK(program);
  EXPECT_THAT((*program)->Plan(), HasSubstr("_PrepareInput  Relu/prepared  (f32 [3,3,16,32])"));
  // The table shows the filter, not its copy.
  EXPECT_THAT((*program)->Plan(), HasSubstr("(f32 [4,8,8,16], f32 [3,3,16,32], f32 [32])"));
  options.check_kernels = true;
  const auto checked = Program::Compile(graph_, spec, options);
  EST_ASSERT_OK(checked);
  EXPECT_THAT((*checked)->Plan(), Not(HasSubstr("_PrepareInput")));
}

}  // namespace
}  // namespace estimator
