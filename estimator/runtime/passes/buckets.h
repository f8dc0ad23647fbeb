// Make buckets: groups the sums of gradients for exchange between processes. A process can send a
// bucket as soon as its last gradient is computed, while the step computes those of other layers.
//
// Buckets are made in the order in which gradients are computed, from values of one dtype, and end
// when they have kBucketBytes. So all processes have the same buckets and agree on nothing at run
// time. A sum is in a bucket if it is over all replicas, and if nothing else reads its operand:
// then operand and result are the same memory.
//
// A larger gradient is computed in blocks of rows, if its kernel can do that. Each block is sent
// while the next one is computed.
#ifndef ESTIMATOR_RUNTIME_PASSES_BUCKETS_H_
#define ESTIMATOR_RUNTIME_PASSES_BUCKETS_H_

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

// Large enough that the time of a call does not count; small enough that the first is soon sent.
inline constexpr int64_t kBucketBytes = int64_t{4} << 20;

// Sets schedule.buckets. Also moves gradients in the order of their segments: each is computed as
// soon as its operands are, so before the gradient of the layer's input.
//   blocks: whether gradients may be computed in blocks.
// REQUIRES: kernels are selected.
void MakeBuckets(const Module& module, Schedule& schedule, bool blocks,
                 int64_t bucket_bytes = kBucketBytes);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_BUCKETS_H_
