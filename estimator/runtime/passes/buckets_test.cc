#include "estimator/runtime/passes/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/emit.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

EST_REGISTER_KERNEL("Gradient", KernelTier::kReference, Inert());

class RowsKernel final : public Kernel {
 public:
  absl::Status Run(const KernelArgs&) override { return absl::OkStatus(); }
  bool RunsRows() const override { return true; }
};
EST_REGISTER_KERNEL("Product", KernelTier::kReference,
                    [](const KernelSpec&) { return KernelPlan(std::make_unique<RowsKernel>()); });

class BucketsTest : public ::testing::Test {
 protected:
  Value Sum(Value value) { return b_.Op("CrossReplicaSum", {value}, {256}); }  // 1 KiB
  Value Gradient(Value input) { return b_.Op("Gradient", {input}, {256}); }
  void Update(Value value) {
    const std::string name = absl::StrCat("v", b_.module.variables.size());
    b_.Variable(name, {256});
    b_.Update(name, value);
  }

  Code Compile(int64_t bucket_bytes, bool blocks = true) {
    Compact(b_.module);
    EST_EXPECT_OK(SelectKernels(b_.module, KernelTier::kReference));
    schedule_ = MakeSchedule(b_.module);
    MakeBuckets(b_.module, schedule_, blocks, bucket_bytes);
    plan_ = PlanMemory(b_.module, schedule_);
    return Emit(b_.module, schedule_, plan_).value();
  }

  ModuleBuilder b_;
  Schedule schedule_;
  MemoryPlan plan_;
};

TEST_F(BucketsTest, GradientsAreSentInTheOrderInWhichTheyAreComputed) {
  const Value first = Gradient(b_.Feed({256})), second = Gradient(first), third = Gradient(second);
  const Value last = Gradient(third);  // nothing is summed there
  b_.Fetch(last);
  // Another op reads `first` and `second` too, so they are not in a bucket; copies of them are.
  const Value a = Gradient(third), b = Gradient(a), c = Gradient(b);
  for (const Value value : {c, a, b}) Update(Sum(Gradient(value)));
  const Code code = Compile(2048);
  ASSERT_THAT(code.segments, SizeIs(2));
  EXPECT_THAT(code.segments[0].collectives, IsEmpty());
  const std::vector<CollectiveBucket>& buckets = code.segments[0].buckets;
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_THAT(buckets[0].collectives, SizeIs(2)) << "as soon as it has 2 KiB";
  EXPECT_THAT(buckets[1].collectives, SizeIs(1));
  EXPECT_EQ(buckets[0].offset, 0);
  EXPECT_EQ(buckets[0].count, 512);
  EXPECT_EQ(buckets[1].offset, 2048);
  EXPECT_EQ(plan_.bucket_bytes, 3072);
  for (size_t k = 0; k < 2; ++k) {
    // The bucket is ready right behind the last instruction that writes into it.
    int written = -1;
    for (int i = 0; i < static_cast<int>(code.instructions.size()); ++i) {
      const Buffer& buffer = At(plan_.buffers, At(code.instructions, i).outputs[0]);
      if (buffer.kind == Buffer::Kind::kBucket && buffer.offset >= buckets[k].offset &&
          buffer.offset < buckets[k].offset + buckets[k].count * 4)
        written = i;
    }
    EXPECT_EQ(buckets[k].ready, written + 1);
  }
  EXPECT_LT(buckets[0].ready, code.segments[0].end);
}

// As in a backward pass: a layer's gradient by its input comes first, then that by its weights.
TEST_F(BucketsTest, AGradientIsComputedBeforeTheNextLayerThatDoesNotNeedIt) {
  const Value activation = Gradient(b_.Feed({256})), dy = Gradient(b_.Feed({256}));
  const Value by_input = Gradient(dy), next = Gradient(by_input);
  const Value by_weights = b_.Op("Gradient", {activation, dy}, {256});
  const Value last = b_.Op("Gradient", {activation, next}, {256});
  Update(Sum(b_.Op("Reshape", {by_weights}, {16, 16})));
  Update(Sum(last));
  const Code code = Compile(1024);
  std::vector<int> order;
  for (const Instruction& instruction : code.instructions) order.push_back(instruction.node);
  EXPECT_THAT(order, ElementsAre(activation.node, dy.node, by_weights.node, by_input.node,
                                 next.node, last.node));
  ASSERT_THAT(code.segments[0].buckets, SizeIs(2));
  EXPECT_EQ(code.segments[0].buckets[0].ready, 3);
  EXPECT_EQ(code.segments[0].buckets[1].ready, 6);
}

TEST_F(BucketsTest, ASumIsWrittenOverItsOperand) {
  const Value gradient = Gradient(b_.Feed({256}));
  Update(Sum(b_.Op("Reshape", {gradient}, {16, 16})));
  const Code code = Compile(kBucketBytes);
  ASSERT_THAT(code.segments[0].buckets, SizeIs(1));
  const Collective& sum = code.segments[0].buckets[0].collectives[0];
  EXPECT_EQ(sum.input, sum.output);
  EXPECT_TRUE(sum.only_updates);
}

// Its sum has another shape, and is in a bucket with one that comes before it.
TEST_F(BucketsTest, ALargeGradientIsComputedAndSentInBlocksOfRows) {
  for (const bool blocks : {true, false}) {
    b_ = {};
    const Value x = b_.Feed({256});
    const Value small = Gradient(x), product = b_.Op("Product", {x}, {100, 8});  // 3200 bytes
    const Value after = Gradient(x);
    const Value reshaped = b_.Op("Reshape", {product}, {800});
    for (const Value sum : {Sum(small), b_.Op("CrossReplicaSum", {reshaped}, {800}), Sum(after)})
      Update(sum);
    const Code code = Compile(1500, blocks);
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (const Instruction& instruction : code.instructions)
      rows.emplace_back(instruction.rows.begin, instruction.rows.end);
    std::vector<std::vector<int64_t>> buckets;
    for (const CollectiveBucket& bucket : code.segments[0].buckets)
      buckets.push_back({bucket.ready, bucket.offset, bucket.count,
                         static_cast<int64_t>(bucket.collectives.size())});
    if (!blocks) {
      EXPECT_THAT(rows, ElementsAre(Pair(0, 0), Pair(0, 0), Pair(0, 0)));
      EXPECT_THAT(buckets, ElementsAre(ElementsAre(2, 0, 1056, 2), ElementsAre(3, 4224, 256, 1)));
      continue;
    }
    // A third of the rows is rounded up to a multiple of 32.
    EXPECT_THAT(rows, ElementsAre(Pair(0, 0), Pair(0, 64), Pair(64, 100), Pair(0, 0)));
    EXPECT_THAT(buckets, ElementsAre(ElementsAre(2, 0, 256 + 512, 0), ElementsAre(3, 3072, 288, 2),
                                     ElementsAre(4, 4224, 256, 1)));
    EXPECT_EQ(code.instructions[1].outputs, code.instructions[2].outputs);
    EXPECT_EQ(code.segments[0].end, 4);
    EXPECT_EQ(plan_.bucket_bytes, 1024 + 3200 + 1024);
  }
}

TEST_F(BucketsTest, OtherSumsStayApart) {
  const Value x = b_.Feed({256});
  const Value read_twice = Gradient(x), fetched = Gradient(x), sum_is_fetched = Gradient(x);
  Update(Sum(read_twice));
  b_.Fetch(Gradient(read_twice));
  Update(Sum(fetched));
  b_.Fetch(fetched);
  b_.Fetch(Sum(sum_is_fetched));
  Update(Sum(x));  // a feed
  const Value groups = b_.Constant(Array::Of<int32_t>({1, 2}, {0, 1}));
  Update(b_.Op("CrossReplicaSum", {Gradient(x), groups}, {256}));
  const Value half = b_.Op("Gradient", {x}, {256}, {}, DType::kBfloat16);
  b_.Fetch(
      b_.Op("Gradient", {b_.Op("CrossReplicaSum", {half}, {256}, {}, DType::kBfloat16)}, {256}));
  const Code code = Compile(kBucketBytes);
  EXPECT_THAT(code.segments[0].buckets, IsEmpty());
  EXPECT_THAT(code.segments[0].collectives, SizeIs(6));
  EXPECT_EQ(plan_.bucket_bytes, 0);
}

TEST_F(BucketsTest, ABucketHasOneDtypeAndOneSegment) {
  const Value x = b_.Feed({256});
  const Value sum = Sum(Gradient(x));
  Update(sum);
  Update(Sum(Gradient(sum)));  // in the next segment
  const Value wide = b_.Op("Gradient", {x}, {256}, {}, DType::kFloat64);
  b_.Fetch(
      b_.Op("Gradient", {b_.Op("CrossReplicaSum", {wide}, {256}, {}, DType::kFloat64)}, {256}));
  const Code code = Compile(kBucketBytes);
  EXPECT_THAT(code.segments[0].buckets, SizeIs(2));
  EXPECT_THAT(code.segments[1].buckets, SizeIs(1));
  for (const CollectiveBucket& bucket : code.segments[0].buckets) {
    EXPECT_EQ(bucket.collectives[0].only_updates, false) << "the fetch and the next sum read them";
    EXPECT_EQ(bucket.collectives[0].spec.dtype, bucket.dtype);
  }
}

}  // namespace
}  // namespace estimator::ir
