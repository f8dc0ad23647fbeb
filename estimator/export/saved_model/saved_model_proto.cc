#include "estimator/export/saved_model/saved_model_proto.h"

#include <google/protobuf/text_format.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/export/saved_model/find_saved_model.h"
#include "estimator/export/signature/saved_signature.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/serialize.h"

namespace estimator {

absl::StatusOr<proto::SavedModel> ReadSavedModelProto(absl::string_view dir) {
  std::string path = JoinPath(dir, "saved_model.pb");
  // TensorFlow reads the binary file if there are both.
  const bool binary = FileExists(path);
  if (!binary) path = JoinPath(dir, "saved_model.pbtxt");
  if (!FileExists(path)) return NoSavedModel(dir);
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxMessageBytes));
  proto::SavedModel model;
  google::protobuf::TextFormat::Parser text;
  text.SetRecursionLimit(kMaxNesting);
  const bool parsed = binary
                          ? ParseWithinLimit(bytes, &model)
                          : bytes.size() <= kMaxMessageBytes && text.ParseFromString(bytes, &model);
  if (parsed) return model;
  return DataLoss(path, ": these ", bytes.size(), " bytes are not a SavedModel",
                  binary ? "" : " in protobuf's text format");
}

absl::StatusOr<proto::MetaGraphDef> ReadMetaGraph(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxMessageBytes));
  proto::MetaGraphDef graph;
  if (!ParseWithinLimit(bytes, &graph)) {
    return DataLoss(path, ": these ", bytes.size(), " bytes are not a MetaGraphDef");
  }
  return graph;
}

std::string HowToNameTensors(const proto::GraphDef& graph) {
  std::vector<std::string> placeholders;
  for (const proto::NodeDef& node : graph.node()) {
    if (node.op() != "Placeholder") continue;
    const auto dtype = node.attr().find("dtype"), shape = node.attr().find("shape");
    SavedTensor tensor;
    if (dtype != node.attr().end()) tensor.dtype = ReadDType(dtype->second.type());
    if (shape != node.attr().end() && !shape->second.shape().unknown_rank()) {
      const absl::StatusOr<Shape> known = ReadShapeProto(shape->second.shape());
      if (known.ok()) tensor.shape = *known;
    }
    placeholders.push_back(absl::StrCat(node.name(), ":0 (", tensor.ToString(), ")"));
  }
  return absl::StrCat(
      "name its tensors instead, in a SavedSignature for LoadPredictor; its placeholders are ",
      placeholders.empty() ? "none" : JoinSome(placeholders, 10));
}

}  // namespace estimator
