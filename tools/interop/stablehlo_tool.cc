// Lowers a step to StableHLO, runs the same step on replicas of this process, and writes both, so
// that tools/verify_interop.sh can run the StableHLO in JAX and compare.
//
//   stablehlo_tool FOLDER MODEL [REPLICAS] [STEPS]
//
// MODEL: mnist or resnet (ResNet-50, 64x64), trained with plain gradient descent; mnist_momentum or
// resnet_momentum, with a momentum of 0.9; mnist_eval, mnist_predict, resnet_eval and
// resnet_predict for the other modes, with the first values of the variables.
// FOLDER gets:
//   step.mlir       the module
//   arguments.txt   for each argument: kind, dtype, name
//   results.txt     for each result: kind, dtype, name
//   argument_N.npy  a variable's first value; a feed, [replicas, steps, ...]; num_steps
//   result_N.npy    a variable's last value; a fetch, [replicas, steps, ...]; steps_done
// bfloat16 is written as float32.
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "models/imagenet/resnet.h"
#include "models/mnist/network.h"
#include "tpu/stablehlo/lower_step.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

using tpu::stablehlo::StepArgument;
using tpu::stablehlo::StepModule;
using tpu::stablehlo::StepResult;

struct Options {
  std::string folder;
  std::string network;  // "mnist" or "resnet"
  Mode mode = Mode::kTrain;
  bool momentum = false;
  int replicas = 8;
  int64_t steps = 10;
};

struct Model {
  std::vector<Tensor> feeds;  // images and labels; in prediction only images are fed
  int64_t num_classes = 10;
  std::vector<Tensor> fetches;          // in training, the loss
  std::vector<Operation> updates = {};  // in training, the train_op
};

// What a program fetches in the other modes.
std::vector<Tensor> FetchesOf(Mode mode, const Tensor& labels, const Tensor& logits) {
  if (mode == Mode::kPredict) return {ArgMax(logits, 1), Softmax(logits)};
  return {losses::SparseSoftmaxCrossEntropy(labels, logits), logits};
}

// The network, in training with dropout and the program's optimizer: plain gradient descent.
//   momentum: with a momentum of 0.9. On random pixels, ten such steps amplify
//   rounding a thousandfold.
Model MnistModel(Mode mode, bool momentum) {
  Model model;
  model.feeds = {Placeholder(DType::kUint8, {16, 28, 28}, "image"),
                 Placeholder(DType::kInt32, {16}, "label")};
  const Tensor logits = mnist::Inference(model.feeds[0], mode);
  if (mode != Mode::kTrain) {
    model.fetches = FetchesOf(mode, model.feeds[1], logits);
    return model;
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(model.feeds[1], logits);
  const auto optimizer =
      mnist::MakeOptimizer({.learning_rate = 0.05, .momentum = momentum ? 0.9 : 0.0});
  model.fetches = {loss};
  model.updates = {tpu::CrossShardOptimizer(optimizer).Minimize(loss)};
  return model;
}

std::shared_ptr<train::Optimizer> ResnetOptimizer(bool momentum) {
  constexpr double kRate = 0.01;
  if (!momentum) return std::make_shared<train::GradientDescent>(kRate);
  return std::make_shared<train::Momentum>(kRate, 0.9,
                                           train::MomentumOptions{.use_nesterov = true});
}

// ResNet-50 of 64x64 pixels.
//   momentum: with Nesterov's momentum of 0.9; the note of MnistModel holds here too.
Model ResnetModel(Mode mode, bool momentum) {
  Model model;
  model.num_classes = 100;
  model.feeds = {Placeholder(DType::kUint8, {8, 64, 64, 3}, "image"),
                 Placeholder(DType::kInt32, {8}, "label")};
  const Tensor images = Cast(model.feeds[0], DType::kFloat32) * (1.0 / 64) - 2.0;
  const Tensor logits = imagenet::Resnet(images, mode, {.num_label_classes = model.num_classes});
  if (mode != Mode::kTrain) {
    model.fetches = FetchesOf(mode, model.feeds[1], logits);
    return model;
  }
  const Tensor cross_entropy = losses::SparseSoftmaxCrossEntropy(model.feeds[1], logits);
  std::vector<Tensor> penalties;
  for (const Variable& variable : Graph::Current().TrainableVariables())
    penalties.push_back(L2Loss(variable));
  const Tensor loss = cross_entropy + AddN(penalties) * 1e-4;
  model.fetches = {loss};
  model.updates = {tpu::CrossShardOptimizer(ResnetOptimizer(momentum)).Minimize(loss)};
  return model;
}

// Images: random pixels, brighter for larger labels. Labels: random classes.
std::vector<Array> DrawBatch(const Model& model, Philox& philox) {
  std::vector<Array> batch;
  Array labels(DType::kInt32, model.feeds[1].shape());
  for (int32_t& label : labels.values<int32_t>())
    label = static_cast<int32_t>(philox.Next4()[0] % static_cast<uint32_t>(model.num_classes));
  Array images(DType::kUint8, model.feeds[0].shape());
  const int64_t pixels = images.num_elements() / labels.num_elements();
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    const auto bright =
        static_cast<uint32_t>(labels.values<int32_t>()[static_cast<size_t>(i / pixels)]);
    images.data<uint8_t>()[i] = static_cast<uint8_t>(philox.Next4()[1] % (120 + bright % 10 * 13));
  }
  return {images, labels};
}

// [step][replica][index] -> [replicas, steps, ...] of one index.
Array StackOf(const std::vector<std::vector<std::vector<Array>>>& steps, size_t index) {
  std::vector<Array> replicas;
  for (size_t replica = 0; replica < steps[0].size(); ++replica) {
    std::vector<Array> rows;
    for (const auto& step : steps) rows.push_back(step[replica][index]);
    replicas.push_back(Stack(rows));
  }
  return Stack(replicas);
}

// An argument or a result of the step: what the list in FOLDER calls it, and its value.
struct StepValue {
  std::string kind;
  Array array;
};

absl::StatusOr<StepValue> ValueOf(const StepArgument& argument, const Options& options,
                                  const VariableStore& store, const std::vector<StepFeeds>& feeds) {
  switch (argument.kind) {
    case StepArgument::Kind::kFeed:
      return StepValue{"feed", StackOf(feeds, static_cast<size_t>(argument.index))};
    case StepArgument::Kind::kNumSteps:
      return StepValue{"num_steps", Array::Scalar(static_cast<int32_t>(options.steps))};
    case StepArgument::Kind::kFirstStep:
      return StepValue{"first_step", Array::Scalar(int64_t{0})};
    case StepArgument::Kind::kVariable:
      break;
  }
  EST_ASSIGN_OR_RETURN(Array array, store.Get(argument.name));
  return StepValue{"variable", std::move(array)};
}

absl::StatusOr<StepValue> ValueOf(const StepResult& result, const Options& options,
                                  const VariableStore& store,
                                  const std::vector<StepFetches>& fetches) {
  switch (result.kind) {
    case StepResult::Kind::kFetch:
      return StepValue{"fetch", StackOf(fetches, static_cast<size_t>(result.index))};
    case StepResult::Kind::kStepsDone:
      return StepValue{"steps_done", Array::Scalar(static_cast<int32_t>(options.steps))};
    case StepResult::Kind::kVariable:
      break;
  }
  EST_ASSIGN_OR_RETURN(Array array, store.Get(result.name));
  return StepValue{"variable", std::move(array)};
}

// Writes the .npy files and the list of all arguments, or of all results.
//   what: "argument" or "result".
//   batches: the feeds or the fetches of each step.
template <typename Item, typename Batches>
absl::Status WriteValues(const Options& options, absl::string_view what,
                         const std::vector<Item>& items, const VariableStore& store,
                         const Batches& batches) {
  std::string list;
  for (size_t i = 0; i < items.size(); ++i) {
    EST_ASSIGN_OR_RETURN(const StepValue value, ValueOf(items[i], options, store, batches));
    EST_RETURN_IF_ERROR(
        SaveNpy(absl::StrCat(options.folder, "/", what, "_", i, ".npy"), value.array));
    absl::StrAppend(&list, value.kind, " ", DTypeName(items[i].spec.dtype), " ", items[i].name,
                    "\n");
  }
  return WriteFileAtomically(absl::StrCat(options.folder, "/", what, "s.txt"), list);
}

absl::Status Run(const Options& options) {
  Graph graph;
  graph.set_seed(1);
  const GraphScope graph_scope(graph);
  const ReplicaScope replica_scope({.num_replicas = options.replicas, .dense_gradients = true});
  const Model model = options.network == "mnist" ? MnistModel(options.mode, options.momentum)
                                                 : ResnetModel(options.mode, options.momentum);
  const bool predicts = options.mode == Mode::kPredict;
  const ProgramSpec spec = {.feeds = predicts ? std::vector<Tensor>{model.feeds[0]} : model.feeds,
                            .fetches = model.fetches,
                            .updates = model.updates};
  const bool trains = options.mode == Mode::kTrain;
  EST_ASSIGN_OR_RETURN(
      const StepModule module,
      tpu::stablehlo::LowerStep(graph, spec,
                                {.name = options.network,
                                 .num_replicas = options.replicas,
                                 .iterations = options.steps,
                                 .guard_fetch = trains ? std::optional<size_t>(0) : std::nullopt}));
  EST_RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(options.folder, "/step.mlir"), module.text));

  VariableStore store;
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store));
  Philox philox(7);
  std::vector<StepFeeds> feeds(static_cast<size_t>(options.steps));
  for (StepFeeds& step : feeds) {
    for (int replica = 0; replica < options.replicas; ++replica)
      step.push_back(DrawBatch(model, philox));
    if (!predicts) continue;
    for (std::vector<Array>& batch : step) batch.resize(1);
  }
  EST_RETURN_IF_ERROR(WriteValues(options, "argument", module.arguments, store, feeds));

  // Direct convolutions have the rounding error of a plain sum, as XLA's have.
  const auto backend =
      MakeCpuBackend(store, {.conv_algorithm = ConvAlgorithm::kDirect}, nullptr, options.replicas);
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, backend->Compile(graph, spec));
  size_t next = 0;
  std::vector<StepFetches> fetches;
  const auto infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> { return feeds[next++]; };
  const auto outfeed = [&](int64_t /*step*/, const StepFetches& values) {
    StepFetches copies;
    for (const std::vector<Array>& replica : values) {
      std::vector<Array>& copy = copies.emplace_back();
      for (const Array& value : replica) copy.push_back(value.Clone());
    }
    fetches.push_back(std::move(copies));
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(executable->RunLoop(options.steps, infeed, outfeed).status());
  return WriteValues(options, "result", module.results, store, fetches);
}

// Sets the network, the mode and the momentum. Returns false for another name.
bool ParseModel(const std::string& name, Options& options) {
  struct Variant {
    const char* suffix;
    Mode mode;
    bool momentum;
  };
  constexpr Variant kVariants[] = {{"", Mode::kTrain, false},
                                   {"_momentum", Mode::kTrain, true},
                                   {"_eval", Mode::kEval, false},
                                   {"_predict", Mode::kPredict, false}};
  for (const char* network : {"mnist", "resnet"}) {
    for (const Variant& variant : kVariants) {
      if (name != absl::StrCat(network, variant.suffix)) continue;
      options.network = network;
      options.mode = variant.mode;
      options.momentum = variant.momentum;
      return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  estimator::Options options;
  const bool has_numbers = (argc < 4 || absl::SimpleAtoi(argv[3], &options.replicas)) &&
                           (argc < 5 || absl::SimpleAtoi(argv[4], &options.steps));
  if (argc > 1) options.folder = argv[1];
  if (argc < 3 || !has_numbers || options.replicas < 1 || options.steps < 1 ||
      !estimator::ParseModel(argv[2], options)) {
    std::cerr << "usage: stablehlo_tool FOLDER MODEL [REPLICAS] [STEPS]\n"
                 "  MODEL: mnist or resnet, alone or with _momentum, _eval or _predict\n";
    return 2;
  }
  const absl::Status status = estimator::Run(options);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
