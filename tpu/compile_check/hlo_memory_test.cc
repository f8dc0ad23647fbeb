#include "tpu/compile_check/hlo_memory.h"

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
