// InputReceiver: the input of an exported model. It has the tensors that a request feeds, and the
// features that are computed from them.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_INPUT_RECEIVER_H_
#define ESTIMATOR_EXPORT_SIGNATURE_INPUT_RECEIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/export/signature/named_tensors.h"

namespace estimator {

// Other tensors that a request may feed instead, by the name of the alternative. Each alternative
// NAME makes a further signature NAME:KEY for each signature KEY.
using ReceiverTensorsAlternatives = std::map<std::string, NamedTensors>;

// Placeholders for the features of serialized Examples. When the graph runs here, they are fed with
// parsed values. In an exported GraphDef they are the outputs of a ParseExampleV2 node.
struct ExampleParsing {
  Tensor serialized;   // string [batch]
  FeatureSpecs specs;  // by the name in the Example; integers are int64
  // The placeholders, by the names of ParseSingleExample's results: [batch, ...shape], [batch,
  // max_length, ...shape], and int32 [batch] for LengthName of a VarLenFeature.
  std::map<std::string, Tensor> parsed;
};

// Make it with one of the functions below.
struct InputReceiver {
  NamedTensors features = {};  // passed to model_fn
  NamedTensors labels = {};    // only in a supervised receiver
  NamedTensors receiver_tensors = {};
  ReceiverTensorsAlternatives receiver_tensors_alternatives = {};
  std::optional<ExampleParsing> parsing = std::nullopt;
  // The batch size of the placeholders if the receiver has a default_batch_size. None: the size
  // that the caller asked for.
  std::optional<int64_t> batch_size = std::nullopt;
  absl::Status status = {};  // an error of the arguments
};

// A receiver for serving. A single tensor without a name is called `feature` as a feature, and
// `input` as a receiver tensor. Names are strings: TensorFlow's integer keys are not supported.
// Errors (in status): INVALID_ARGUMENT for an empty name, or if there are no tensors.
// Source: TF 2.15 tf.estimator.export.ServingInputReceiver.
InputReceiver ServingInputReceiver(const NamedTensors& features,
                                   const NamedTensors& receiver_tensors,
                                   ReceiverTensorsAlternatives alternatives = {});
// The same for a model_fn whose features are one tensor without a name.
InputReceiver TensorServingInputReceiver(const Tensor& features,
                                         const NamedTensors& receiver_tensors,
                                         ReceiverTensorsAlternatives alternatives = {});
// A receiver for training and evaluation graphs, which feeds labels too. A single label without a
// name is called `label`.
InputReceiver SupervisedInputReceiver(const NamedTensors& features, const NamedTensors& labels,
                                      const NamedTensors& receiver_tensors);

// Builds the placeholders and the computation of the features in the current graph. Where
// TensorFlow's shapes have None, use `batch_size`. The exporter calls the function with several
// sizes, and compares the graphs to find a form that takes any batch size.
using ServingInputReceiverFn = std::function<InputReceiver(int64_t batch_size)>;

// Returns a function that builds a placeholder for each feature, with the feature's name.
//   features: axis 0 of each is the batch; its size is not used.
//   default_batch_size: the only batch size of the exported model. None: it takes any.
// Source: TF 2.15 tf.estimator.export.build_raw_serving_input_receiver_fn.
ServingInputReceiverFn BuildRawServingInputReceiverFn(
    std::map<std::string, TensorSpec> features,
    std::optional<int64_t> default_batch_size = std::nullopt);
// The same with placeholders for labels.
// Errors (in the receiver's status): INVALID_ARGUMENT if a feature and a label have the same name.
// Source: TF 2.15 tf.estimator.experimental.build_raw_supervised_input_receiver_fn.
ServingInputReceiverFn BuildRawSupervisedInputReceiverFn(
    std::map<std::string, TensorSpec> features, std::map<std::string, TensorSpec> labels,
    std::optional<int64_t> default_batch_size = std::nullopt);
// Returns a function that builds a receiver of serialized tf.train.Examples. The input `examples`
// feeds the string placeholder `input_example_tensor`, and the graph parses it. An i32 feature is
// parsed as int64 and then cast. The features are those of ParseExample: a VarLenFeature or a
// FixedLenSequenceFeature is padded to its max_length, and `<name>_length` is a feature too for a
// VarLenFeature. A request with more values than max_length is an error.
// Errors (in the receiver's status): INVALID_ARGUMENT for a feature of variable length without
// max_length, because shapes are static, and if a feature has the name `<name>_length` of another.
// As CheckFeatureSpec.
// Source: TF 2.15 tf.estimator.export.build_parsing_serving_input_receiver_fn.
ServingInputReceiverFn BuildParsingServingInputReceiverFn(
    FeatureSpecs feature_spec, std::optional<int64_t> default_batch_size = std::nullopt);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_INPUT_RECEIVER_H_
