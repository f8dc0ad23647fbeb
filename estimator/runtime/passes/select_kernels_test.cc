#include "estimator/runtime/passes/select_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

KernelFactory Marked(size_t scratch_bytes) {
  return [scratch_bytes](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
    if (spec.inputs[0].shape.rank() > 2) return nullptr;
    return MakeKernel([](const KernelArgs&) { return absl::OkStatus(); }, scratch_bytes);
  };
}
EST_REGISTER_KERNEL("TestTiers", KernelTier::kReference, Marked(1));
EST_REGISTER_KERNEL("TestTiers", KernelTier::kFused, Marked(2));

TEST(SelectKernels, TheFastestAllowedTierIsTaken) {
  ModuleBuilder b;
  const Value node = b.Op("TestTiers", {b.Feed({2})}, {2});
  b.Fetch(node);
  Module reference = b.module;
  EST_ASSERT_OK(SelectKernels(b.module, KernelTier::kNative));
  EXPECT_EQ(b.node(node).kernel->scratch_bytes(), 2u);
  EST_ASSERT_OK(SelectKernels(reference, KernelTier::kReference));
  EXPECT_EQ(reference.node(node).kernel->scratch_bytes(), 1u);
}

TEST(SelectKernels, ViewsAndCollectivesNeedNone) {
  ModuleBuilder b;
  b.Fetch(b.Op("CrossReplicaSum", {b.Op("Reshape", {b.Feed({2})}, {2, 1})}, {2, 1}));
  EST_EXPECT_OK(SelectKernels(b.module, KernelTier::kNative));
}

TEST(SelectKernels, EverythingWithoutAKernelIsNamedAtOnce) {
  ModuleBuilder b;
  const Value x = b.Feed({1, 1, 2});
  b.Fetch(b.Op("TestNowhere", {x}, {2}));
  b.Fetch(b.Op("TestTiers", {x}, {2}));
  b.Fetch(b.Op("TestNowhere", {x}, {2}));
  const absl::Status status = SelectKernels(b.module, KernelTier::kNative);
  EXPECT_THAT(
      status,
      StatusIs(
          absl::StatusCode::kUnimplemented,
          "ops without a kernel: TestNowhere (TestNowhere_1 and 1 more); TestTiers_2: no kernel "
          "of TestTiers takes "
          "these types and shapes: (f32 [1,1,2]) -> (f32 [2])"));
}

TEST(SelectKernels, CopiesCopyStringsToo) {
  const std::string from[2] = {"a", "a longer string that is not stored in place"};
  std::string to[2];
  CopyElements(DType::kString, 2, from, to);
  EXPECT_EQ(to[1], from[1]);
}

}  // namespace
}  // namespace estimator::ir
