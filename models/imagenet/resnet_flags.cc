#include "models/imagenet/resnet_flags.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/counts_in_names.h"
#include "models/common/run_flags.h"
#include "models/common/skip_bad_records.h"
#include "models/imagenet/drawn_pictures.h"

DEFINE_string(data_dir, "",
              "folder of ImageNet's TFRecord files train-* and validation-*; empty: the program "
              "draws pictures");
DEFINE_string(mode, "train_and_eval", "train, eval, train_and_eval or predict");
DEFINE_int32(resnet_depth, 50, "layers of the network: 18, 34, 50, 101, 152 or 200");
DEFINE_string(resnet_version, "1.5",
              "1 or 1.5: the stride of a bottleneck block is in its first 1x1 or in its 3x3 "
              "convolution");
DEFINE_int64(train_batch_size, 0,
             "images in a training step over all replicas; 0: 1024, or 64 drawn pictures");
DEFINE_int64(eval_batch_size, 0,
             "images in an evaluation step over all replicas; 0: 1024, or 200 drawn pictures");
DEFINE_int64(train_steps, 0,
             "the global_step at which training stops; 0: 112590, about 90 epochs of ImageNet, or "
             "300 with drawn pictures");
DEFINE_int64(steps_per_eval, 0,
             "training steps between evaluations of train_and_eval; 0: 1251, an epoch of ImageNet, "
             "or all steps with drawn pictures");
DEFINE_string(
    eval_every, "",
    "as --steps_per_eval, in any unit but seconds, such as \"1 epoch\" or \"50000 examples\"");
DEFINE_double(eval_timeout, -1,
              "seconds that --mode=eval waits for a new checkpoint before it ends; -1: no limit");
DEFINE_string(iterations_per_loop, "100", "the same as --iterations");
DEFINE_int64(num_cores, 8, "the same as --num_shards");
DEFINE_double(
    base_learning_rate, 0,
    "learning rate after the warm-up for a batch of 256; it grows with the batch; 0: 0.1, "
    "or 0.3 with drawn pictures");
DEFINE_double(momentum, 0.9, "momentum of the optimizer");
DEFINE_double(weight_decay, 1e-4, "weight decay of all variables but those of batch normalization");
DEFINE_double(label_smoothing, 0, "label smoothing of the loss, in [0, 1)");
DEFINE_bool(enable_lars, false,
            "use LARS with its own schedule, for batches of 2000 images and more");
DEFINE_double(poly_rate, 0, "with --enable_lars: the rate after the warm-up; 0: by the batch size");
DEFINE_string(
    precision, "float32",
    "type of convolutions and activations: float32 or bfloat16; variables are float32; the "
    "same as --compute_dtype");
DEFINE_int64(image_size, 224, "height and width of the images that the network gets");
DEFINE_int64(num_train_images, 0,
             "training images: an epoch of the learning rate, and how many pictures are drawn; 0: "
             "the counts in the names of the files, such as train-00-230.tfrec, or else 1281167; "
             "16000 drawn pictures");
DEFINE_int64(num_eval_images, 0, "images to evaluate, at most; 0: 50000, or 1000 drawn pictures");
DEFINE_int64(num_label_classes, 0, "number of classes; 0: 1000, or the 10 of drawn pictures");
DEFINE_bool(use_cache, false,
            "keep the records of training in memory after the first epoch: 140 GB for ImageNet");
DEFINE_int32(num_parallel_calls, estimator::kAutotune,
             "images decoded at the same time; -1: the number of cores");
DEFINE_string(image_key, "image/encoded", "feature of an Example with the encoded image");
DEFINE_string(label_key, "image/class/label", "feature of an Example with the label");
DEFINE_int64(first_label, 1, "the label of the first class in the files");
DEFINE_bool(skip_host_call, false, "write no summaries of the learning rate and the epoch");
DEFINE_string(export_dir, "", "export a SavedModel below this folder; empty: no export");
DEFINE_string(result_json, "", "also write the results of the last evaluation to this file");

DEFINE_string(
    predict_csv, "",
    "at the end, write the predicted classes with the ids of the images to this CSV file; "
    "empty: no predictions");
DEFINE_string(predict_files, "",
              "TFRecord files to predict, a shell pattern; they need no labels; empty: the images "
              "of the evaluation");
DEFINE_bool(predict_probabilities, false, "--predict_csv has a column for each class as well");
DEFINE_string(id_key, "image/filename", "feature of an Example with the id for --predict_csv");

namespace estimator::imagenet {
namespace {

constexpr RunSizes kImageNet = {.train_batch_size = 1024,
                                .eval_batch_size = 1024,
                                .train_steps = 112590,
                                .steps_per_eval = 1251,
                                .num_train_images = 1281167,
                                .num_eval_images = 50000,
                                .num_label_classes = 1000,
                                .base_learning_rate = 0.1};
constexpr RunSizes kDrawn = {.train_batch_size = 64,
                             .eval_batch_size = 200,
                             .train_steps = 300,
                             .steps_per_eval = 1'000'000'000,
                             .num_train_images = 16000,
                             .num_eval_images = 1000,
                             .num_label_classes = kNumDrawnClasses,
                             .base_learning_rate = 0.3};

// The default of num_train_images for files: the sum of the counts in their names, or ImageNet's.
int64_t CountTrainImages() {
  if (FLAGS_mode != "train" && FLAGS_mode != "train_and_eval") return kImageNet.num_train_images;
  const auto files = FindImageNetFiles(FLAGS_data_dir, Mode::kTrain);
  const int64_t counted = files.ok() ? SumOfCountsInNames(*files).value_or(0) : 0;
  return counted > 0 ? counted : kImageNet.num_train_images;
}

std::string ValueOf(const char* flag) {
  return gflags::GetCommandLineFlagInfoOrDie(flag).current_value;
}

// Makes `flag` and `same`, which have the same meaning, equal: to the one that was given, or else
// to the default of `flag`.
FlagRequirement Unite(const char* flag, const char* same) {
  if (FlagWasGiven(flag) && FlagWasGiven(same) && ValueOf(flag) != ValueOf(same)) {
    return {flag, false, "",
            absl::StrCat("is ", ValueOf(flag), ", but --", same,
                         ", which has the same meaning, is ", ValueOf(same), "; give one of them")};
  }
  if (FlagWasGiven(same)) {
    gflags::SetCommandLineOption(flag, ValueOf(same).c_str());
  } else {
    gflags::SetCommandLineOption(same, ValueOf(flag).c_str());
  }
  return {flag, true, ""};
}

absl::Status CheckDataDir() {
  if (FLAGS_data_dir.empty()) return absl::OkStatus();
  absl::Status status;
  const bool trains = FLAGS_mode == "train" || FLAGS_mode == "train_and_eval";
  const bool predicts_test_images = !FLAGS_predict_csv.empty() && FLAGS_predict_files.empty();
  const bool evaluates = FLAGS_mode == "eval" || FLAGS_mode == "train_and_eval";
  if (trains) status = FindImageNetFiles(FLAGS_data_dir, Mode::kTrain).status();
  if (evaluates || predicts_test_images)
    status.Update(FindImageNetFiles(FLAGS_data_dir, Mode::kEval).status());
  return status;
}

// Errors: there is no such file, or --predict_files has no meaning.
absl::Status CheckPredictFiles() {
  if (FLAGS_predict_files.empty()) return absl::OkStatus();
  if (FLAGS_predict_csv.empty())
    return absl::InvalidArgumentError("needs --predict_csv, the file to write");
  if (FLAGS_data_dir.empty())
    return absl::InvalidArgumentError("needs --data_dir; without it, drawn pictures are predicted");
  return MatchFiles(FLAGS_predict_files).status();
}

// Evaluation waits for its checkpoints.
bool NeedsTrainedModel() { return FLAGS_mode == "predict" && !OnlyChecks(); }

ResnetOptions NetworkFromFlags() {
  ResnetOptions network = {.resnet_depth = FLAGS_resnet_depth,
                           .num_label_classes = RunSizesFromFlags().num_label_classes};
  if (const auto version = ParseResnetVersion(FLAGS_resnet_version); version.ok())
    network.resnet_version = *version;
  return network;
}

bool IsDepth(int depth) {
  const std::vector<int>& depths = ResnetDepths();
  return std::find(depths.begin(), depths.end(), depth) != depths.end();
}

// --eval_every in steps.
absl::StatusOr<int64_t> StepsOfEvalEvery(const RunSizes& sizes) {
  if (FlagWasGiven("steps_per_eval"))
    return absl::InvalidArgumentError("has the same meaning as --steps_per_eval; give one of them");
  const absl::StatusOr<Period> period = Period::Parse(FLAGS_eval_every);
  if (!period.ok()) return period.status();
  return period->ToSteps(
      {.examples_per_step = sizes.train_batch_size, .examples_per_epoch = sizes.num_train_images});
}

absl::Status CheckEvalEvery(const RunSizes& sizes) {
  return FLAGS_eval_every.empty() ? absl::OkStatus() : StepsOfEvalEvery(sizes).status();
}

}  // namespace

RunSizes RunSizesFromFlags() {
  RunSizes defaults = FLAGS_data_dir.empty() ? kDrawn : kImageNet;
  if (!FLAGS_data_dir.empty() && FLAGS_num_train_images == 0)
    defaults.num_train_images = CountTrainImages();
  const auto choose = [](auto flag, auto default_value) {
    return flag == 0 ? default_value : flag;
  };
  RunSizes sizes = {
      .train_batch_size = choose(FLAGS_train_batch_size, defaults.train_batch_size),
      .eval_batch_size = choose(FLAGS_eval_batch_size, defaults.eval_batch_size),
      .train_steps = choose(FLAGS_train_steps, defaults.train_steps),
      .steps_per_eval = choose(FLAGS_steps_per_eval, defaults.steps_per_eval),
      .num_train_images = choose(FLAGS_num_train_images, defaults.num_train_images),
      .num_eval_images = choose(FLAGS_num_eval_images, defaults.num_eval_images),
      .num_label_classes = choose(FLAGS_num_label_classes, defaults.num_label_classes),
      .image_size = FLAGS_image_size,
      .base_learning_rate = choose(FLAGS_base_learning_rate, defaults.base_learning_rate),
  };
  if (!FLAGS_eval_every.empty())
    sizes.steps_per_eval = StepsOfEvalEvery(sizes).value_or(sizes.steps_per_eval);
  return sizes;
}

absl::Status CheckResnetFlags() {
  const RunSizes sizes = RunSizesFromFlags();
  const bool drawn = FLAGS_data_dir.empty();
  std::vector<FlagRequirement> requirements = {
      Unite("num_cores", "num_shards"),
      Unite("iterations_per_loop", "iterations"),
      Unite("precision", "compute_dtype"),
      StatusRequirement("data_dir", CheckDataDir()),
      {"mode",
       FLAGS_mode == "train" || FLAGS_mode == "eval" || FLAGS_mode == "train_and_eval" ||
           FLAGS_mode == "predict",
       "train, eval, train_and_eval or predict"},
      {"mode", (FLAGS_mode != "eval" && FLAGS_mode != "predict") || !FLAGS_model_dir.empty(), "",
       absl::StrCat(FLAGS_mode, " needs --model_dir, the folder of the trained model")},
      {"mode", FLAGS_mode != "predict" || !FLAGS_predict_csv.empty(), "",
       "predict needs --predict_csv, the file to write"},
      TrainedModelRequirement("model_dir", NeedsTrainedModel() ? FLAGS_model_dir : ""),
      StatusRequirement("predict_files", CheckPredictFiles()),
      {"predict_csv", CanBeFile(FLAGS_predict_csv), "a file in a folder that can be written"},
      SkipBadRecordsRequirement(),
      {"resnet_depth", IsDepth(FLAGS_resnet_depth),
       absl::StrCat("one of ", absl::StrJoin(ResnetDepths(), ", "))},
      {"resnet_version", ParseResnetVersion(FLAGS_resnet_version).ok(), "1 or 1.5"},
      {"train_steps", sizes.train_steps > 0, "positive"},
      {"steps_per_eval", sizes.steps_per_eval > 0, "positive"},
      StatusRequirement("eval_every", CheckEvalEvery(sizes)),
      {"eval_timeout", FLAGS_eval_timeout == -1 || FLAGS_eval_timeout >= 0,
       "at least 0, or -1 for no limit"},
      {"base_learning_rate",
       sizes.base_learning_rate > 0 && std::isfinite(sizes.base_learning_rate),
       "positive and finite"},
      {"momentum", FLAGS_momentum >= 0 && FLAGS_momentum < 1, "in [0, 1)"},
      {"weight_decay", FLAGS_weight_decay >= 0 && std::isfinite(FLAGS_weight_decay),
       "at least 0 and finite"},
      {"label_smoothing", FLAGS_label_smoothing >= 0 && FLAGS_label_smoothing < 1, "in [0, 1)"},
      {"poly_rate", FLAGS_poly_rate >= 0 && std::isfinite(FLAGS_poly_rate),
       "at least 0 and finite"},
      {"image_size", FLAGS_image_size > 0, "positive"},
      {"num_train_images", sizes.num_train_images > 0, "positive"},
      {"num_train_images", sizes.num_train_images >= sizes.train_batch_size, "",
       absl::StrCat("is ", sizes.num_train_images, ", fewer than the ", sizes.train_batch_size,
                    " images of a training step (--train_batch_size)")},
      {"num_eval_images", sizes.num_eval_images > 0, "positive"},
      {"num_label_classes",
       sizes.num_label_classes > 0 && (!drawn || sizes.num_label_classes >= kNumDrawnClasses),
       drawn ? absl::StrCat("at least ", kNumDrawnClasses, ", the classes of drawn pictures")
             : "positive"},
      {"num_parallel_calls",
       FLAGS_num_parallel_calls >= 1 || FLAGS_num_parallel_calls == estimator::kAutotune,
       "at least 1, or -1"},
      {"export_dir", CanBeFolder(FLAGS_export_dir), "a folder that can be written"},
      {"result_json", CanBeFile(FLAGS_result_json), "a file in a folder that can be written"}};
  requirements.push_back({"precision",
                          FLAGS_precision == "float32" || FLAGS_precision == "bfloat16",
                          "float32 or bfloat16"});
  // Their divisor is --num_shards, which Unite has set.
  requirements.push_back(BatchRequirement("train_batch_size", sizes.train_batch_size));
  requirements.push_back(BatchRequirement("eval_batch_size", sizes.eval_batch_size));
  return RequireFlags(requirements);
}

ResnetParams ResnetParamsFromFlags() {
  const RunSizes sizes = RunSizesFromFlags();
  ResnetParams params;
  params.network = NetworkFromFlags();
  params.learning_rate = {.base_learning_rate = sizes.base_learning_rate,
                          .train_batch_size = sizes.train_batch_size,
                          .num_train_images = sizes.num_train_images,
                          .train_steps = sizes.train_steps,
                          .poly_rate = FLAGS_poly_rate};
  params.compute_dtype = FLAGS_precision == "bfloat16" ? DType::kBfloat16 : DType::kFloat32;
  params.momentum = FLAGS_momentum;
  params.weight_decay = FLAGS_weight_decay;
  params.label_smoothing = FLAGS_label_smoothing;
  params.enable_lars = FLAGS_enable_lars;
  params.skip_host_call = FLAGS_skip_host_call;
  return params;
}

ImageNetInputOptions InputOptionsFromFlags() {
  const RunSizes sizes = RunSizesFromFlags();
  return {.data_dir = FLAGS_data_dir,
          .image_size = sizes.image_size,
          .num_label_classes = sizes.num_label_classes,
          .num_train_images = sizes.num_train_images,
          .num_eval_images = sizes.num_eval_images,
          .use_cache = FLAGS_use_cache,
          .num_parallel_calls = FLAGS_num_parallel_calls,
          .image_key = FLAGS_image_key,
          .label_key = FLAGS_label_key,
          .first_label = FLAGS_first_label,
          .id_key = FLAGS_id_key,
          .predict_files = FLAGS_predict_files,
          .skip_bad_records = FLAGS_skip_bad_records};
}

}  // namespace estimator::imagenet
