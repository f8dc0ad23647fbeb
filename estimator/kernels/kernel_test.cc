#include "estimator/kernels/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// out = in + bias, where the bias tells the tiers apart.
KernelFactory AddFactory(float bias) {
  return [bias](const KernelSpec& spec) {
    const int64_t n = spec.inputs[0].shape.num_elements();
    return MakeKernel([n, bias](const KernelArgs& args) {
      for (int64_t i = 0; i < n; ++i) args.out<float>(0)[i] = args.in<float>(0)[i] + bias;
      return absl::OkStatus();
    });
  };
}

EST_REGISTER_KERNEL("TestAdd", KernelTier::kReference, AddFactory(1));
// The fast tier takes vectors only.
EST_REGISTER_KERNEL("TestAdd", KernelTier::kOneDnn,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      if (spec.inputs[0].shape.rank() != 1) return nullptr;
                      return AddFactory(10)(spec);
                    });
EST_REGISTER_KERNEL("TestVectorOnly", KernelTier::kFused,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      if (spec.inputs[0].shape.rank() != 1) return nullptr;
                      return AddFactory(5)(spec);
                    });
EST_REGISTER_KERNEL("TestFails", KernelTier::kReference, [](const KernelSpec&) {
  return MakeKernel([](const KernelArgs&) {
    return absl::InvalidArgumentError("label 12 at index 3 is not in [0, 10)");
  });
});
EST_REGISTER_KERNEL("TestSumInScratch", KernelTier::kReference, [](const KernelSpec& spec) {
  // The constant decides how much scratch it asks for.
  const int64_t n = spec.constants[0]->num_elements();
  return MakeKernel(
      [n](const KernelArgs& args) {
        float* scratch = static_cast<float*>(args.scratch);
        for (int64_t i = 0; i < n; ++i) scratch[i] = args.in<float>(0)[i];
        float sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += scratch[i];
        args.out<float>(0)[0] = sum + static_cast<float>(args.step.step);
        return absl::OkStatus();
      },
      static_cast<size_t>(n) * sizeof(float), 0);
});

KernelSpec Spec(const std::string& op, const Shape& shape) {
  const TensorSpec tensor{DType::kFloat32, shape};
  return {.op = op,
          .name = "scope/node",
          .attrs = {},
          .inputs = {tensor},
          .outputs = {tensor},
          .constants = {}};
}

TEST(KernelRegistry, FastestAcceptingTierRuns) {
  const Array vector = Array::Of<float>({2}, {1, 2});
  EXPECT_EQ((*RunKernel(Spec("TestAdd", {2}), {vector}, KernelTier::kOneDnn))[0].values<float>()[1],
            12);
  const Array matrix = Array::Of<float>({1, 2}, {1, 2});
  EXPECT_EQ(
      (*RunKernel(Spec("TestAdd", {1, 2}), {matrix}, KernelTier::kOneDnn))[0].values<float>()[1],
      3);
}

TEST(KernelRegistry, ReferenceIsForcedByTier) {
  const Array vector = Array::Of<float>({2}, {1, 2});
  EXPECT_EQ((*RunReferenceKernel(Spec("TestAdd", {2}), {vector}))[0].values<float>()[0], 2);
}

// Two kernels of one type, such as functions, are told apart by their tiers.
TEST(KernelRegistry, AKernelKnowsItsTier) {
  const auto fast = CreateKernel(Spec("TestAdd", {2}));
  ASSERT_TRUE(fast.ok());
  EXPECT_EQ((*fast)->tier(), KernelTier::kOneDnn);
  const auto reference = CreateKernel(Spec("TestAdd", {1, 2}));
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ((*reference)->tier(), KernelTier::kReference);
  EXPECT_EQ(MakeKernel([](const KernelArgs&) { return absl::OkStatus(); }).Build()->tier(),
            std::nullopt);
}

int num_built = 0;
EST_REGISTER_KERNEL("TestPlan", KernelTier::kNative, [](const KernelSpec& spec) -> KernelPlan {
  if (spec.inputs[0].shape.rank() != 1) return nullptr;
  return [spec]() -> std::unique_ptr<Kernel> {
    ++num_built;
    return AddFactory(20)(spec);
  };
});
EST_REGISTER_KERNEL("TestPlan", KernelTier::kReference, AddFactory(1));

TEST(KernelRegistry, AcceptsPlansWithoutBuilding) {
  num_built = 0;
  EXPECT_EQ(AcceptingTier(Spec("TestPlan", {2}), KernelTier::kNative), KernelTier::kNative);
  EXPECT_TRUE(Accepts(Spec("TestPlan", {2}), KernelTier::kNative, KernelTier::kNative));
  EXPECT_EQ(num_built, 0);
  EXPECT_EQ((*CreateKernel(Spec("TestPlan", {2})))->tier(), KernelTier::kNative);
  EXPECT_EQ(num_built, 1);
  EXPECT_EQ((*CreateKernel(Spec("TestPlan", {1, 2})))->tier(), KernelTier::kReference);
  EXPECT_EQ(num_built, 1);
}

TEST(KernelRegistry, ATierBelowTheSlowestIsNotAsked) {
  const KernelSpec matrix = Spec("TestAdd", {1, 2});
  EXPECT_TRUE(Accepts(matrix, KernelTier::kNative));
  EXPECT_FALSE(Accepts(matrix, KernelTier::kNative, KernelTier::kFused));
  EXPECT_EQ(CreateKernel(matrix, KernelTier::kNative, KernelTier::kFused).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(AcceptingTier(Spec("TestAdd", {2}), KernelTier::kNative, KernelTier::kFused),
            KernelTier::kOneDnn);
  EXPECT_FALSE(Accepts(Spec("TestNowhere", {2}), KernelTier::kNative));
}

TEST(KernelRegistry, DirectConvolutionsAllowNoWinograd) {
  KernelSpec spec = Spec("Conv2D", {2});
  EXPECT_TRUE(WinogradAllowed(spec));
  spec.conv_algorithm = ConvAlgorithm::kDirect;
  EXPECT_FALSE(WinogradAllowed(spec));
}

TEST(KernelRegistry, TiersAreListedApart) {
  EXPECT_TRUE(HasKernel("TestAdd"));
  EXPECT_TRUE(HasKernel("TestVectorOnly", KernelTier::kFused));
  EXPECT_FALSE(HasKernel("TestVectorOnly"));
  EXPECT_FALSE(HasKernel("NoSuchOp"));
  EXPECT_THAT(RegisteredKernels(KernelTier::kReference), Contains("TestAdd"));
  EXPECT_THAT(RegisteredKernels(KernelTier::kReference), Not(Contains("TestVectorOnly")));
}

TEST(KernelRegistry, UnknownOpIsNamed) {
  const auto kernel = CreateKernel(Spec("NoSuchOp", {2}));
  EXPECT_THAT(kernel, StatusIs(absl::StatusCode::kUnimplemented,
                               HasSubstr("scope/node: no kernel of op NoSuchOp")));
}

TEST(KernelRegistry, RefusedSpecIsShownWithTypesAndShapes) {
  const auto kernel = CreateKernel(Spec("TestVectorOnly", {2, 3}));
  EXPECT_THAT(kernel,
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("(f32 [2,3]) -> (f32 [2,3])")));
}

TEST(KernelRegistry, SlowerTierThanAskedIsNotSkipped) {
  EST_EXPECT_OK(CreateKernel(Spec("TestVectorOnly", {2}), KernelTier::kOneDnn));
  EXPECT_FALSE(CreateKernel(Spec("TestVectorOnly", {2}), KernelTier::kReference).ok());
}

TEST(RunKernel, GivesScratchStepAndConstants) {
  KernelSpec spec = Spec("TestSumInScratch", {3});
  spec.outputs = {{DType::kFloat32, {}}};
  const auto result = RunReferenceKernel(spec, {Array::Of<float>({3}, {1, 2, 3})}, {.step = 100});
  EST_ASSERT_OK(result);
  EXPECT_EQ((*result)[0].scalar<float>(), 106);
}

TEST(RunKernel, ErrorCarriesTheNodeName) {
  const auto result = RunReferenceKernel(Spec("TestFails", {1}), {Array::Of<float>({1}, {1})});
  EXPECT_THAT(result, ErrorIs("scope/node: label 12 at index 3 is not in [0, 10)"));
}

TEST(RunKernel, InputThatDiffersFromTheSpecIsAnError) {
  const auto result = RunReferenceKernel(Spec("TestAdd", {2}), {Array::Of<float>({3}, {1, 2, 3})});
  EXPECT_THAT(result,
              ErrorIs("scope/node: input 0 of TestAdd is f32 [3], but its spec has f32 [2]"));
}

}  // namespace
}  // namespace estimator
