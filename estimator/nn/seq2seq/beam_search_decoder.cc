#include "estimator/nn/seq2seq/beam_search_decoder.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/nn/seq2seq/beams.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/functional.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/search.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::seq2seq {

using rnn_cell::State;

Tensor TileBatch(const Tensor& x, int64_t multiplier) {
  if (!layers::CheckRank(x, "tile_batch", 1, 64) ||
      !layers::CheckPositive(multiplier, "tile_batch", "multiplier"))
    return layers::InvalidLike(x);
  std::vector<int64_t> multiples(x.rank() + 1, 1);
  multiples[1] = multiplier;
  Shape shape = x.shape();
  shape.set_dim(0, x.dim(0) * multiplier);
  return Reshape(Tile(ExpandDims(x, 1), multiples), shape, "tile_batch");
}

State TileBatch(const State& state, int64_t multiplier) {
  return state.Map([&](const Tensor& x, int, bool) { return TileBatch(x, multiplier); });
}

Tensor GatherTree(const Tensor& step_ids, const Tensor& parent_ids,
                  const Tensor& max_sequence_lengths, int64_t end_token) {
  Graph& graph = GraphFor({step_ids, parent_ids, max_sequence_lengths});
  if (!step_ids.valid() || !parent_ids.valid() || !max_sequence_lengths.valid())
    return Tensor(&graph, nullptr, 0);
  if (step_ids.rank() != 3 || step_ids.spec() != parent_ids.spec() ||
      max_sequence_lengths.shape() != Shape{step_ids.dim(1)}) {
    return graph.Fail(InvalidArgument(
        "gather_tree: step_ids are ", step_ids.spec().ToString(), ", parent_ids ",
        parent_ids.spec().ToString(), " and max_sequence_lengths ",
        max_sequence_lengths.spec().ToString(), "; they must be i32 [T,N,B] twice, and i32 [N]"));
  }
  const NameScope scope("gather_tree");
  const int64_t num_steps = step_ids.dim(0), batch_size = step_ids.dim(1),
                beam_width = step_ids.dim(2);
  const Tensor counts = Less(Reshape(Range(num_steps), Shape{num_steps, 1, 1}),
                             Reshape(max_sequence_lengths, Shape{1, batch_size, 1}));
  const Tensor own = BroadcastTo(Range(beam_width), {batch_size, beam_width});
  const Tensor ids = Scan(
      [&](const Tensors& acc, const Tensors& row) {
        const Tensor& beam = acc[0];
        const Tensor id = GatherBeams(row[0], beam), parent = GatherBeams(row[1], beam);
        return Tensors{Where(row[2], parent, beam), Where(row[2], id, end_token)};
      },
      {step_ids, parent_ids, counts}, {own, ZerosLike(own)}, {.reverse = true})[1];
  const Tensor ends = Cast(Equal(ids, end_token), DType::kInt32);
  return Where(Greater(Cumsum(ends, 0, {.exclusive = true}), 0), end_token, ids);
}

BeamSearchDecoderState::operator State() const {
  return std::vector<State>{cell_state, log_probs, finished, lengths};
}

BeamSearchDecoder::BeamSearchDecoder(rnn_cell::Cell cell, EmbeddingFn embedding,
                                     const Tensor& start_tokens, int64_t end_token,
                                     State initial_state, BeamSearchDecoderOptions options)
    : cell_(std::move(cell)),
      embedding_(std::move(embedding)),
      start_tokens_(start_tokens),
      end_token_(end_token),
      initial_state_(std::move(initial_state)),
      options_(std::move(options)) {
  if (!start_tokens.valid() ||
      !layers::CheckPositive(options_.beam_width, "beam_search_decoder", "beam_width"))
    return;
  Graph& graph = *start_tokens.graph();
  if (start_tokens.dtype() != DType::kInt32 || start_tokens.rank() != 1) {
    start_tokens_ =
        graph.Fail(InvalidArgument("beam_search_decoder: start_tokens are ",
                                   start_tokens.spec().ToString(), ", but must be i32 [N]"));
    return;
  }
  const int64_t num_beams = start_tokens.dim(0) * options_.beam_width;
  for (const Tensor& part : initial_state_.Flatten()) {
    if (!part.valid() || part.rank() == 0 || part.dim(0) == num_beams) continue;
    start_tokens_ = graph.Fail(InvalidArgument(
        "beam_search_decoder: the initial state has ", part.spec().ToString(), " for ",
        start_tokens.dim(0), " examples with ", options_.beam_width, " beams; its batch must be ",
        num_beams, ": use TileBatch(state, beam_width)"));
    return;
  }
}

Tensor BeamSearchDecoder::Embed(const Tensor& ids) const {
  return embedding_(Reshape(ids, Shape{-1}));
}

DecoderStart BeamSearchDecoder::Initialize() const {
  if (!start_tokens_.valid() || options_.beam_width <= 0) {
    const Tensor invalid = layers::InvalidLike(start_tokens_);
    return {invalid, invalid, BeamSearchDecoderState(initial_state_, invalid, invalid, invalid)};
  }
  const int64_t batch_size = start_tokens_.dim(0), beam_width = options_.beam_width;
  const Shape beams{batch_size, beam_width};
  const Tensor first = Zeros({batch_size}, DType::kInt32);
  // All beams are equal, so only the first one counts before the first time step.
  const Tensor is_first = OneHot(first, beam_width, {.dtype = DType::kBool});
  const BeamSearchDecoderState state(
      initial_state_, Where(is_first, Zeros(beams), -std::numeric_limits<float>::infinity()),
      LogicalNot(is_first), Zeros(beams, DType::kInt32));
  return {state.finished, Embed(TileBatch(start_tokens_, beam_width)), state};
}

DecoderStep BeamSearchDecoder::Step(const Tensor&, const Tensor& inputs, const State& state) const {
  const BeamSearchDecoderState now(state);
  const int64_t batch_size = start_tokens_.dim(0), beam_width = options_.beam_width;
  auto [logits, cell_state] = cell_(inputs, now.cell_state);
  if (options_.output_layer) logits = options_.output_layer(logits);
  if (!logits.valid()) return {{logits, logits, logits}, state, logits, logits};
  const int64_t num_tokens = logits.dim(-1);
  const Shape beams{batch_size, beam_width};

  // The only continuation of a beam that is over is the end token, with probability 1.
  const Tensor finished = ExpandDims(now.finished, 2);
  const Tensor is_end = Equal(Range(num_tokens), end_token_);
  const Tensor log_probs =
      Cast(LogSoftmax(Reshape(logits, Shape{batch_size, beam_width, num_tokens})), DType::kFloat32);
  const Tensor of_finished =
      Where(is_end, Zeros({num_tokens}), std::numeric_limits<float>::lowest());
  const Tensor total = Where(finished, of_finished, log_probs) + ExpandDims(now.log_probs, 2);
  Tensor scores = total;
  if (options_.length_penalty_weight != 0) {
    const Tensor added = Cast(LogicalNot(LogicalOr(finished, is_end)), DType::kFloat32);
    const Tensor lengths = ExpandDims(Cast(now.lengths, DType::kFloat32), 2) + added;
    const double weight = options_.length_penalty_weight;
    scores = total / (Pow(lengths + 5.0f, weight) / std::pow(6.0, weight));
  }
  const auto [next_scores, indices] =
      TopK(Reshape(scores, Shape{batch_size, beam_width * num_tokens}), beam_width);
  const Tensor ids = FloorMod(indices, num_tokens), parents = FloorDiv(indices, num_tokens);

  const Tensor was_finished = GatherBeams(now.finished, parents);
  const Tensor next_lengths =
      GatherBeams(now.lengths, parents) + Cast(LogicalNot(was_finished), DType::kInt32);
  const BeamSearchDecoderState next(
      cell_state.Map([&](const Tensor& part, int, bool) {
        return part.valid() && part.rank() > 0 ? GatherFlatBeams(part, parents, beam_width) : part;
      }),
      Gather(Reshape(total, Shape{batch_size, beam_width * num_tokens}), indices,
             {.axis = 1, .batch_dims = 1}),
      LogicalOr(was_finished, Equal(ids, end_token_)), next_lengths);
  return {{next_scores, ids, parents}, next, Embed(ids), next.finished};
}

Tensors BeamSearchDecoder::Finalize(const Tensors& outputs, const State& state) const {
  const Tensor &scores = outputs[0], &ids = outputs[1], &parents = outputs[2];
  const Tensor lengths = ReduceMax(BeamSearchDecoderState(state).lengths, 1);
  return {GatherTree(ids, parents, lengths, end_token_), scores, ids, parents};
}

DynamicDecodeResult<FinalBeamSearchDecoderOutput> DynamicDecode(
    const BeamSearchDecoder& decoder, const DynamicDecodeOptions& options) {
  auto [outputs, state, lengths] = DynamicDecode(static_cast<const Decoder&>(decoder), options);
  return {{outputs[0], {outputs[1], outputs[2], outputs[3]}}, state, lengths};
}

}  // namespace estimator::seq2seq
