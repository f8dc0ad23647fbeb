// Assets of a SavedModel: files that a graph names, such as vocabularies.
#ifndef ESTIMATOR_EXPORT_ASSETS_H_
#define ESTIMATOR_EXPORT_ASSETS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

// Copies `files` to DIR/assets/, under their own names.
// Errors: of the file system; INVALID_ARGUMENT for two files of one name, naming both.
absl::Status CopyAssets(const std::string& dir, const std::vector<std::string>& files);

// Lists `files` in the graph, each with a string constant `asset_path`, `asset_path_1`, ... that a
// loader of TensorFlow's replaces by the path where it found the file.
// Source: TF 2.15 saved_model builder_impl.SavedModelBuilder, asset_file_def.
void AddAssets(const std::vector<std::string>& files, proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ASSETS_H_
