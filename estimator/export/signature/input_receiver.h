// InputReceiver: how requests enter an exported model: what a caller feeds, and the features that
// become of it.
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

// Receiver tensors by the name of the alternative: each makes further signatures, NAME:KEY.
using ReceiverTensorsAlternatives = std::map<std::string, NamedTensors>;

// Placeholders that stand for what comes out of serialized Examples. Such a graph runs here with
// parsed values; in a GraphDef they are the outputs of a ParseExampleV2 node.
struct ExampleParsing {
  Tensor serialized;                     // string [batch]
  FeatureSpecs specs;                    // FixedLenFeature each, by the name in the Example
  std::map<std::string, Tensor> parsed;  // the placeholders, [batch, ...shape]
};

// Made by one of the functions below.
struct InputReceiver {
  NamedTensors features = {};  // what model_fn gets
  NamedTensors labels = {};    // of a supervised receiver
  NamedTensors receiver_tensors = {};
  ReceiverTensorsAlternatives receiver_tensors_alternatives = {};
  std::optional<ExampleParsing> parsing = std::nullopt;
  // The rows it has placeholders for, where it was not the caller who said: a default_batch_size.
  std::optional<int64_t> batch_size = std::nullopt;
  absl::Status status = {};  // what is wrong with it
};

// Features by name; a bare tensor is called `feature`, a bare receiver tensor `input`.
// Errors (in status): INVALID_ARGUMENT for an empty name, or where nothing is given.
// Source: TF 2.15 tf.estimator.export.ServingInputReceiver. Names are strings: the integer keys
// that TensorFlow allows for features have no counterpart.
InputReceiver ServingInputReceiver(const NamedTensors& features,
                                   const NamedTensors& receiver_tensors,
                                   ReceiverTensorsAlternatives alternatives = {});
// The same for a model_fn that takes one bare tensor.
InputReceiver TensorServingInputReceiver(const Tensor& features,
                                         const NamedTensors& receiver_tensors,
                                         ReceiverTensorsAlternatives alternatives = {});
// For training and evaluation graphs: labels are fed, too (a bare tensor: `label`).
InputReceiver SupervisedInputReceiver(const NamedTensors& features, const NamedTensors& labels,
                                      const NamedTensors& receiver_tensors);

// Builds placeholders, with `batch_size` where TensorFlow has None, in the current graph, and what
// makes features of them. Called several times: a served model takes any batch size, which the
// exporter finds out by comparing graphs of several sizes.
using ServingInputReceiverFn = std::function<InputReceiver(int64_t batch_size)>;

// A placeholder for each feature, called as the feature; axis 0 of each spec is the batch.
// default_batch_size: the only size that the exported model takes; none: any.
// Source: TF 2.15 tf.estimator.export.build_raw_serving_input_receiver_fn.
ServingInputReceiverFn BuildRawServingInputReceiverFn(
    std::map<std::string, TensorSpec> features,
    std::optional<int64_t> default_batch_size = std::nullopt);
// Source: TF 2.15 tf.estimator.experimental.build_raw_supervised_input_receiver_fn. Errors (in the
// receiver's status): INVALID_ARGUMENT where a feature and a label have the same name.
ServingInputReceiverFn BuildRawSupervisedInputReceiverFn(
    std::map<std::string, TensorSpec> features, std::map<std::string, TensorSpec> labels,
    std::optional<int64_t> default_batch_size = std::nullopt);
// Takes serialized tf.train.Examples, fed as `examples` into the string placeholder
// `input_example_tensor`, and parses them in the graph. An i32 feature is parsed as int64 and cast.
// Errors (in the receiver's status): UNIMPLEMENTED for features that are not FixedLenFeatures, with
// what to do instead: their sizes depend on the request; as CheckFixedLenFeature. Source: TF 2.15
// tf.estimator.export.build_parsing_serving_input_receiver_fn.
ServingInputReceiverFn BuildParsingServingInputReceiverFn(
    FeatureSpecs feature_spec, std::optional<int64_t> default_batch_size = std::nullopt);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_INPUT_RECEIVER_H_
