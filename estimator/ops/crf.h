// Linear-chain conditional random fields: tags of sequences whose probability also depends on
// neighbouring tags. They consist of ops that exist, about 10 for each step, so that their graphs
// can be exported and differentiated.
//
// In each function:
//   inputs: f32 or f64 [B,T,K], the score of each tag in each step.
//   tag_indices: i32 or i64 [B,T], in [0, K).  sequence_lengths: i32 or i64 [B].
//   transition_params: [K,K], the score of tag j after tag i at [i,j].
// Steps after a length are not read. A length of 0 or less has the score and the norm 0, and one
// above T is T.
// Errors: INVALID_ARGUMENT for other types; in a step, if a tag is out of range.
// Source: tf.contrib.crf of TF 1.15, which became tensorflow_addons.text.crf.
#ifndef ESTIMATOR_OPS_CRF_H_
#define ESTIMATOR_OPS_CRF_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The score of the given tags: the sum of their scores and of the transitions between them, [B].
Tensor CrfSequenceScore(const Tensor& inputs, const Tensor& tag_indices,
                        const Tensor& sequence_lengths, const Tensor& transition_params,
                        StringArg name = "crf_sequence_score");
// The logarithm of the sum of the exponentials of the scores of all tags, [B].
Tensor CrfLogNorm(const Tensor& inputs, const Tensor& sequence_lengths,
                  const Tensor& transition_params, StringArg name = "crf_log_norm");

struct CrfLogLikelihoodResult {
  Tensor log_likelihood;  // [B]: of the tags
  Tensor transition_params;
};
// CrfSequenceScore - CrfLogNorm. The loss is its negative mean.
//   transition_params: none: the variable `transitions` of the current scope.
CrfLogLikelihoodResult CrfLogLikelihood(const Tensor& inputs, const Tensor& tag_indices,
                                        const Tensor& sequence_lengths,
                                        const Tensor& transition_params = {},
                                        StringArg name = "crf_log_likelihood");

struct CrfDecodeResult {
  Tensor decode_tags;  // i32 [B,T]; 0 after the length
  Tensor best_score;   // [B]
};
// The tags with the highest score, by Viterbi's algorithm. A length below 1 counts as 1. No
// gradient flows through the tags.
CrfDecodeResult CrfDecode(const Tensor& potentials, const Tensor& transition_params,
                          const Tensor& sequence_length, StringArg name = "crf_decode");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CRF_H_
