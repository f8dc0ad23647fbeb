#include "estimator/nn/seq2seq/beam_search.h"

#include <cmath>
#include <limits>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/nn/seq2seq/beam_search_decoder.h"
#include "estimator/nn/seq2seq/beams.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/search.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"
#include "estimator/ops/softmax.h"
#include "estimator/ops/while_loop.h"

namespace estimator::seq2seq {
namespace {

// Less than every score, but finite: it can be multiplied by 0.
constexpr double kLowestScore = -1e7;

// The loop variables: these, and then the tensors of the cache in the order of their names.
enum SearchVariable { kIndex, kAlive, kAliveLogProbs, kDone, kDoneScores, kDoneFlags, kCache };

// kLowestScore where the flag is false.
Tensor LowestUnless(const Tensor& flags) {
  return Where(flags, Zeros(flags.shape()), kLowestScore);
}

class Search {
 public:
  Search(const SymbolsToLogitsFn& fn, const BeamSearchOptions& options, const BeamCache& cache,
         int64_t batch_size)
      : fn_(fn), options_(options), cache_(cache), batch_size_(batch_size) {}

  Tensors Start(const Tensor& initial_ids) const {
    const int64_t num_beams = options_.beam_size;
    const Shape beams{batch_size_, num_beams};
    // All beams are equal, so only the first one counts before the first step.
    const Tensor is_first = Equal(BroadcastTo(Range(num_beams), beams), 0);
    const Tensor alive =
        Reshape(TileBatch(initial_ids, num_beams), Shape{batch_size_, num_beams, 1});
    Tensors start = {Constant(0, "i"),
                     Pad(alive, {{0, 0}, {0, 0}, {0, options_.max_decode_length}}),
                     Where(is_first, Zeros(beams), -std::numeric_limits<float>::infinity()),
                     Zeros({batch_size_, num_beams, options_.max_decode_length + 1}, DType::kInt32),
                     Fill(beams, Constant(static_cast<float>(kLowestScore))),
                     Zeros(beams, DType::kBool)};
    for (const auto& [name, tensor] : cache_) start.push_back(TileBatch(tensor, num_beams));
    return start;
  }

  // Whether an unfinished sequence can still become better than a finished one.
  Tensor Continues(const Tensors& v) const {
    const double longest = LengthNorm(options_.max_decode_length);
    const Tensor best_alive = Squeeze(Slice(v[kAliveLogProbs], {0, 0}, {-1, 1}), {1}) / longest;
    const Tensor scores = Where(v[kDoneFlags], v[kDoneScores], 0);
    const Tensor worst_done = ReduceMin(scores, 1) + LowestUnless(ReduceAny(v[kDoneFlags], 1));
    return LogicalNot(ReduceAll(Greater(worst_done, best_alive)));
  }

  Tensors Step(const Tensors& v) const {
    const int64_t num_beams = options_.beam_size, vocab_size = options_.vocab_size;
    const Tensor next = v[kIndex] + 1;
    const Tensor positions = Range(options_.max_decode_length + 1);
    const Tensor last = ReduceSum(Where(Equal(positions, v[kIndex]), v[kAlive], 0), 2);
    BeamCache cache;
    size_t k = kCache;
    for (const auto& [name, tensor] : cache_) cache[name] = v[k++];
    const SymbolsToLogits result = fn_(Reshape(last, Shape{-1, 1}), v[kIndex], cache);
    if (!Check(result)) return {};

    // Twice as many candidates as beams: even if half of them end, the beams are full.
    const Tensor log_probs =
        Cast(LogSoftmax(Reshape(result.logits, Shape{batch_size_, num_beams, vocab_size})),
             DType::kFloat32) +
        ExpandDims(v[kAliveLogProbs], 2);
    const auto [new_log_probs, indices] =
        TopK(Reshape(log_probs, Shape{batch_size_, num_beams * vocab_size}), 2 * num_beams);
    const Tensor ids = FloorMod(indices, vocab_size), parents = FloorDiv(indices, vocab_size);
    const Tensor sequences =
        Where(Equal(positions, next), ExpandDims(ids, 2), GatherBeams(v[kAlive], parents));
    const Tensor ends = Equal(ids, options_.eos_id);

    const auto [alive_log_probs, alive] =
        TopK(new_log_probs + LowestUnless(LogicalNot(ends)), num_beams);
    const Tensor norm = Pow((Cast(next, DType::kFloat32) + 5.0f) / 6.0f, options_.alpha);
    const Tensor scores = Concat({v[kDoneScores], new_log_probs / norm + LowestUnless(ends)}, 1);
    const auto [done_scores, done] = TopK(scores, num_beams);
    Tensors results = {next,
                       GatherBeams(sequences, alive),
                       alive_log_probs,
                       GatherBeams(Concat({v[kDone], sequences}, 1), done),
                       done_scores,
                       GatherBeams(Concat({v[kDoneFlags], ends}, 1), done)};
    const Tensor alive_parents = GatherBeams(parents, alive);
    for (const auto& [name, tensor] : result.cache)
      results.push_back(GatherFlatBeams(tensor, alive_parents, num_beams));
    return results;
  }

 private:
  double LengthNorm(int64_t length) const {
    return std::pow((5.0 + static_cast<double>(length)) / 6.0, options_.alpha);
  }

  bool Check(const SymbolsToLogits& result) const {
    Graph& graph = Graph::Current();
    const Shape expected{batch_size_ * options_.beam_size, options_.vocab_size};
    if (!result.logits.valid()) return false;
    if (result.logits.shape() != expected) {
      graph.Fail(InvalidArgument("beam_search: the logits are ", result.logits.spec().ToString(),
                                 ", but must be ", expected.ToString(),
                                 ": [N * beam_size, vocab_size]"));
      return false;
    }
    for (const auto& [name, tensor] : cache_) {
      if (result.cache.count(name) > 0 && result.cache.size() == cache_.size()) continue;
      graph.Fail(InvalidArgument("beam_search: the cache begins with ", cache_.size(),
                                 " tensors, '", name, "' among them, and symbols_to_logits_fn ",
                                 "returns ", result.cache.size(), "; both need the same names"));
      return false;
    }
    return true;
  }

  const SymbolsToLogitsFn& fn_;
  const BeamSearchOptions& options_;
  const BeamCache& cache_;
  const int64_t batch_size_;
};

}  // namespace

BeamSearchResult BeamSearch(const SymbolsToLogitsFn& symbols_to_logits_fn,
                            const Tensor& initial_ids, const BeamCache& initial_cache,
                            const BeamSearchOptions& options) {
  const NameScope scope("beam_search");
  const Tensor invalid = layers::InvalidLike(initial_ids);
  for (const auto& [value, name] : {std::pair{options.vocab_size - 1, "vocab_size - 1"},
                                    std::pair{options.beam_size, "beam_size"},
                                    std::pair{options.max_decode_length, "max_decode_length"}}) {
    if (!layers::CheckPositive(value, "beam_search", name)) return {invalid, invalid};
  }
  if (!layers::CheckRank(initial_ids, "beam_search", 1, 1)) return {invalid, invalid};
  if (initial_ids.dtype() != DType::kInt32) {
    const Tensor failed = initial_ids.graph()->Fail(InvalidArgument(
        "beam_search: initial_ids are ", initial_ids.spec().ToString(), ", but must be i32 [N]"));
    return {failed, failed};
  }
  const Search search(symbols_to_logits_fn, options, initial_cache, initial_ids.dim(0));
  const Tensors last =
      WhileLoop([&](const Tensors& v) { return search.Continues(v); },
                [&](const Tensors& v) { return search.Step(v); }, search.Start(initial_ids),
                {.maximum_iterations = options.max_decode_length});
  const Tensor any_done = ReduceAny(last[kDoneFlags], 1, {.keepdims = true});
  return {Where(ExpandDims(any_done, 2), last[kDone], last[kAlive]),
          Where(any_done, last[kDoneScores], last[kAliveLogProbs])};
}

}  // namespace estimator::seq2seq
