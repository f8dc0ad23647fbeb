#include "estimator/kernels/prepared_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator {
namespace {

constexpr size_t kAlignment = 64;

// Bytes that are aligned as those of an arena and begin with NaN.
class Buffer {
 public:
  explicit Buffer(size_t bytes)
      : bytes_(static_cast<char*>(
                   std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment)),
               std::free) {
    std::fill_n(bytes_.get(), bytes, '\xff');
  }
  void* get() const { return bytes_.get(); }

 private:
  const std::unique_ptr<char, void (*)(void*)> bytes_;
};

std::vector<Array> Run(Kernel& kernel, const KernelSpec& spec,
                       const std::vector<const void*>& inputs) {
  std::vector<Array> outputs;
  std::vector<void*> addresses;
  for (const TensorSpec& output : spec.outputs) outputs.emplace_back(output.dtype, output.shape);
  for (Array& output : outputs) addresses.push_back(output.raw());
  const Buffer scratch(kernel.scratch_bytes());
  EST_EXPECT_OK(
      kernel.Run({.inputs = inputs, .outputs = addresses, .scratch = scratch.get(), .step = {}}));
  return outputs;
}

// Returns "" if the kernel of the spec gives the same bits in one part and in two, "whole" if it
// prepares no input, else what is wrong.
std::string DifferenceInTwoParts(const KernelSpec& incomplete, const std::vector<Array>& inputs) {
  const KernelSpec spec = CompleteSpec(incomplete, inputs);
  auto created = CreateKernel(spec);
  if (!created.ok()) return created.status().ToString();
  const std::shared_ptr<Kernel> kernel = *std::move(created);
  const std::shared_ptr<PreparedInput> prepared = PreparedInputOf(kernel);
  if (prepared == nullptr) return "whole";
  std::vector<const void*> addresses;
  for (const Array& input : inputs) addresses.push_back(input.raw());
  const std::vector<Array> expected = Run(*kernel, spec, addresses);

  const auto number = static_cast<size_t>(prepared->prepared_input());
  const Buffer copy(prepared->prepared_bytes());
  const std::unique_ptr<Kernel> prepare = MakePrepare(prepared);
  const Buffer scratch(prepare->scratch_bytes());
  const std::vector<void*> copies = {copy.get()};
  EST_EXPECT_OK(prepare->Run({.inputs = absl::MakeConstSpan(addresses).subspan(number, 1),
                              .outputs = copies,
                              .scratch = scratch.get(),
                              .step = {}}));
  addresses[number] = copy.get();
  const std::unique_ptr<Kernel> run = MakeRunPrepared(kernel);
  if (run->tier() != kernel->tier()) return "the tiers differ";
  // The copy serves more than one run.
  for (int step = 0; step < 2; ++step) {
    const std::vector<Array> actual = Run(*run, spec, addresses);
    for (size_t i = 0; i < actual.size(); ++i) {
      if (!SameBits(actual[i], expected[i])) return absl::StrCat("output ", i, " differs");
    }
  }
  return "";
}

KernelSpec ConvSpec(const std::string& op, const Shape& result, DType dtype = DType::kFloat32) {
  return {.op = op, .attrs = ConvAttrs(), .outputs = {{dtype, result}}};
}

TEST(PreparedInput, AKernelOfTwoFunctionsGivesTheSameInTwoParts) {
  const auto make = [](const KernelSpec&) {
    return MakePreparingKernel({.input = 1,
                                .prepared_bytes = 64,
                                .prepare =
                                    [](const void* input, void* prepared) {
                                      *static_cast<float*>(prepared) =
                                          -*static_cast<const float*>(input);
                                    },
                                .run =
                                    [](const KernelArgs& args, const void* prepared) {
                                      float* const scratch = static_cast<float*>(args.scratch);
                                      *scratch =
                                          *args.in<float>(0) * *static_cast<const float*>(prepared);
                                      *args.out<float>(0) = *scratch;
                                      return absl::OkStatus();
                                    },
                                .scratch_bytes = sizeof(float)});
  };
  ASSERT_TRUE(RegisterKernel("NegativeProduct", KernelTier::kReference, make));
  const std::vector<Array> inputs = {Array::Of<float>({1}, {3}), Array::Of<float>({1}, {2})};
  const KernelSpec spec{.op = "NegativeProduct", .outputs = {{DType::kFloat32, {1}}}};
  EXPECT_EQ(DifferenceInTwoParts(spec, inputs), "");
  const auto result = RunKernel(CompleteSpec(spec, inputs), inputs, KernelTier::kReference);
  EST_ASSERT_OK(result);
  EXPECT_EQ(*(*result)[0].data<float>(), -6);
}

TEST(PreparedInput, AnotherKernelHasNone) {
  const std::shared_ptr<Kernel> kernel =
      MakeKernel([](const KernelArgs&) { return absl::OkStatus(); });
  EXPECT_EQ(PreparedInputOf(kernel), nullptr);
}

TEST(PreparedInput, ConvolutionsByWinogradPrepareTheirFilters) {
  const Array x = RandomArray({2, 9, 9, 16}, 1), filter = RandomArray({3, 3, 16, 32}, 2);
  KernelSpec forward = ConvSpec("Conv2D", {2, 9, 9, 32});
  forward.conv_algorithm = ConvAlgorithm::kWinograd;
  EXPECT_EQ(DifferenceInTwoParts(forward, {x, filter}), "");
  KernelSpec backward = ConvSpec("Conv2DBackpropInput", {2, 9, 9, 16});
  backward.conv_algorithm = ConvAlgorithm::kWinograd;
  const Array sizes = Array::Of<int32_t>({4}, {2, 9, 9, 16});
  EXPECT_EQ(DifferenceInTwoParts(backward, {sizes, filter, RandomArray({2, 9, 9, 32}, 3)}), "");
}

// oneDNN chooses the layout of the filter by the CPU. Where it takes the given one, the kernel is
// whole.
TEST(PreparedInput, ConvolutionsByOneDnnGiveTheSameInTwoParts) {
  const Array bias = RandomArray({48}, 4);
  for (const int64_t size : {1, 3, 7}) {
    const Array x = RandomArray({2, 9, 9, 24}, 1), filter = RandomArray({size, size, 24, 48}, 2);
    KernelSpec plain = ConvSpec("Conv2D", {2, 9, 9, 48});
    plain.conv_algorithm = ConvAlgorithm::kDirect;
    KernelSpec fused = plain;
    fused.op = "_FusedConv2D";
    fused.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
    for (const auto& [spec, inputs] : {std::pair(plain, std::vector<Array>{x, filter}),
                                       std::pair(fused, std::vector<Array>{x, filter, bias})}) {
      const std::string difference = DifferenceInTwoParts(spec, inputs);
      EXPECT_TRUE(difference.empty() || difference == "whole") << spec.op << ": " << difference;
    }
  }
}

TEST(PreparedInput, MatrixProductsGiveTheSameInTwoParts) {
  const KernelSpec spec{.op = "MatMul",
                        .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                        .outputs = {{DType::kFloat32, {128, 256}}}};
  const std::string difference =
      DifferenceInTwoParts(spec, {RandomArray({128, 64}, 1), RandomArray({64, 256}, 2)});
  EXPECT_TRUE(difference.empty() || difference == "whole") << difference;
}

// By a kernel of bfloat16/ where the CPU has the instructions; otherwise by that of f32 on widened
// operands.
TEST(PreparedInput, ConvolutionsOfBfloat16GiveTheSameInTwoParts) {
  const std::vector<Array> inputs = {RandomArray({2, 9, 9, 32}, 1).Cast(DType::kBfloat16),
                                     RandomArray({3, 3, 32, 32}, 2).Cast(DType::kBfloat16)};
  const std::string difference =
      DifferenceInTwoParts(ConvSpec("Conv2D", {2, 9, 9, 32}, DType::kBfloat16), inputs);
  EXPECT_TRUE(difference.empty() || difference == "whole") << difference;
}

}  // namespace
}  // namespace estimator
