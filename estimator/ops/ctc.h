// Connectionist temporal classification: the loss of label sequences without an alignment to the
// steps of a network, and decoders.
//
// A network gives a distribution over C classes in each step. One class is the blank. A path of one
// class per step stands for the labels that are left when repeated classes are merged and blanks
// are removed. TensorFlow has SparseTensors of labels; here labels are padded and have lengths.
#ifndef ESTIMATOR_OPS_CTC_H_
#define ESTIMATOR_OPS_CTC_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

struct CtcLossOptions {
  bool logits_time_major = true;  // logits are [T,B,C], else [B,T,C]
  // The class of the blank; below 0: C + blank_index. tf.compat.v1.nn.ctc_loss has -1.
  int64_t blank_index = 0;
  bool preprocess_collapse_repeated = false;  // merges equal labels that follow each other
  bool ctc_merge_repeated = true;             // false: classes of paths are not merged
  // The loss and the gradient of an example with more labels than steps are 0; false: an error.
  bool ignore_longer_outputs_than_inputs = false;
  std::string name = "ctc_loss";
};
// -log of the probability of the labels of each example: of all paths that stand for them.
//   labels: i32 or i64 [B,L], in [0, C) without the blank. Values after a length are not read.
//   label_length: i32 or i64 [B], in [0, L].  logit_length: the same, in [0, T].
//   logits: f32 or f64 [T,B,C].  Returns the same type, [B].
// An example of length 0 has the loss 0. If there are at least as many steps as labels, but no
// path, because equal labels need a blank between them, the loss is infinite.
// Errors: INVALID_ARGUMENT for other types; in a step, if a label or a length is out of range, or
// if an example has more labels than steps.
// Source: TF 2.15 tf.nn.ctc_loss, tf.compat.v1.nn.ctc_loss.
Tensor CtcLoss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
               const Tensor& logit_length, const CtcLossOptions& options = {});

struct CtcDecoded {
  Tensor ids;     // i64 [B,T], or [B,paths,T]; -1 after the length
  Tensor length;  // i32 [B], or [B,paths]
  // f32. Greedy decoder: neg_sum_logits [B], the sum of -max(logits) over the steps. Beam search:
  // log_probability [B,paths] of the labels.
  Tensor score;
};
struct CtcGreedyDecoderOptions {
  bool merge_repeated = true;
  int64_t blank_index = -1;  // below 0: C + blank_index
  std::string name = "ctc_greedy_decoder";
};
// The labels of the likeliest path.
//   inputs: logits, floating [T,B,C].  sequence_length: i32 or i64 [B], in [0, T].
// No gradient flows through the decoders. Errors: INVALID_ARGUMENT for other types; in a step, if a
// length is out of range.
// Source: TF 2.15 tf.nn.ctc_greedy_decoder.
CtcDecoded CtcGreedyDecoder(const Tensor& inputs, const Tensor& sequence_length,
                            const CtcGreedyDecoderOptions& options = {});

struct CtcBeamSearchDecoderOptions {
  int64_t beam_width = 100;  // the number of label sequences that are kept after each step
  int64_t top_paths = 1;     // the number of results, at most beam_width
  // Leaves out labels that equal the one before them. tf.compat.v1.nn.ctc_beam_search_decoder has
  // true, which loses double letters.
  bool merge_repeated = false;
  std::string name = "ctc_beam_search_decoder";
};
// The likeliest labels that a beam search finds, the likeliest first. The blank is class C - 1.
//   inputs: logits, f32 or f64 [T,B,C].  sequence_length: i32 or i64 [B], in [0, T].
// Errors: as above; in a step, if an example has fewer than top_paths label sequences.
// Source: TF 2.15 tf.nn.ctc_beam_search_decoder, tf.compat.v1.nn.ctc_beam_search_decoder.
CtcDecoded CtcBeamSearchDecoder(const Tensor& inputs, const Tensor& sequence_length,
                                const CtcBeamSearchDecoderOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CTC_H_
