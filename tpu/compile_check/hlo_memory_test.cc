#include "tpu/compile_check/hlo_memory.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

TEST(HloBytes, PadsTilesInTheOrderOfTheLayout) {
  EXPECT_EQ(HloBytes("f32[6,100]{1,0:T(8,128)}"), 8 * 128 * 4);
  EXPECT_EQ(HloBytes("f32[6,100]{0,1:T(8,128)}"), 104 * 128 * 4);
  EXPECT_EQ(HloBytes("bf16[16,128]{1,0:T(8,128)(2,1)}"), 16 * 128 * 2);
  EXPECT_EQ(HloBytes("(f32[128]{0:T(128)}, s32[]{:T(128)})"), 512 + 512);
  EXPECT_EQ(HloBytes("f32[8,128]{1,0:T(8,128)S(1)}"), 0);
}

TEST(MemoryOfHlo, AddsTheValuesThatLiveAtTheSameTime) {
  const HloMemory memory = MemoryOfHlo(R"(HloModule step, is_scheduled=true

ENTRY %main (x: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0:T(8,128)} parameter(0)
  %a = f32[16,128]{1,0:T(8,128)} fusion(%x), kind=kLoop, calls=%f, metadata={op_name="dense/MatMul"}
  %b = f32[8,128]{1,0:T(8,128)} fusion(%a), kind=kLoop, calls=%f, metadata={op_name="dense/Relu"}
  %c = f32[8,128]{1,0:T(8,128)} fusion(%b), kind=kLoop, calls=%f
  ROOT %d = f32[8,128]{1,0:T(8,128)} fusion(%c, %b), kind=kLoop, calls=%f
}
)");
  EXPECT_EQ(memory.arguments, 4096);
  EXPECT_EQ(memory.outputs, 4096);
  EXPECT_EQ(memory.temporaries, 3 * 4096);  // %a and %b
  ASSERT_EQ(memory.largest.size(), 2u);
  EXPECT_EQ(memory.largest[0].op, "dense/MatMul");
  EXPECT_EQ(memory.largest[0].shape, "f32[16,128]");
}

// XLA writes the branches of a conditional in two forms.
TEST(MemoryOfHlo, CountsTheLargerBranchOfAConditional) {
  for (const char* const branches : {"branch_computations={%small, %large}",
                                     "true_computation=%large, false_computation=%small"}) {
    const HloMemory memory = MemoryOfHlo(absl::StrCat(R"(HloModule step, is_scheduled=true

%small (p: f32[8,128]) -> f32[8,128] {
  %p = f32[8,128]{1,0:T(8,128)} parameter(0)
  %s = f32[8,128]{1,0:T(8,128)} fusion(%p), kind=kLoop, calls=%f
  ROOT %t = f32[8,128]{1,0:T(8,128)} fusion(%s), kind=kLoop, calls=%f
}

%large (p.1: f32[8,128]) -> f32[8,128] {
  %p.1 = f32[8,128]{1,0:T(8,128)} parameter(0)
  %l = f32[64,128]{1,0:T(8,128)} fusion(%p.1), kind=kLoop, calls=%f, metadata={op_name="large"}
  ROOT %m = f32[8,128]{1,0:T(8,128)} fusion(%l), kind=kLoop, calls=%f
}

ENTRY %main (x: f32[8,128], i: s32[]) -> f32[8,128] {
  %x = f32[8,128]{1,0:T(8,128)} parameter(0)
  %i = s32[]{:T(128)} parameter(1)
  %a = f32[16,128]{1,0:T(8,128)} fusion(%x), kind=kLoop, calls=%f
  %c = f32[8,128]{1,0:T(8,128)} conditional(%i, %x, %x), )",
                                                      branches, R"(, metadata={op_name="cond"}
  ROOT %d = f32[8,128]{1,0:T(8,128)} fusion(%c, %a), kind=kLoop, calls=%f
}
)"));
    EXPECT_EQ(memory.temporaries, 8 * 4096 + 2 * 4096 + 4096) << branches;  // %l, %a and %c
    ASSERT_FALSE(memory.largest.empty()) << branches;
    EXPECT_EQ(memory.largest[0].op, "large");
  }
}

TEST(MemoryOfHlo, TheShapeOfATupleHasAllItsElements) {
  const HloMemory memory = MemoryOfHlo(R"(HloModule step, is_scheduled=true

ENTRY %main (x: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0:T(8,128)} parameter(0)
  %a = (u32[8,128]{1,0:T(8,128)(2,1)}, /*index=1*/f32[128]{0:T(128)S(1)}, s32[]) fusion(%x), kind=kLoop, calls=%f, metadata={op_name="conv2d/Relu"}
  ROOT %d = f32[8,128]{1,0:T(8,128)} fusion(%a), kind=kLoop, calls=%f
}
)");
  ASSERT_EQ(memory.largest.size(), 1u);
  EXPECT_EQ(memory.largest[0].shape, "(u32[8,128], f32[128], s32[])");
  EXPECT_EQ(memory.largest[0].op, "conv2d/Relu");
  EXPECT_EQ(memory.largest[0].bytes, 4096 + 4);
}

TEST(LargestInStableHlo, HasTheArgumentsOfTheStep) {
  const auto tensors = LargestInStableHlo(
      R"(module @step {
  func.func public @main(%arg0: tensor<4x2xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<100x8x2xbf16>, %arg2: tensor<i32>) -> (tensor<4x2xf32>, tensor<100x999xf32>) {
    %1 = stablehlo.abs %0 : tensor<8x2xf32> loc("Abs")
)");
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].shape, "bf16[100,8,2]");
  EXPECT_EQ(tensors[0].op, "(an argument: the batches of a loop's steps)");
  EXPECT_EQ(tensors[0].bytes, 3200);
  EXPECT_EQ(tensors[1].op, "Abs");
  EXPECT_EQ(tensors[2].op, "(a variable)");
  EXPECT_EQ(tensors[2].shape, "f32[4,2]");
  EXPECT_EQ(tensors[3].shape, "i32[]");
}

TEST(LargestInStableHlo, NamesTheOpsOfTheLocations) {
  const auto tensors = LargestInStableHlo(R"(module {
    %1 = stablehlo.abs %0 : tensor<8x2xf32> loc(#loc0)
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x9xf32>) -> tensor<8x9xbf16> loc(#loc1)
}
#loc0 = loc("Abs")
#loc1 = loc("dense/MatMul")
)");
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].op, "dense/MatMul");
  EXPECT_EQ(tensors[0].shape, "bf16[8,9]");
  EXPECT_EQ(tensors[0].bytes, 144);
  EXPECT_EQ(tensors[1].op, "Abs");
}

}  // namespace
}  // namespace estimator::tpu
