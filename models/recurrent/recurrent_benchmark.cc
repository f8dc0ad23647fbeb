// Measures the training of a recurrent language model on words that are drawn once, and prints one
// line of JSON:
//
//   recurrent_benchmark --use_tpu=false                     LSTM, 2 x 256 units, 128 time steps
//   recurrent_benchmark --use_tpu=false --cell=gru --batch_size=64
//
// An embedding, the recurrent layers, a dense layer at every time step, softmax cross entropy over
// the words, and Momentum. docs/performance.md describes the fields.
#include <gflags/gflags.h>

#include <vector>

#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_flags.h"
#include "tpu/tpu_estimator.h"

DEFINE_int64(batch_size, 32, "sequences in one step; on replicas: over all of them");
DEFINE_string(cell, "lstm", "lstm or gru");
DEFINE_int64(num_layers, 2, "recurrent layers");
DEFINE_int64(num_units, 256, "units of a layer, and the size of the embedding of a word");
DEFINE_int64(time_steps, 128, "words of a sequence");
DEFINE_int64(vocab_size, 1000, "different words");
DEFINE_bool(unroll, false, "unroll the time steps into the graph, instead of one op for a layer");

namespace estimator {
namespace {

struct BenchmarkParams : tpu::Params {
  DType compute_dtype = DType::kFloat32;
};

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode,
                              const BenchmarkParams& params) {
  const Tensor table = GetVariable("embeddings", {FLAGS_vocab_size, FLAGS_num_units});
  const Tensor words = Gather(table, features["words"]);  // [N, T, num_units]
  std::vector<rnn_cell::Cell> cells;
  for (int64_t layer = 0; layer < FLAGS_num_layers; ++layer) {
    cells.push_back(FLAGS_cell == "gru" ? rnn_cell::Cell(rnn_cell::GRUCell(FLAGS_num_units))
                                        : rnn_cell::LSTMCell(FLAGS_num_units));
  }
  const DynamicRnnResult network = DynamicRnn(
      rnn_cell::MultiRNNCell(cells), Cast(words, params.compute_dtype), {.unroll = FLAGS_unroll});
  const Tensor logits = layers::Dense(network.outputs, {.units = FLAGS_vocab_size});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Cast(logits, DType::kFloat32));
  return TrainByMomentum(loss, 0.1, params.use_tpu);
}

// One batch of random words, again and again. The label of a word is the next one.
Dataset SyntheticInput(const BenchmarkParams& params) {
  const int64_t batch_size = params.batch_size, steps = FLAGS_time_steps;
  Array words(DType::kInt32, {batch_size, steps}), labels(DType::kInt32, {batch_size, steps});
  uint64_t state = 1;
  for (int64_t n = 0; n < batch_size; ++n) {
    for (int64_t t = 0; t <= steps; ++t) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto word =
          static_cast<int32_t>((state >> 33) % static_cast<uint64_t>(FLAGS_vocab_size));
      if (t < steps) words.data<int32_t>()[n * steps + t] = word;
      if (t > 0) labels.data<int32_t>()[n * steps + t - 1] = word;
    }
  }
  return Dataset::FromTensors({.features = {{"words", words}}, .labels = labels}).Repeat();
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(
      RequireBenchmarkFlags({BatchRequirement("batch_size", FLAGS_batch_size),
                             {"cell", FLAGS_cell == "lstm" || FLAGS_cell == "gru", "lstm or gru"},
                             {"num_layers", FLAGS_num_layers > 0, "positive"},
                             {"num_units", FLAGS_num_units > 0, "positive"},
                             {"time_steps", FLAGS_time_steps > 0, "positive"},
                             {"vocab_size", FLAGS_vocab_size > 0, "positive"}}));
  BenchmarkParams params;
  params.compute_dtype = ActivationDTypeFromFlags();
  return RunTrainingBenchmark<BenchmarkParams>(
      {.program = "recurrent_benchmark",
       .unit = "sequences",
       .model_fn = ModelFn,
       .params = params,
       .batch_size = FLAGS_batch_size,
       .input = SyntheticInput,
       .run = {{"cell", FLAGS_cell},
               {"num_layers", FLAGS_num_layers},
               {"num_units", FLAGS_num_units},
               {"time_steps", FLAGS_time_steps},
               {"vocab_size", FLAGS_vocab_size},
               {"unroll", static_cast<int64_t>(FLAGS_unroll)}}});
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of an LSTM or GRU and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::Run);
}
