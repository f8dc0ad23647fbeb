#include "estimator/data/transforms/prefetch_buffer_size.h"

#include <gtest/gtest.h>

#include "estimator/data/pipeline/dataset_options.h"

namespace estimator {
namespace {

Element OfBytes(int64_t bytes) { return {.features = Array(DType::kUint8, {bytes}), .labels = {}}; }

// The consumer finds the buffer full, and then empty.
void Drain(PrefetchBufferSize& size, const Element& element) {
  size.BeforeTake(size.value(), &element);
  size.BeforeTake(0, nullptr);
}

TEST(PrefetchBufferSize, IsFixedWithoutAutotune) {
  PrefetchBufferSize size(3);
  for (int i = 0; i < 5; ++i) Drain(size, OfBytes(1));
  EXPECT_EQ(size.value(), 3);
}

TEST(PrefetchBufferSize, DoublesWhenAFullBufferWasEmptied) {
  PrefetchBufferSize size(kAutotune);
  EXPECT_EQ(size.value(), 1);
  const Element element = OfBytes(10);
  for (const int64_t expected : {2, 4, 8, 16, 32, 64, 128, 256, 384, 512}) {
    Drain(size, element);
    EXPECT_EQ(size.value(), expected);
  }
}

TEST(PrefetchBufferSize, StaysIfTheInputIsAlwaysSlowerOrAlwaysFaster) {
  PrefetchBufferSize slower(kAutotune);
  for (int i = 0; i < 10; ++i) slower.BeforeTake(0, nullptr);
  EXPECT_EQ(slower.value(), 1) << "it was never full";
  PrefetchBufferSize faster(kAutotune);
  const Element element = OfBytes(10);
  for (int i = 0; i < 10; ++i) faster.BeforeTake(1, &element);
  EXPECT_EQ(faster.value(), 1) << "it was never empty";
}

TEST(PrefetchBufferSize, DoesNotExceedItsBytes) {
  PrefetchBufferSize size(kAutotune);
  const Element element = OfBytes(PrefetchBufferSize::kMostBytes / 4);
  for (int i = 0; i < 10; ++i) Drain(size, element);
  EXPECT_EQ(size.value(), 4);
}

}  // namespace
}  // namespace estimator
