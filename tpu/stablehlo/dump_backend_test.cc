#include "tpu/stablehlo/dump_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/variable_store.h"

namespace estimator::tpu::stablehlo {
namespace {

class DumpBackendTest : public GraphTest {
 protected:
  std::unique_ptr<Backend> MakeBackend(const std::string& path, bool only_with_updates) {
    return MakeDumpBackend(MakeCpuBackend(store_, {}, nullptr, 2),
                           {.path = path, .iterations = 3, .only_with_updates = only_with_updates});
  }

  const TempDir dir_;
  VariableStore store_;
};

TEST_F(DumpBackendTest, WritesTheStepAndCompilesIt) {
  const Tensor x = Placeholder(DType::kFloat32, {4}, "x");
  const std::string path = dir_.File("step.mlir");
  const auto backend = MakeBackend(path, false);
  EXPECT_EQ(backend->num_replicas(), 2);
  const auto executable =
      backend->Compile(graph_, {.feeds = {x}, .fetches = {x + 1.0f}, .updates = {}});
  EST_ASSERT_OK(executable);
  const auto text = ReadFile(path);
  EST_ASSERT_OK(text);
  EXPECT_THAT(*text, ::testing::HasSubstr("mhlo.num_replicas = 2 : i32"));
  EXPECT_THAT(*text, ::testing::HasSubstr("tensor<3x4xf32>"));
}

TEST_F(DumpBackendTest, StepsWithoutUpdatesAreLeftOutOnRequest) {
  const Tensor x = Placeholder(DType::kFloat32, {4}, "x");
  const std::string path = dir_.File("step.mlir");
  const auto backend = MakeBackend(path, true);
  const auto executable =
      backend->Compile(graph_, {.feeds = {x}, .fetches = {x + 1.0f}, .updates = {}});
  EST_ASSERT_OK(executable);
  EXPECT_FALSE(ReadFile(path).ok());
}

TEST_F(DumpBackendTest, AStepThatTrainsIsGuardedByItsLoss) {
  const auto zeros = [](const Shape& shape, DType dtype) { return Constant(Array(dtype, shape)); };
  const Variable w = GetVariable("w", {4}, {.initializer = zeros});
  const Tensor loss = ReduceSum(w * 2.0f), doubled = w * 2.0f;
  const Operation update = Assign(w, doubled);
  const auto is_guarded = [&](const Tensors& fetches, const std::vector<Operation>& updates) {
    const std::string path = dir_.File("step.mlir");
    const auto backend = MakeBackend(path, false);
    EST_EXPECT_OK(backend->Compile(graph_, {.feeds = {}, .fetches = fetches, .updates = updates}));
    return absl::StrContains(*ReadFile(path), "stablehlo.is_finite");
  };
  EXPECT_TRUE(is_guarded({loss, doubled}, {update}));
  EXPECT_FALSE(is_guarded({doubled, loss}, {update})) << "the first fetch is no scalar";
  EXPECT_FALSE(is_guarded({loss, doubled}, {})) << "a step that changes nothing";
}

TEST_F(DumpBackendTest, AFolderThatDoesNotExistIsAnError) {
  const Tensor x = Placeholder(DType::kFloat32, {4}, "x");
  const auto backend = MakeBackend(dir_.File("none/step.mlir"), false);
  const auto executable =
      backend->Compile(graph_, {.feeds = {x}, .fetches = {x + 1.0f}, .updates = {}});
  EXPECT_THAT(executable.status(), ErrorHas("dump_stablehlo"));
}

TEST(PathWithSuffixTest, TheSuffixComesBeforeTheExtension) {
  EXPECT_EQ(PathWithSuffix("step.mlir", "eval"), "step_eval.mlir");
  EXPECT_EQ(PathWithSuffix("/a.b/step", "eval"), "/a.b/step_eval");
  EXPECT_EQ(PathWithSuffix("/a/b.mlir", "eval"), "/a/b_eval.mlir");
  EXPECT_EQ(PathWithSuffix("/a/.hidden", "eval"), "/a/.hidden_eval");
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
