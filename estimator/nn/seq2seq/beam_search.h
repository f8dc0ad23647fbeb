// The beam search of the official transformer and of tensor2tensor: one loop, with a cache.
#ifndef ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_H_
#define ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "estimator/graph/tensor.h"

namespace estimator::seq2seq {

// Tensors [N, ...] by name, such as the keys and values of each layer's attention.
using BeamCache = std::map<std::string, Tensor>;

struct SymbolsToLogits {
  Tensor logits;    // [N * B, vocab_size], floating
  BeamCache cache;  // with the names and types that came in
};
// The logits of the next token, in the body of a loop.
//   ids: i32 [N * B, 1], the last token.  i: i32 [], its position.
//   cache: tensors [N * B, ...]. What depends on earlier tokens belongs into it.
using SymbolsToLogitsFn =
    std::function<SymbolsToLogits(const Tensor& ids, const Tensor& i, const BeamCache& cache)>;

struct BeamSearchOptions {
  int64_t vocab_size = 0;         // required
  int64_t beam_size = 0;          // required
  double alpha = 0.6;             // how much longer sequences are preferred; 0: not at all
  int64_t max_decode_length = 0;  // required: T, without the initial token
  int64_t eos_id = 1;             // ends a sequence
};

struct BeamSearchResult {
  Tensor ids;     // i32 [N, B, T + 1]: begins with the initial token, and 0 after eos_id
  Tensor scores;  // f32 [N, B], in descending order
};

// The best sequences of each example. The score of a finished one is its log probability divided
// by ((5 + length) / 6)^alpha. The search ends before T when no unfinished sequence can become
// better than the finished ones. An example without a finished sequence has its unfinished ones,
// with their log probabilities as scores.
//   initial_ids: i32 [N].  initial_cache: [N, ...] each; the search makes the beams.
// Errors (kept by the graph): INVALID_ARGUMENT naming an option that is not positive, ids that are
// not i32 [N], logits of another shape, or a name that is in only one of the caches.
// Source: official/nlp/modeling/ops/beam_search.py of tensorflow/models 2.15. ids are padded as
// without padded_decode, which pads with the initial token. tensor2tensor has the same scores.
BeamSearchResult BeamSearch(const SymbolsToLogitsFn& symbols_to_logits_fn,
                            const Tensor& initial_ids, const BeamCache& initial_cache,
                            const BeamSearchOptions& options);

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_H_
