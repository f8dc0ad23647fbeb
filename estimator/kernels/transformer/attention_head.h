// One head of scaled dot-product attention, vectorised for the CPU at run time:
//   p = softmax(q k^T scale + bias),  d = mask ? p keep_scale : 0,  y = d v
// The scores stay in the L2 cache: they are computed for a block of queries at a time, and the
// gradient computes them again.
#ifndef ESTIMATOR_KERNELS_TRANSFORMER_ATTENTION_HEAD_H_
#define ESTIMATOR_KERNELS_TRANSFORMER_ATTENTION_HEAD_H_

#include <cstddef>
#include <cstdint>

namespace estimator::transformer {

struct HeadSizes {
  int64_t queries = 0;   // rows of q and y
  int64_t keys = 0;      // rows of k and v
  int64_t size = 0;      // columns of q, k, v and y
  int64_t stride = 0;    // floats from a row of q, k, v or y to the next
  float scale = 1;       // of the products of queries and keys
  float keep_scale = 1;  // of the probabilities that the mask keeps
};

// What is added to the scores, and which probabilities are kept.
struct HeadMasks {
  const float* bias = nullptr;    // [queries or 1, keys]; null: nothing is added
  int64_t bias_stride = 0;        // floats from a row of bias to the next; 0: one row for all
  const uint8_t* mask = nullptr;  // bool [queries, keys]; null: all are kept
};

// The number of floats that the functions below need as scratch, 64-byte aligned.
size_t AttentionScratch(const HeadSizes& sizes);

// Writes y.
void AttentionHead(const HeadSizes& sizes, const float* q, const float* k, const float* v,
                   const HeadMasks& masks, float* scratch, float* y);

// Writes the gradients dq, dk and dv from dy, all with the stride of q.
void AttentionHeadGrad(const HeadSizes& sizes, const float* dy, const float* q, const float* k,
                       const float* v, const HeadMasks& masks, float* scratch, float* dq, float* dk,
                       float* dv);

}  // namespace estimator::transformer

#endif  // ESTIMATOR_KERNELS_TRANSFORMER_ATTENTION_HEAD_H_
