// ResNet-50, BERT and the flowers model as their TensorFlow programs build them: every layer is
// there, with TensorFlow's names and number of weights; the training step compiles at full size,
// and a small network of the same kind trains on replicas.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/runtime/program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::IsSupersetOf;

struct Training {
  Tensor loss;
  Operation train_op;
};

// Source: tensorflow/tpu models/official/resnet/resnet_model.py (v1.5: a block's stride is in its
// 3x3 convolution).
struct ResNet {
  std::vector<int> blocks = {3, 4, 6, 3};
  int64_t width = 64;
  int64_t classes = 1000;
  bool training = true;

  Tensor BatchNormRelu(const Tensor& x, bool relu = true, bool zero_gamma = false) const {
    const Tensor y = layers::BatchNormalization(
        x, {.momentum = 0.9,
            .epsilon = 1e-5,
            .training = training,
            .gamma_initializer = zero_gamma ? initializers::Zeros() : initializers::Ones()});
    return relu ? Relu(y) : y;
  }
  static Tensor ConvFixedPadding(const Tensor& x, int64_t filters, int64_t size, int64_t stride) {
    const int64_t pad = size - 1, before = pad / 2;
    const Tensor padded =
        stride == 1 ? x : Pad(x, {{0, 0}, {before, pad - before}, {before, pad - before}, {0, 0}});
    return layers::Conv2D(padded, {.filters = filters,
                                   .kernel_size = size,
                                   .strides = stride,
                                   .padding = stride == 1 ? Padding::kSame : Padding::kValid,
                                   .use_bias = false,
                                   .kernel_initializer = initializers::VarianceScaling()});
  }
  Tensor Bottleneck(const Tensor& x, int64_t filters, int64_t stride, bool project) const {
    const Tensor shortcut =
        project ? BatchNormRelu(ConvFixedPadding(x, 4 * filters, 1, stride), /*relu=*/false) : x;
    Tensor y = BatchNormRelu(ConvFixedPadding(x, filters, 1, 1));
    y = BatchNormRelu(ConvFixedPadding(y, filters, 3, stride));
    y = BatchNormRelu(ConvFixedPadding(y, 4 * filters, 1, 1), /*relu=*/false, /*zero_gamma=*/true);
    return Relu(y + shortcut);
  }
  // images: f32 [N, H, W, 3].  Returns f32 [N, classes].
  Tensor Logits(const Tensor& images) const {
    Tensor x = BatchNormRelu(ConvFixedPadding(images, width, 7, 2));
    x = layers::MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
    for (size_t group = 0; group < blocks.size(); ++group) {
      for (int block = 0; block < blocks[group]; ++block) {
        const int64_t stride = group > 0 && block == 0 ? 2 : 1;
        x = Bottleneck(x, width << group, stride, /*project=*/block == 0);
      }
    }
    x = layers::GlobalAveragePooling2D(x);
    return layers::Dense(
        x, {.units = classes, .kernel_initializer = initializers::RandomNormal({.stddev = 0.01})});
  }
  // Cross entropy, and a penalty on all weights but batch normalization's; momentum under steps.
  Training Train(const Tensor& images, const Tensor& labels) const {
    const Tensor cross_entropy = losses::SoftmaxCrossEntropy(
        OneHot(labels, classes), Logits(images), {.label_smoothing = 0.1});
    std::vector<Tensor> penalties;
    for (const Variable& variable : Graph::Current().TrainableVariables()) {
      if (!absl::StrContains(variable.name(), "batch_normalization"))
        penalties.push_back(L2Loss(variable));
    }
    const Tensor loss = cross_entropy + 1e-4 * AddN(penalties);
    const Schedule rate = train::WarmUpThen(
        {.warmup_steps = 5, .peak = 0.1},
        train::PiecewiseConstant({.boundaries = {30, 60, 80}, .values = {0.1, 0.01, 1e-3, 1e-4}}));
    return {loss,
            CrossShardOptimizer(train::Momentum(rate, 0.9, {.use_nesterov = true})).Minimize(loss)};
  }
};

// Source: google-research/bert modeling.py, run_classifier.py, optimization.py.
struct Bert {
  int64_t words = 30522, hidden = 768, layers = 12, heads = 12, positions = 512, labels = 2;
  bool training = true;

  static Initializer Init() { return initializers::TruncatedNormal({.stddev = 0.02}); }
  Tensor Drop(const Tensor& x) const {
    return estimator::layers::Dropout(x, {.rate = 0.1, .training = training});
  }
  static Tensor Norm(const Tensor& x) {
    return estimator::layers::LayerNorm(x, {.begin_norm_axis = -1, .name = "LayerNorm"});
  }
  static Tensor Dense(const Tensor& x, int64_t units, const std::string& name,
                      const Activation& activation = nullptr) {
    return estimator::layers::Dense(
        x, {.units = units, .activation = activation, .kernel_initializer = Init(), .name = name});
  }
  Tensor Embeddings(const Tensor& ids, const Tensor& segments) const {
    const VariableScope scope("embeddings");
    const int64_t length = ids.dim(1);
    const Variable table = GetVariable("word_embeddings", {words, hidden}, {.initializer = Init()}),
                   types =
                       GetVariable("token_type_embeddings", {2, hidden}, {.initializer = Init()}),
                   places = GetVariable("position_embeddings", {positions, hidden},
                                        {.initializer = Init()});
    Tensor x = Gather(table, ids);  // f32 [N, length, hidden]
    x = x + Reshape(MatMul(OneHot(Reshape(segments, {-1}), 2), types), x.shape());
    x = x + Reshape(Slice(places, {0, 0}, {length, hidden}), {1, length, hidden});
    return Drop(Norm(x));
  }
  // x: f32 [N * length, hidden]; bias: f32 [N, 1, length, length].
  Tensor Attention(const Tensor& x, const Tensor& bias) const {
    const int64_t n = bias.dim(0), length = bias.dim(2), size = hidden / heads;
    Tensor context;
    {
      const VariableScope scope("self");
      const auto heads_of = [&](const std::string& name) {
        return Transpose(Reshape(Dense(x, hidden, name), {n, length, heads, size}), {0, 2, 1, 3});
      };
      const Tensor query = heads_of("query"), key = heads_of("key"), value = heads_of("value");
      const Tensor scores =
          MatMul(query, key, {.transpose_b = true}) * (1 / std::sqrt(static_cast<double>(size)));
      context = MatMul(Drop(Softmax(scores + bias)), value);
      context = Reshape(Transpose(context, {0, 2, 1, 3}), {n * length, hidden});
    }
    const VariableScope scope("output");
    return Norm(Drop(Dense(context, hidden, "dense")) + x);
  }
  Tensor Layer(const Tensor& x, const Tensor& bias) const {
    Tensor attended;
    {
      const VariableScope scope("attention");
      attended = Attention(x, bias);
    }
    Tensor wide;
    {
      const VariableScope scope("intermediate");
      wide = Dense(attended, 4 * hidden, "dense", GeluApproximate);
    }
    const VariableScope scope("output");
    return Norm(Drop(Dense(wide, hidden, "dense")) + attended);
  }
  // ids, mask, segments: i32 [N, length].  Returns f32 [N, hidden], tanh of the first word's.
  Tensor Pooled(const Tensor& ids, const Tensor& mask, const Tensor& segments) const {
    const int64_t n = ids.dim(0), length = ids.dim(1);
    const VariableScope scope("bert");
    Tensor x = Reshape(Embeddings(ids, segments), {-1, hidden});
    const Tensor bias = (1 - Cast(Reshape(mask, {n, 1, 1, length}), DType::kFloat32)) *
                        Ones({n, 1, length, 1}) * -10000;
    {
      const VariableScope encoder("encoder");
      for (int64_t i = 0; i < layers; ++i) {
        const VariableScope layer(absl::StrCat("layer_", i));
        x = Layer(x, bias);
      }
    }
    const VariableScope pooler("pooler");
    const Tensor first = Slice(Reshape(x, {n, length, hidden}), {0, 0, 0}, {n, 1, hidden});
    return Dense(Reshape(first, {n, hidden}), hidden, "dense", Tanh);
  }
  // Fine-tuning of a classifier: clipped gradients, weights that decay, a rate that rises and
  // falls.
  Training Train(const Tensor& ids, const Tensor& mask, const Tensor& segments,
                 const Tensor& classes) const {
    const Tensor pooled = Drop(Pooled(ids, mask, segments));
    const Variable weights =
                       GetVariable("output_weights", {labels, hidden}, {.initializer = Init()}),
                   bias =
                       GetVariable("output_bias", {labels}, {.initializer = initializers::Zeros()});
    const Tensor logits = BiasAdd(MatMul(pooled, weights, {.transpose_b = true}), bias);
    const Tensor loss = ReduceMean(-ReduceSum(OneHot(classes, labels) * LogSoftmax(logits), {-1}));
    CrossShardOptimizer optimizer(train::AdamWeightDecay(
        train::WarmUp(10, 5e-5,
                      train::PolynomialDecay({.initial = 5e-5, .decay_steps = 100, .end = 0})),
        {.weight_decay_rate = 0.01,
         .exclude_from_weight_decay = {"LayerNorm", "layer_norm", "bias"}}));
    const std::vector<Variable> variables = Graph::Current().TrainableVariables();
    const std::vector<Tensor> gradients = ClipByGlobalNorm(Gradients(loss, variables), 1.0).tensors;
    std::vector<train::GradientAndVariable> pairs;
    for (size_t i = 0; i < variables.size(); ++i) pairs.push_back({gradients[i], variables[i]});
    return {loss, Group({optimizer.ApplyGradients(pairs),
                         AssignAdd(GetOrCreateGlobalStep(), Constant<int64_t>(1))})};
  }
};

// Source: GoogleCloudPlatform/training-data-analyst, flowersmodeltpu/model.py.
struct Flowers {
  int64_t classes = 5;
  bool training = true;

  Training Train(const Tensor& images, const Tensor& labels) const {
    Tensor x = images;  // f32 [N, H, W, 3]
    for (const int64_t filters : {10, 20}) {
      x = layers::Conv2D(
          x, {.filters = filters, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
      x = layers::MaxPooling2D(x, {.pool_size = 2, .strides = 2});
    }
    x = layers::Dense(layers::Flatten(x), {.units = 300});
    x = Relu(layers::BatchNormalization(x, {.training = training}));
    x = layers::Dropout(x, {.rate = 0.25, .training = training});
    const Tensor logits = layers::Dense(x, {.units = classes});
    const Tensor loss = ReduceMean(SoftmaxCrossEntropyWithLogits(OneHot(labels, classes), logits));
    return {loss, CrossShardOptimizer(train::Adam(0.01)).Minimize(loss)};
  }
};

// The training graph of a model_fn, and what a test asks of it.
struct Built {
  Graph graph;
  Training step;
  std::vector<Tensor> feeds;

  explicit Built(const std::function<Training(Built&)>& model) {
    const ReplicaScope replicas({.num_replicas = 8, .dense_gradients = true});
    const GraphScope scope(graph);
    step = model(*this);
    EST_EXPECT_OK(graph.status());
  }
  Tensor Feed(DType dtype, const Shape& shape) {
    feeds.push_back(Placeholder(dtype, shape));
    return feeds.back();
  }
  int64_t NumWeights() const {
    int64_t sum = 0;
    for (const Variable& variable : graph.TrainableVariables())
      sum += variable.shape().num_elements();
    return sum;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Variable& variable : graph.variables()) names.push_back(variable.name());
    return names;
  }
  // Of one step, with its updates.
  absl::Status Compile() const {
    std::vector<Operation> updates = graph.update_ops();
    updates.push_back(step.train_op);
    return Program::Compile(graph, {.feeds = feeds, .fetches = {step.loss}, .updates = updates},
                            {.single_replica = false})
        .status();
  }
};

TEST(KnownNetworks, ResNet50IsWholeAndItsTrainingStepCompiles) {
  const Built net([](Built& built) {
    return ResNet().Train(built.Feed(DType::kFloat32, {2, 224, 224, 3}),
                          built.Feed(DType::kInt32, {2}));
  });
  EXPECT_EQ(net.NumWeights(), 25557032);  // as published
  EXPECT_EQ(net.graph.TrainableVariables().size(), 161u);
  EXPECT_EQ(net.graph.update_ops().size(), 106u);
  EXPECT_THAT(net.Names(), IsSupersetOf({"conv2d/kernel", "conv2d_52/kernel",
                                         "batch_normalization_52/moving_variance",
                                         "conv2d_1/kernel/Momentum", "dense/bias", "global_step"}));
  EXPECT_EQ(net.graph.FindVariable("conv2d_1/kernel")->spec().ToString(), "f32 [1,1,64,256]")
      << "the projection comes before the convolutions of its block";
  const absl::Status compiled = net.Compile();
  EST_EXPECT_OK(compiled);
}

TEST(KnownNetworks, BertBaseIsWholeAndItsFineTuningCompiles) {
  const Built net([](Built& built) {
    const Tensor ids = built.Feed(DType::kInt32, {2, 128}),
                 mask = built.Feed(DType::kInt32, {2, 128}),
                 segments = built.Feed(DType::kInt32, {2, 128});
    return Bert().Train(ids, mask, segments, built.Feed(DType::kInt32, {2}));
  });
  EXPECT_EQ(net.NumWeights(), 109482240 + 2 * 768 + 2);  // BERT-base, uncased, and the classifier
  EXPECT_EQ(net.graph.TrainableVariables().size(), 199u + 2);
  EXPECT_THAT(
      net.Names(),
      IsSupersetOf({"bert/embeddings/word_embeddings", "bert/embeddings/token_type_embeddings",
                    "bert/embeddings/position_embeddings", "bert/embeddings/LayerNorm/gamma",
                    "bert/encoder/layer_0/attention/self/query/kernel",
                    "bert/encoder/layer_11/attention/output/LayerNorm/beta",
                    "bert/encoder/layer_11/intermediate/dense/bias",
                    "bert/encoder/layer_11/output/dense/kernel/adam_v", "bert/pooler/dense/kernel",
                    "output_weights/adam_m", "output_bias"}));
  const absl::Status compiled = net.Compile();
  EST_EXPECT_OK(compiled);
}

TEST(KnownNetworks, TheFlowersModelIsWholeAndItsTrainingStepCompiles) {
  const Built net([](Built& built) {
    return Flowers().Train(built.Feed(DType::kFloat32, {2, 299, 299, 3}),
                           built.Feed(DType::kInt32, {2}));
  });
  // conv 5x5x3x10 and 5x5x10x20, dense 74*74*20 to 300 with beta and gamma, dense to 5.
  EXPECT_EQ(net.NumWeights(), 760 + 5020 + 109520 * 300 + 300 + 600 + 1505);
  const absl::Status compiled = net.Compile();
  EST_EXPECT_OK(compiled);
}

// Three steps on two replicas; a loss that is not finite would be an error.
void ExpectTrains(const TinyTPUEstimator::ModelFn& model_fn, const Element& examples) {
  const TempDir dir;
  auto options = TinyTPUOptions(dir.path(), 2);
  options.config.save_checkpoints_steps = 0;
  options.train_batch_size = 4;
  options.model_fn = model_fn;
  TinyTPUEstimator estimator(options);
  const absl::Status status = estimator.Train(
      [&examples](const Params& params) {
        return Dataset::FromTensorSlices(examples).Repeat().Batch(params.batch_size,
                                                                  {.drop_remainder = true});
      },
      Steps(3));
  EST_EXPECT_OK(status);
}

TPUEstimatorSpec SpecOf(const Training& step) {
  return TPUEstimatorSpec::Train(step.loss, step.train_op);
}

Array Numbers(DType dtype, const Shape& shape, int below) {
  Array numbers(DType::kFloat32, shape);
  int i = 0;
  for (float& value : numbers.values<float>()) value = static_cast<float>((i++ * 7) % below);
  return numbers.Cast(dtype);
}

TEST(KnownNetworks, SmallOnesTrainOnReplicas) {
  const Element pictures = {.features = {{"image", Numbers(DType::kFloat32, {8, 32, 32, 3}, 5)}},
                            .labels = Numbers(DType::kInt32, {8}, 5)};
  ExpectTrains(
      [](const Features& features, const Labels& labels, Mode mode, const Params&) {
        const ResNet net{
            .blocks = {1, 1, 1, 1}, .width = 8, .classes = 5, .training = mode == Mode::kTrain};
        return SpecOf(net.Train(features["image"], labels));
      },
      pictures);
  ExpectTrains(
      [](const Features& features, const Labels& labels, Mode mode, const Params&) {
        const Flowers net{.classes = 5, .training = mode == Mode::kTrain};
        return SpecOf(net.Train(features["image"], labels));
      },
      pictures);
  const Element sentences = {.features = {{"ids", Numbers(DType::kInt32, {8, 16}, 50)},
                                          {"mask", Numbers(DType::kInt32, {8, 16}, 2)},
                                          {"segments", Numbers(DType::kInt32, {8, 16}, 2)}},
                             .labels = Numbers(DType::kInt32, {8}, 2)};
  ExpectTrains(
      [](const Features& features, const Labels& labels, Mode mode, const Params&) {
        const Bert net{.words = 50,
                       .hidden = 32,
                       .layers = 2,
                       .heads = 4,
                       .positions = 20,
                       .training = mode == Mode::kTrain};
        return SpecOf(net.Train(features["ids"], features["mask"], features["segments"], labels));
      },
      sentences);
}

}  // namespace
}  // namespace estimator::tpu
