#include "tpu/rules/rule.h"

#include "glog/logging.h"

namespace estimator::tpu {
namespace {

constexpr Severity kViolation = Severity::kViolation;
constexpr Severity kNote = Severity::kNote;

constexpr Rule kRules[] = {
    {"batch-size-missing", kViolation, true, "A mode that runs on a TPU has a batch size",
     "shapes are compiled into the program, so TPUEstimator needs the batch size first"},
    {"batch-not-divisible", kViolation, true, "The global batch divides evenly over the cores",
     "every core runs the same program, so every core needs the same number of rows"},
    {"num-shards", kViolation, false, "num_shards is the number of cores of a TPU",
     "TensorFlow compares num_shards with the cores that it finds and refuses another number"},
    {"sliced-on-cpu", kViolation, false, "SLICED input is for evaluation on the TPU",
     "the host evaluates whole batches, and TensorFlow refuses SLICED there"},
    {"predict-batch-axis", kViolation, true, "Prediction has its batch on axis 0",
     "the padding of the last batch is removed on axis 0 of every prediction"},
    {"input-error", kViolation, false, "input_fn gives batches that fit the cores",
     "a batch that cannot be split, or that has another size, never reaches a core"},
    {"dynamic-shape", kViolation, false, "All shapes are static",
     "XLA compiles one program for one shape; TPUEstimator refuses features and labels whose "
     "shapes are not fully known"},
    {"partial-batch", kViolation, false, "Training drops a last batch that is smaller",
     "a batch of another size is another shape, so TPUEstimator wants drop_remainder"},
    {"reserved-feature", kViolation, false, "Features do not use TensorFlow's reserved name",
     "TPUEstimator packs small features into tensors of the name "
     "_concatenated_small_features_N"},
    {"model-error", kViolation, false, "model_fn builds a graph for a TPU",
     "with params.use_tpu the model may take another path than on the CPU"},
    {"float64", kViolation, false, "The model does not compute in float64",
     "a TPU has no float64 units; XLA refuses such ops or emulates them many times slower"},
    {"string", kViolation, false, "The model has no strings",
     "XLA has no string type; strings stay on the host, in input_fn"},
    {"host-only-op", kViolation, false, "Every op has a TPU lowering",
     "an op that XLA does not have cannot be part of the TPU's program"},
    {"loop-without-bound", kViolation, false,
     "A loop with a gradient has a largest number of trips",
     "a gradient needs values of each trip, and a TPU keeps them in memory of a fixed size"},
    {"sum-in-body", kViolation, true, "Sums over the cores are outside loops and branches",
     "the cores need not run the same trips and branches, and would wait for each other"},
    {"no-cross-replica-sum", kViolation, true, "Gradients are summed over the cores",
     "without a sum each core trains a model of its own, and TPUEstimator refuses the graph"},
    {"global-step-unused", kViolation, false, "train_op increments global_step",
     "the loop counts steps by global_step, so training would never end"},
    {"global-step-twice", kViolation, false, "train_op increments global_step once in a step",
     "steps counted twice end training at half of its length and shift every schedule"},
    {"outfeed-rank", kViolation, true, "Tensors for the host have a batch axis",
     "the cores' parts are joined on axis 0, and a scalar has no axis"},
    {"predictions-too-large", kViolation, true, "The predictions of a core are below 1 GiB",
     "TPUEstimator refuses more than the outfeed can carry in one step"},
    {"prediction-rows", kViolation, false, "Every prediction has the batch's rows on axis 0",
     "the cores' predictions are joined on axis 0, and padded rows are cut off there"},
    {"scaffold-tensor", kViolation, false, "scaffold_fn builds no ops on the model's tensors",
     "scaffold_fn runs on the host and cannot read values that exist only on a core"},
    {"tensor-too-large", kViolation, false, "Each tensor fits into the memory of a core",
     "memory holds tiles of 8 by 128 numbers, so small dimensions cost as much as full tiles"},
    {"few-rows", kNote, false, "A core has at least 8 rows",
     "a tile has 8 rows, and a smaller batch leaves most of each tile empty"},
    {"rows-not-of-8", kNote, false, "The rows of a core are a multiple of 8",
     "a tile has 8 rows; odd sizes are padded, and were found to be a cause of NaN losses"},
    {"features-not-of-128", kNote, false, "Feature sizes are multiples of 128",
     "the matrix unit is 128 wide, so XLA pads feature sizes to multiples of 128"},
    {"tiled-size", kNote, false, "Tensors do not grow by tiling",
     "memory holds tiles of 8 by 128 numbers; tensors with only small dimensions grow manyfold"},
    {"int64", kNote, false, "Integers are int32",
     "a TPU emulates int64 with pairs of 32-bit numbers, at more than twice the cost"},
    {"float16", kNote, false, "Half precision is bfloat16",
     "the matrix unit multiplies bfloat16; float16 is converted and has a smaller range"},
    {"bare-optimizer", kNote, false, "The optimizer is wrapped in CrossShardOptimizer",
     "here the loop sums the gradients of a bare optimizer; TensorFlow's TPUEstimator refuses it"},
    {"local-batch-norm", kNote, false, "Batch statistics are those of the global batch",
     "each core normalizes with its own rows, so results depend on the number of cores"},
    {"learning-rate-not-scaled", kNote, false, "The learning rate grows with the global batch",
     "a batch that is larger makes fewer steps, which should be larger in proportion"},
    {"default-iterations-per-loop", kNote, false, "iterations_per_loop is chosen",
     "the default of 2 returns to the host after every second step"},
    {"steps-not-given", kNote, false, "Train and Evaluate are given a number of steps",
     "TensorFlow's TPUEstimator refuses a call without it; here the input's end is found"},
    {"per-shard-dataset", kNote, false, "PER_SHARD_V1 is not used with a Dataset",
     "TensorFlow's PER_SHARD_V1 takes tensors only and refuses a Dataset"},
    {"open-batch", kNote, false, "Batches have drop_remainder",
     "TensorFlow's TPUEstimator refuses a batch size that is not static; here a last batch that "
     "is smaller is evaluated by a second program"},
    {"summary-in-model", kNote, false, "Summaries are written by host_call",
     "TensorFlow refuses summary ops in a TPU's model; here they work on replicas"},
    {"check-op", kNote, false, "The model does not rely on checks at run time",
     "XLA removes checks, so a value that is refused here passes silently on a TPU"},
    {"unchecked-index", kNote, false, "Indices from the input are in range",
     "here an index out of range is an error; a TPU reads another row and continues"},
    {"large-constant", kNote, false, "Data is fed, not part of the program",
     "constants are compiled into the program of every core and sent with it"},
};

}  // namespace

absl::Span<const Rule> Rules() { return kRules; }

const Rule& FindRule(absl::string_view id) {
  for (const Rule& rule : kRules) {
    if (rule.id == id) return rule;
  }
  LOG(FATAL) << "there is no rule " << id;
  return kRules[0];
}

}  // namespace estimator::tpu
