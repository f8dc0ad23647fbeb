// Exports the MNIST network in every form, with its predictions, for
// testdata/interop/check_export.py:
//
//   export_tool DIRECTORY
//
// trains a few steps and writes
//   raw/SECONDS      a SavedModel whose receiver takes images
//   modes/SECONDS    a SavedModel with the graphs of all three modes
//   parsing/SECONDS  a SavedModel that takes serialized Examples: predict, classify, regress
//   kinds/SECONDS    features and outputs of every kind: defaults, integers, strings, booleans
//   frozen.pb        the network as a frozen graph
//   frozen.txt       the names of its input and output
//   values           a bundle: images, serialized Examples, and the outputs at batch sizes 1, 3, 16
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/data/parsing/example_builder.h"
#include "models/mnist/digits.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/network.h"
#include "tools/interop/tool_main.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

constexpr int64_t kBatchSizes[] = {1, 3, 16};

// Computes the logits again in ways that depend on the batch size, and that an export for any batch
// size must handle: sizes with several unknowns, zeros of the batch's length, a range over the
// rows.
Tensor RowsInTheBatch(const Tensor& logits) {
  const int64_t n = logits.dim(0);
  const Tensor twice = Concat({logits, Zeros({n, 2})}, 1);              // f32 [n, 12]
  const Tensor blocks = Reshape(Tile(twice, {2, 1}), Shape{2, n, 12});  // copies of the rows
  const Tensor first = Reshape(Slice(blocks, {0, 0, 0}, {1, n, 10}), {n, 10});  // the logits again
  const Tensor rows = Cast(Range(n), DType::kFloat32);
  return ReduceMean(first, {1}) + rows * 0.5f + BroadcastTo(Constant(1.0f), {n});
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode) {
  const Tensor logits = mnist::Inference(features["image"], mode);  // f32 [N, 10]
  if (mode == Mode::kPredict) {
    const Tensor probabilities = Softmax(logits);
    const Tensor digits = Constant(Array::Of<std::string>(
        {1, 10}, {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}));
    return tpu::TPUEstimatorSpec::Predict(
        {{"probabilities", probabilities}},
        {.export_outputs = {
             {"serving_default", PredictOutput({{"class_ids", ArgMax(logits, 1)},
                                                {"probabilities", probabilities},
                                                {"rows", RowsInTheBatch(logits)}})},
             {"network", PredictOutput(probabilities)},
             {"classify", ClassificationOutput({.scores = probabilities,
                                                .classes = Tile(digits, {logits.dim(0), 1})})},
             {"regress", RegressionOutput(ReduceMax(logits, {1}))}}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    const auto metrics = [](const std::vector<Tensor>& tensors) -> MetricMap {
      return {{"accuracy", metrics::Accuracy(tensors[0], ArgMax(tensors[1], 1))}};
    };
    return tpu::TPUEstimatorSpec::Eval(loss, {metrics, {labels, logits}});
  }
  return tpu::TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
}

// A receiver of every kind of feature in Examples. The model has outputs of every dtype and several
// signatures.
ServingInputReceiverFn KindsReceiver() {
  return BuildParsingServingInputReceiverFn(
      {{"id", FixedLenFeature{.dtype = DType::kInt32, .default_value = Array::Scalar<int32_t>(7)}},
       {"x", FixedLenFeature{.shape = {2}}},
       {"größe", FixedLenFeature{.dtype = DType::kInt64, .shape = {1, 2}}},
       {"text",
        FixedLenFeature{.dtype = DType::kString, .default_value = Array::String("nothing")}},
       {"boxes", FixedLenSequenceFeature{.shape = {2}, .max_length = 3, .default_value = -1}},
       {"tags", FixedLenSequenceFeature{.dtype = DType::kString, .max_length = 2}},
       {"words", VarLenFeature{.dtype = DType::kInt32, .max_length = 4, .default_value = 9}},
       {"names", VarLenFeature{.dtype = DType::kString, .max_length = 2}}});
}

EstimatorSpec KindsModelFn(const Features& features, const Labels&, Mode) {
  const Tensor x = features["x"], id = features["id"], size = features["größe"];
  const Tensor w = GetVariable("w", {2, 2}, {.initializer = initializers::Constant(0.5)});
  const Tensor scores = Softmax(MatMul(x, w) * Constant(Array::Of<float>({2}, {1, -1})));
  const Tensor names = Constant(Array::Of<std::string>({2}, {"größer", ""}));
  NamedTensors kinds = {{"id", id + 1},
                        {"positive", Greater(x, 0.0f)},
                        {"text", features["text"]},
                        {"size/of it", ReduceSum(size, {1})},
                        {"boxes", features["boxes"] * 2.0f},
                        {"tags", features["tags"]},
                        {"words", features["words"] + 1},
                        {"num_words", features["words_length"]},
                        {"names", features["names"]},
                        {"num_names", features["names_length"]}};
  for (const DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBfloat16, DType::kUint8,
                            DType::kInt8, DType::kInt16, DType::kInt64}) {
    kinds[std::string(DTypeName(dtype))] = Cast(Abs(x) * 3.0f, dtype);
  }
  return EstimatorSpec::Predict(
      kinds, {.export_outputs = {
                  {"serving_default", PredictOutput(kinds)},
                  {"scores", ClassificationOutput({.scores = scores})},
                  {"classes", ClassificationOutput({.classes = Gather(names, ArgMax(scores, 1))})},
                  {"regress", RegressionOutput(MatMul(x, w))}}});
}

// Adds the outputs of every batch size, named `<prefix>/<batch>/<output>`.
absl::Status AddOutputs(const Predictor& predictor, const std::string& prefix,
                        const std::string& input, const Array& rows, BundleWriter& writer) {
  for (const int64_t batch : kBatchSizes) {
    EST_ASSIGN_OR_RETURN(const ArrayMap outputs,
                         predictor.Predict(ArrayMap{{input, rows.Slice(0, batch).Clone()}}));
    for (const auto& [name, value] : outputs)
      EST_RETURN_IF_ERROR(writer.Add(absl::StrCat(prefix, "/", batch, "/", name), value));
  }
  return absl::OkStatus();
}

absl::Status ExportKinds(const std::string& directory, BundleWriter& writer) {
  RunConfig config;
  config.model_dir = JoinPath(directory, "kinds_model");
  Estimator<> estimator({.model_fn = KindsModelFn, .config = config});
  const std::string prefix = JoinPath(directory, "kinds_model.ckpt-1");
  EST_RETURN_IF_ERROR(
      SaveVariables(prefix, {{"w", Array::Of<float>({2, 2}, {0.1f, -0.2f, 0.7f, 0.3f})},
                             {"global_step", Array::Scalar<int64_t>(1)}}));
  EST_RETURN_IF_ERROR(estimator
                          .ExportSavedModel(JoinPath(directory, "kinds"), KindsReceiver(),
                                            {.checkpoint_path = prefix})
                          .status());
  Array examples(DType::kString, {16});
  for (int64_t i = 0; i < 16; ++i) {
    const auto value = static_cast<float>(i);
    ExampleBuilder builder;
    builder.Floats("x", {value - 7.5f, 0.25f * value}).Ints("größe", {i, -(int64_t{1} << 40)});
    if (i % 3 != 1) builder.Ints("id", {i}).Bytes("text", {std::string("a\0ü", 4)});
    // Every fifth Example, and the first, lacks the features of variable length.
    const auto length = static_cast<size_t>(i % 5);
    if (length > 0) {
      builder.Ints("words", std::vector<int64_t>(length, i))
          .Floats("boxes", std::vector<float>(2 * std::min<size_t>(length, 3), value))
          .Bytes("names", std::vector<std::string>(std::min<size_t>(length, 2), "n"))
          .Bytes("tags", std::vector<std::string>(length % 3, "t"));
    }
    examples.data<std::string>()[i] = builder.Serialize();
  }
  EST_RETURN_IF_ERROR(writer.Add("kinds", examples));
  for (const std::string key : {"serving_default", "scores", "classes", "regress"}) {
    EST_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor,
                         estimator.MakePredictor(
                             KindsReceiver(), {.signature_key = key, .checkpoint_path = prefix}));
    EST_RETURN_IF_ERROR(AddOutputs(*predictor, absl::StrCat("kinds/", key),
                                   predictor->inputs().begin()->first, examples, writer));
  }
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments[0];
  tpu::RunConfig config;
  config.model_dir = JoinPath(directory, "model");
  config.tf_random_seed = 3;
  tpu::TPUEstimator<> estimator({.model_fn = ModelFn,
                                 .config = config,
                                 .use_tpu = false,
                                 .train_batch_size = 32,
                                 .predict_batch_size = 16});
  const mnist::DigitSet digits = mnist::DrawDigits(1, 0, 256);
  EST_RETURN_IF_ERROR(estimator.Train(
      [&](const tpu::Params& params) {
        return mnist::MnistDataset(digits, Mode::kTrain, params.batch_size);
      },
      MaxSteps(20)));

  const Array images = digits.images.Slice(0, 16).Clone();
  const ServingInputReceiverFn raw =
      BuildRawServingInputReceiverFn({{"image", {DType::kUint8, {-1, 28, 28}}}});
  const ServingInputReceiverFn parsing = BuildParsingServingInputReceiverFn(
      {{"image", FixedLenFeature{.dtype = DType::kFloat32, .shape = {28, 28}}}});
  const ServingInputReceiverFn supervised = BuildRawSupervisedInputReceiverFn(
      {{"image", {DType::kUint8, {-1, 28, 28}}}}, {{"label", {DType::kInt32, {-1}}}});
  const std::string classes = JoinPath(directory, "classes.txt");
  EST_RETURN_IF_ERROR(WriteFileAtomically(classes, "zero\none\n"));
  const std::string others = JoinPath(directory, "others", "classes.txt");  // the same name
  EST_RETURN_IF_ERROR(CreateDirectories(Dirname(others)));
  EST_RETURN_IF_ERROR(WriteFileAtomically(others, "two\n"));
  for (const auto& [name, receiver] : {std::pair("raw", raw), std::pair("parsing", parsing)}) {
    EST_RETURN_IF_ERROR(
        estimator
            .ExportSavedModel(JoinPath(directory, name), receiver, {.assets = {classes, others}})
            .status());
  }
  EST_RETURN_IF_ERROR(
      estimator
          .ExperimentalExportAllSavedModels(
              JoinPath(directory, "modes"),
              {{Mode::kTrain, supervised}, {Mode::kEval, supervised}, {Mode::kPredict, raw}},
              {.as_text = true})
          .status());
  const ServingInputReceiverFn pixels =
      BuildRawServingInputReceiverFn({{"image", {DType::kFloat32, {-1, 28, 28, 1}}}});
  EST_ASSIGN_OR_RETURN(const FrozenGraph frozen,
                       estimator.WriteFrozenGraph(JoinPath(directory, "frozen.pb"), pixels,
                                                  {.signature_key = "network"}));
  EST_RETURN_IF_ERROR(WriteFileAtomically(
      JoinPath(directory, "frozen.txt"),
      absl::StrCat(frozen.inputs.at("image"), " ", frozen.outputs.at("output"), "\n")));

  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer,
                       BundleWriter::Open(JoinPath(directory, "values")));
  EST_RETURN_IF_ERROR(writer->Add("images", images));
  Array examples(DType::kString, {16});
  for (int64_t i = 0; i < 16; ++i) {
    const Array row = images.Row(i).Cast(DType::kFloat32);
    examples.data<std::string>()[i] =
        ExampleBuilder()
            .Floats("image", {row.values<float>().begin(), row.values<float>().end()})
            .Serialize();
  }
  EST_RETURN_IF_ERROR(writer->Add("examples", examples));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> from_images, estimator.MakePredictor(raw));
  EST_RETURN_IF_ERROR(AddOutputs(*from_images, "raw", "image", images, *writer));
  for (const std::string key : {"serving_default", "classify", "regress"}) {
    EST_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor,
                         estimator.MakePredictor(parsing, {.signature_key = key}));
    EST_RETURN_IF_ERROR(AddOutputs(*predictor, absl::StrCat("parsing/", key),
                                   predictor->inputs().begin()->first, examples, *writer));
  }
  EST_RETURN_IF_ERROR(ExportKinds(directory, *writer));
  return writer->Finish();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "export_tool DIRECTORY", estimator::Run);
}
