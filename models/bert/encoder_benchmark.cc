// Measures the training of a transformer encoder on random tokens, and prints one line of JSON:
//
//   encoder_benchmark --use_tpu=false                             batch 32, 4 layers of 256, f32
//   encoder_benchmark --use_tpu=false --compute_dtype=bfloat16
//
// tools/peers/tf_encoder.py measures TensorFlow on the same network. docs/performance.md describes
// the fields.
#include <gflags/gflags.h>

#include <cstdint>
#include <utility>

#include "estimator/base/main.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "models/bert/encoder.h"
#include "models/common/benchmark_flags.h"
#include "tpu/tpu_estimator.h"

DEFINE_int64(batch_size, 32, "examples in one step; on replicas: over all of them");
DEFINE_int64(num_layers, 4, "layers of the encoder");
DEFINE_int64(sequence_length, 128, "tokens of an example");

namespace estimator::bert {
namespace {

// Batches of random tokens without padding, again and again.
Dataset SyntheticInput(const EncoderParams& params) {
  constexpr int64_t kBatches = 8;
  const Shape shape = {kBatches * params.batch_size, params.sequence_length};
  Array ids(DType::kInt32, shape), mask(DType::kInt32, shape);
  Philox philox(1);
  for (int32_t& id : ids.values<int32_t>())
    id = static_cast<int32_t>(philox.Next4()[0] % static_cast<uint32_t>(params.vocab_size));
  for (int32_t& value : mask.values<int32_t>()) value = 1;
  Array labels(DType::kInt32, {shape[0]});
  for (int32_t& label : labels.values<int32_t>())
    label = static_cast<int32_t>(philox.Next4()[0] % 2);
  return Dataset::FromTensorSlices(
             {.features = {{"ids", std::move(ids)}, {"mask", std::move(mask)}},
              .labels = std::move(labels)})
      .Repeat()
      .Batch(params.batch_size, {.drop_remainder = true})
      .Prefetch(2);
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(
      RequireBenchmarkFlags({BatchRequirement("batch_size", FLAGS_batch_size),
                             {"num_layers", FLAGS_num_layers > 0, "positive"},
                             {"sequence_length", FLAGS_sequence_length > 0, "positive"}}));
  EncoderParams params;
  params.num_layers = FLAGS_num_layers;
  params.sequence_length = FLAGS_sequence_length;
  params.compute_dtype = ActivationDTypeFromFlags();
  return RunTrainingBenchmark<EncoderParams>(
      {.program = "encoder_benchmark",
       .unit = "examples",
       .model_fn = EncoderModelFn,
       .params = params,
       .batch_size = FLAGS_batch_size,
       .input = SyntheticInput,
       .run = {{"num_layers", FLAGS_num_layers}, {"sequence_length", FLAGS_sequence_length}}});
}

}  // namespace
}  // namespace estimator::bert

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of an encoder and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::bert::Run);
}
