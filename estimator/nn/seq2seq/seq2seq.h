// Sequence to sequence: attention, decoders, beam search and the loss (docs/seq2seq.md).
#ifndef ESTIMATOR_NN_SEQ2SEQ_SEQ2SEQ_H_
#define ESTIMATOR_NN_SEQ2SEQ_SEQ2SEQ_H_

#include "estimator/nn/seq2seq/attention.h"
#include "estimator/nn/seq2seq/attention_wrapper.h"
#include "estimator/nn/seq2seq/beam_search.h"
#include "estimator/nn/seq2seq/beam_search_decoder.h"
#include "estimator/nn/seq2seq/decoder.h"
#include "estimator/nn/seq2seq/helper.h"
#include "estimator/nn/seq2seq/sequence_loss.h"

#endif  // ESTIMATOR_NN_SEQ2SEQ_SEQ2SEQ_H_
