// Reads the file that says what a SavedModel holds, ours or TensorFlow's:
//
//   DIR/saved_model.pb      a serialized tensorflow.SavedModel, read where both are there
//   DIR/saved_model.pbtxt   the same in protobuf's text format, as `as_text` writes it
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {

// Errors: NoSavedModel's if there is neither file; DATA_LOSS naming the file if it is no
// SavedModel. Source: TF 2.15 tensorflow/python/saved_model/loader_impl.py, parse_saved_model.
absl::StatusOr<proto::SavedModel> ReadSavedModelProto(absl::string_view dir);

// A `.meta` file: a serialized MetaGraphDef. Errors: of the file; DATA_LOSS if it is no
// MetaGraphDef.
absl::StatusOr<proto::MetaGraphDef> ReadMetaGraph(absl::string_view path);

// How to name the tensors of a graph without signatures, and its placeholders: "name its tensors
// instead, in a SavedSignature for LoadPredictor; its placeholders are x:0 (f32 [?,2])".
std::string HowToNameTensors(const proto::GraphDef& graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_
