#include "tpu/stablehlo/dump_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(PathWithSuffix("/a/.hidden", "eval"), "/a/.hidden_eval");
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
