// Reads the file that describes a SavedModel, written by us or by TensorFlow:
//
//   DIR/saved_model.pb      a serialized tensorflow.SavedModel; it is read if both files exist
//   DIR/saved_model.pbtxt   the same in protobuf's text format, which `as_text` writes
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {

// Errors: as NoSavedModel if neither file exists; DATA_LOSS naming the file if it is not a
// SavedModel.
// Source: TF 2.15 tensorflow/python/saved_model/loader_impl.py, parse_saved_model.
absl::StatusOr<proto::SavedModel> ReadSavedModelProto(absl::string_view dir);

// Reads a `.meta` file, which is a serialized MetaGraphDef.
// Errors: those of the file; DATA_LOSS if it is not a MetaGraphDef.
absl::StatusOr<proto::MetaGraphDef> ReadMetaGraph(absl::string_view path);

// For messages about a graph without signatures. Returns for example "name its tensors instead, in
// a SavedSignature for LoadPredictor; its placeholders are x:0 (f32 [?,2])".
std::string HowToNameTensors(const proto::GraphDef& graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_PROTO_H_
