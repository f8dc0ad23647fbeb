// Scores of generated sentences, computed on the host: BLEU and ROUGE.
//   labels, predictions: i32 or i64, [N, L] and [N, M]: the tokens of one reference and of one
//     sentence for each example. A sentence ends before the first token of TextOptions::end_ids.
// Errors (kept by the graph): INVALID_ARGUMENT if the tensors are not such tokens.
#ifndef ESTIMATOR_NN_METRICS_TEXT_H_
#define ESTIMATOR_NN_METRICS_TEXT_H_

#include <cstdint>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

struct BleuOptions {
  std::vector<int64_t> end_ids = {0};  // padding, and the end of a sentence if it has a token
  int64_t max_order = 4;               // the longest n-grams; > 0
  bool smooth = false;                 // adds 1 to matches and n-grams of each order (Lin and Och)
};
// The BLEU score of the whole corpus, in [0, 1]: the geometric mean of the precisions of n-grams of
// 1 to max_order tokens, times exp(1 - reference length / length) if the sentences are shorter.
// Without smoothing, it is 0 if some order has no match.
// Source: Papineni et al. 2002; compute_bleu of tensorflow/nmt.
Metric Bleu(const Tensor& labels, const Tensor& predictions, const BleuOptions& options = {});

struct RougeOptions {
  std::vector<int64_t> end_ids = {0};  // as in BleuOptions
};
// The mean over examples of the F1 score of n-grams (ROUGE-N), or of the longest common subsequence
// (ROUGE-L), in [0, 1]. An example without a match counts as 0.
// Source: Lin 2004; fmeasure of google-research/rouge without stemming.
Metric RougeN(const Tensor& labels, const Tensor& predictions, int64_t n,
              const RougeOptions& options = {});
Metric RougeL(const Tensor& labels, const Tensor& predictions, const RougeOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_TEXT_H_
