// Prints the ops of a training step of public networks with the share of each, and which of them
// run the one-thread kernels of the reference tier:
//   bazel run //tools/op_table:op_table_benchmark [NETWORK...]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/estimator.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/trace.h"
#include "models/bert/modeling.h"
#include "models/bert/optimization.h"

namespace estimator {
namespace {

// A training step: its placeholders with a value for each, and its update.
struct TrainingStep {
  std::vector<Tensor> feeds;
  std::vector<Array> values;
  Operation update;
};

struct Network {
  std::string name;
  // Adds the network to the current graph.
  std::function<TrainingStep()> build;
};

using Tensors = std::vector<Tensor>;

// Collects the placeholders of a step.
class Inputs {
 public:
  Tensor Floats(const Shape& shape) {
    Array value(DType::kFloat32, shape);
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.data<float>()[i] = static_cast<float>(i * 7919 % 1000) / 1000;
    return Add(std::move(value));
  }
  Tensor Ints(const Shape& shape, int64_t end) {
    Array value(DType::kInt32, shape);
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % end);
    return Add(std::move(value));
  }
  TrainingStep Step(Operation update) && {
    return {std::move(feeds_), std::move(values_), std::move(update)};
  }

 private:
  Tensor Add(Array value) {
    feeds_.push_back(Placeholder(value.dtype(), value.shape()));
    values_.push_back(std::move(value));
    return feeds_.back();
  }
  Tensors feeds_;
  std::vector<Array> values_;
};

Operation MinimizeByRmsProp(const Tensor& loss) { return train::RMSProp(0.05).Minimize(loss); }

Tensor Sparse(const Tensor& labels, const Tensor& logits) {
  return ReduceMean(SparseSoftmaxCrossEntropyWithLogits(labels, logits));
}

// ---- BERT

// The network of models/bert, with 2 of its 12 layers.
TrainingStep Bert() {
  constexpr int64_t kBatch = 8, kLength = 128;
  const bert::BertConfig config = {.num_hidden_layers = 2, .type_vocab_size = 2};
  Inputs inputs;
  const bert::BertInput words = {.input_ids = inputs.Ints({kBatch, kLength}, config.vocab_size),
                                 .input_mask = inputs.Ints({kBatch, kLength}, 2),
                                 .token_type_ids = inputs.Ints({kBatch, kLength}, 2)};
  const Tensor labels = inputs.Ints({kBatch}, 2);
  const Tensor pooled = bert::BuildBertModel(config, /*is_training=*/true, words).pooled_output;
  const Tensor logits =
      layers::Dense(layers::Dropout(pooled, {.rate = 0.1, .training = true}), {.units = 2});
  return std::move(inputs).Step(
      bert::CreateOptimizer(Sparse(labels, logits), {.num_train_steps = 1000}));
}

// ---- cloudml-samples

TrainingStep Basic() {
  Inputs inputs;
  const Tensor x = inputs.Floats({16, 5}), y = inputs.Floats({16});
  const Tensor hidden = layers::Dense(x, {.units = 10, .activation = Relu});
  return std::move(inputs).Step(MinimizeByRmsProp(L2Loss(layers::Dense(hidden, {.units = 1}) - y)));
}

TrainingStep Cnn() {
  Inputs inputs;
  Tensor x = inputs.Floats({16, 28, 28, 1});
  const Tensor labels = inputs.Ints({16}, 10);
  x = layers::Conv2D(x, {.filters = 16, .kernel_size = 4, .strides = 2});
  x = layers::MaxPooling2D(x, {.pool_size = 4, .strides = 2});
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 1});
  x = layers::MaxPooling2D(x, {.pool_size = 2, .strides = 2});
  return std::move(inputs).Step(
      MinimizeByRmsProp(Sparse(labels, layers::Dense(layers::Flatten(x), {.units = 10}))));
}

TrainingStep Film() {
  Inputs inputs;
  Tensor x = inputs.Floats({16, 28, 28, 3});
  const Tensor modulation = inputs.Floats({16, 5}), labels = inputs.Ints({16}, 10);
  const Tensor parameters =
      layers::Dense(layers::Dense(modulation, {.units = 128, .activation = Relu}), {.units = 192});
  int64_t begin = 0;
  for (const int64_t filters : {32, 64}) {
    const auto of = [&](int64_t start) {
      return Reshape(Slice(parameters, {0, start}, {16, filters}), {16, 1, 1, filters});
    };
    x = layers::Conv2D(x, {.filters = filters, .kernel_size = 3});
    x = Relu(of(begin) * x + of(96 + begin));
    begin += filters;
  }
  return std::move(inputs).Step(MinimizeByRmsProp(losses::SoftmaxCrossEntropy(
      OneHot(labels, 10), layers::Dense(layers::Flatten(x), {.units = 10}))));
}

// The generator's step of a Wasserstein GAN.
TrainingStep Gan() {
  Inputs inputs;
  const Tensor noise = inputs.Floats({16, 5});
  const Tensor made = layers::Dense(noise, {.units = 3});
  return std::move(inputs).Step(MinimizeByRmsProp(-ReduceMean(layers::Dense(made, {.units = 1}))));
}

TrainingStep Grl() {
  Inputs inputs;
  const Tensor both = inputs.Floats({32, 5}), labels = inputs.Ints({16}, 10);
  const Tensor features = layers::Dense(both, {.units = 7, .activation = Sigmoid});
  const Tensor source = Slice(features, {0, 0}, {16, 7}),
               target = Slice(features, {16, 0}, {16, 7});
  const Tensor reversed = StopGradient(2.0 * target) - target;
  const Tensor label_loss =
      losses::SoftmaxCrossEntropy(OneHot(labels, 10), layers::Dense(source, {.units = 10}));
  const Tensor domains = Concat({Zeros({16}, DType::kInt32), Ones({16}, DType::kInt32)}, 0);
  const Tensor domain_loss = losses::SoftmaxCrossEntropy(
      OneHot(domains, 2), layers::Dense(Concat({source, reversed}, 0), {.units = 2}));
  return std::move(inputs).Step(MinimizeByRmsProp(label_loss + domain_loss));
}

TrainingStep Lstm() {
  constexpr int64_t kUnits = 7, kSteps = 5;
  Inputs inputs;
  const Tensor ids = inputs.Ints({16, kSteps}, 10), labels = inputs.Ints({16 * kSteps}, 10);
  const Tensor x = Gather(GetVariable("embedding_table", {10, kUnits}), ids);
  const Tensors outputs = StaticRnn(rnn_cell::BasicLSTMCell(kUnits), Unstack(x, 1)).outputs;
  const Tensor logits = layers::Dense(Reshape(Stack(outputs, 1), {-1, kUnits}), {.units = 10});
  return std::move(inputs).Step(MinimizeByRmsProp(Sparse(labels, logits)));
}

// max or min over the columns of `data` for which `mask` is 1, as the public program has them.
Tensor MaskedMaximum(const Tensor& data, const Tensor& mask) {
  const Tensor lowest = ReduceMin(data, {1}, {.keepdims = true});
  return ReduceMax((data - lowest) * mask, {1}, {.keepdims = true}) + lowest;
}
Tensor MaskedMinimum(const Tensor& data, const Tensor& mask) {
  const Tensor highest = ReduceMax(data, {1}, {.keepdims = true});
  return ReduceMin((data - highest) * mask, {1}, {.keepdims = true}) + highest;
}

TrainingStep TripletLoss() {
  constexpr int64_t kRows = 256;
  Inputs inputs;
  const Tensor x = inputs.Floats({kRows, 784}), labels = inputs.Ints({kRows}, 10);
  const Tensor y = L2Normalize(
      layers::Dense(layers::Dense(x, {.units = 100, .activation = Relu}), {.units = 64}), {1});
  const Tensor squares = ReduceSum(Square(y), {1}, {.keepdims = true});
  const Tensor distances =
      Maximum(squares + Transpose(squares) - 2.0 * MatMul(y, y, {.transpose_b = true}), 0.0);
  const Tensor same = Equal(Reshape(labels, {kRows, 1}), Reshape(labels, {1, kRows}));
  const Tensor other = LogicalNot(same);
  const Tensor tiled = Tile(distances, {kRows, 1});
  const Tensor mask = Cast(
      LogicalAnd(Tile(other, {kRows, 1}), Greater(tiled, Reshape(Transpose(distances), {-1, 1}))),
      DType::kFloat32);
  const Tensor has_outside = Transpose(Reshape(Greater(ReduceSum(mask, {1}), 0.0), {kRows, kRows}));
  const Tensor outside = Transpose(Reshape(MaskedMinimum(tiled, mask), {kRows, kRows}));
  const Tensor inside = Tile(MaskedMaximum(distances, Cast(other, DType::kFloat32)), {1, kRows});
  const Tensor loss = distances + 1.0 - Where(has_outside, outside, inside);
  const Tensor positives = Cast(same, DType::kFloat32) - MatrixDiag(Ones({kRows}));
  return std::move(inputs).Step(
      MinimizeByRmsProp(ReduceSum(Maximum(loss * positives, 0.0)) / ReduceSum(positives)));
}

// BERT base for classification with 2 of its 12 layers: batch 8, 128 tokens. Then the seven
// networks of cloudml-samples' tpu/templates with their batch sizes: basic, cnn, film, gan, grl,
// lstm (5 steps) and triplet_loss.
std::vector<Network> PublicNetworks() {
  return {{"bert", Bert}, {"basic", Basic}, {"cnn", Cnn},   {"film", Film},
          {"gan", Gan},   {"grl", Grl},     {"lstm", Lstm}, {"triplet_loss", TripletLoss}};
}

constexpr int64_t kSteps = 10;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void Measure(const Network& network) {
  Graph graph;
  const GraphScope scope(graph);
  const TrainingStep step = network.build();
  Check(graph.status());
  VariableStore store;
  Check(InitializeVariables(graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store, {.single_replica = true});
  absl::StatusOr<std::unique_ptr<Executable>> executable =
      backend->Compile(graph, {.feeds = step.feeds, .fetches = {}, .updates = {step.update}});
  Check(executable.status());
  const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
    return StepFeeds{step.values};
  };
  Check((*executable)->RunLoop(2, infeed, nullptr).status());
  const auto trace = std::make_shared<Trace>();
  SetThreadTrace(trace);
  Check((*executable)->RunLoop(kSteps, infeed, nullptr).status());
  SetThreadTrace(nullptr);
  std::printf("%s\n%s\n", network.name.c_str(), OpTable(*trace, kSteps).c_str());
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  for (const estimator::Network& network : estimator::PublicNetworks()) {
    if (names.empty() || std::find(names.begin(), names.end(), network.name) != names.end())
      estimator::Measure(network);
  }
  return 0;
}
