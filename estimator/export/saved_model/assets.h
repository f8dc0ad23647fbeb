// Assets of a SavedModel: files that a graph names, such as vocabularies.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

struct Asset {
  std::string file;  // where it is now
  std::string name;  // in assets/
};

// A name for each file: its own; vocab.txt_1, vocab.txt_2, ... where another file of that name and
// other contents stands before it in the list.
// Errors: NOT_FOUND naming all files that are not there.
// Source: TF 2.15 saved_model builder_impl.get_asset_filename_to_add.
absl::StatusOr<std::vector<Asset>> NameAssets(const std::vector<std::string>& files);

// Copies them to DIR/assets/. Errors: of the file system.
absl::Status CopyAssets(const std::string& dir, const std::vector<Asset>& assets);

// Lists them in the graph, each with a string constant `asset_path`, `asset_path_1`, ... that a
// loader of TensorFlow's replaces by the path where it found the file.
// Source: TF 2.15 saved_model builder_impl.SavedModelBuilder, asset_file_def.
void AddAssets(const std::vector<Asset>& assets, proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_
