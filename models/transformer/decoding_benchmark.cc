// Measures greedy decoding by a transformer with a cache, in Predict, and prints one line of JSON:
//
//   decoding_benchmark                             64 tokens by 2 layers of 32, batch 1
//   decoding_benchmark --batch_size=32 --hidden_size=64
//
// The variables are those after one training step, and no token ends a sequence.
// tools/peers/tf_decoding.py measures TensorFlow on the same network. docs/benchmarks.md has the
// figures. Fields:
//   tokens_per_second  of all examples of a batch
//   batch_ms           the time of a batch
//   batch_cpu_ms       the CPU time of a batch, of all threads together
#include <gflags/gflags.h>

#include <cstdint>
#include <utility>

#include "estimator/base/main.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_flags.h"
#include "models/common/benchmark_json.h"
#include "models/transformer/transformer.h"
#include "tpu/tpu_estimator.h"

DEFINE_int64(batch_size, 1, "examples in one batch");
DEFINE_int64(decode_length, 64, "tokens of a decoded sequence");
DEFINE_int64(input_length, 16, "tokens of an input");
DEFINE_int64(vocab_size, 1000, "different tokens");
DEFINE_int64(hidden_size, 32, "width of the network");
DEFINE_int64(num_layers, 2, "layers of the encoder, and of the decoder");
DEFINE_int64(num_heads, 4, "heads of an attention");
DEFINE_int64(filter_size, 128, "width of the feed forward layers");

namespace estimator::transformer {
namespace {

// The most likely tokens one after the other, i32 [N, decode_length].
Tensor GreedyTokens(const Tensor& inputs, const TransformerParams& params) {
  const Transformer network(params, /*is_training=*/false);
  const EncoderMemory memory = network.Encode(inputs);
  const int64_t batch_size = inputs.dim(0), length = FLAGS_decode_length;
  const seq2seq::BeamCache start = network.InitialCache(batch_size, length);
  // The loop variables: these, and then the tensors of the cache in the order of their names.
  enum LoopVariable { kIndex, kIds, kTokens, kCache };
  Tensors carried = {Constant(0), Zeros({batch_size, 1}, DType::kInt32),
                     TensorArray({DType::kInt32, {batch_size}}, length)};
  for (const auto& [name, tensor] : start) carried.push_back(tensor);
  const Tensors last = WhileLoop(
      [length](const Tensors& v) { return Less(v[kIndex], static_cast<int32_t>(length)); },
      [&](const Tensors& v) {
        seq2seq::BeamCache cache = start;
        size_t k = kCache;
        for (auto& [name, tensor] : cache) tensor = v[k++];
        const auto [logits, next] = network.NextLogits(v[kIds], v[kIndex], cache, memory);
        const Tensor ids = ArgMax(logits, 1, {.output_type = DType::kInt32});
        Tensors results = {v[kIndex] + 1, ExpandDims(ids, 1),
                           TensorArray(v[kTokens]).Write(v[kIndex], ids)};
        for (const auto& [name, tensor] : next) results.push_back(tensor);
        return results;
      },
      carried, {.maximum_iterations = length});
  return Transpose(last[kTokens]);
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const TransformerParams& params) {
  if (mode != Mode::kPredict) return TransformerModelFn(features, labels, mode, params);
  return tpu::TPUEstimatorSpec::Predict({{"tokens", GreedyTokens(features, params)}});
}

// One batch of random tokens, again and again.
Dataset SyntheticInput(int64_t batch_size, bool with_labels) {
  Philox philox(1);
  const auto tokens = [&] {
    Array array(DType::kInt32, {batch_size, FLAGS_input_length});
    for (int32_t& token : array.values<int32_t>()) {
      token =
          static_cast<int32_t>(2 + philox.Next4()[0] % static_cast<uint32_t>(FLAGS_vocab_size - 2));
    }
    return array;
  };
  Element batch{.features = tokens()};
  if (with_labels) batch.labels = tokens();
  return Dataset::FromTensors(std::move(batch)).Repeat();
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(
      RequireBenchmarkFlags({BatchRequirement("batch_size", FLAGS_batch_size),
                             {"decode_length", FLAGS_decode_length > 0, "positive"},
                             {"input_length", FLAGS_input_length > 0, "positive"},
                             {"vocab_size", FLAGS_vocab_size > 2, "more than 2"},
                             {"num_layers", FLAGS_num_layers > 0, "positive"},
                             {"num_heads", FLAGS_num_heads > 0, "positive"},
                             {"hidden_size",
                              FLAGS_hidden_size >= 4 && FLAGS_hidden_size % 2 == 0 &&
                                  FLAGS_num_heads > 0 && FLAGS_hidden_size % FLAGS_num_heads == 0,
                              "at least 4, even, and a multiple of --num_heads"},
                             {"filter_size", FLAGS_filter_size > 0, "positive"}}));
  TransformerParams params;
  params.vocab_size = FLAGS_vocab_size;
  params.hidden_size = FLAGS_hidden_size;
  params.num_hidden_layers = FLAGS_num_layers;
  params.num_heads = FLAGS_num_heads;
  params.filter_size = FLAGS_filter_size;
  tpu::TPUEstimator<TransformerParams> translator({.model_fn = ModelFn,
                                                   .config = RunConfigFromFlags(),
                                                   .params = params,
                                                   .use_tpu = FLAGS_use_tpu,
                                                   .train_batch_size = FLAGS_batch_size,
                                                   .predict_batch_size = FLAGS_batch_size});
  EST_RETURN_IF_ERROR(translator.Train(
      [](const TransformerParams& p) { return SyntheticInput(p.batch_size, true); }, MaxSteps(1)));
  Predictions predictions = translator.Predict(
      [](const TransformerParams& p) { return SyntheticInput(p.batch_size, false); });
  EST_ASSIGN_OR_RETURN(const MeasuredPredictions measured,
                       MeasurePredictions(predictions, FLAGS_batch_size));
  const auto count = static_cast<double>(measured.batches);
  PrintBenchmark(
      "decoding_benchmark",
      {{"batch_size", FLAGS_batch_size},
       {"decode_length", FLAGS_decode_length},
       {"input_length", FLAGS_input_length},
       {"vocab_size", FLAGS_vocab_size},
       {"hidden_size", FLAGS_hidden_size},
       {"num_layers", FLAGS_num_layers},
       {"num_heads", FLAGS_num_heads},
       {"filter_size", FLAGS_filter_size},
       {"use_tpu", static_cast<int64_t>(FLAGS_use_tpu)},
       {"input", "synthetic"}},
      {{"tokens_per_second",
        count * static_cast<double>(FLAGS_batch_size * FLAGS_decode_length) / measured.seconds},
       {"batch_ms", 1000 * measured.seconds / count},
       {"batch_cpu_ms", 1000 * measured.cpu_seconds / count},
       {"measured_batches", measured.batches},
       {"peak_rss_mib", PeakRssMib()}});
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::transformer

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures greedy decoding by a transformer and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::transformer::Run);
}
