// Assets of a SavedModel: files that a graph reads by name, such as vocabularies.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

struct Asset {
  std::string file;  // path of the file to copy
  std::string name;  // file name in assets/
};

// Chooses a name in assets/ for each file: its own name, or vocab.txt_1, vocab.txt_2, ... if a file
// before it in the list has the same name and other contents.
// Errors: NOT_FOUND naming all files that do not exist.
// Source: TF 2.15 saved_model builder_impl.get_asset_filename_to_add.
absl::StatusOr<std::vector<Asset>> NameAssets(const std::vector<std::string>& files);

// Copies the files to DIR/assets/.
// Errors: those of the file system.
absl::Status CopyAssets(const std::string& dir, const std::vector<Asset>& assets);

// Lists the assets in the graph. Each gets a string constant `asset_path`, `asset_path_1`, ...,
// whose value TensorFlow's loader replaces by the path of the file.
// Source: TF 2.15 saved_model builder_impl.SavedModelBuilder, asset_file_def.
void AddAssets(const std::vector<Asset>& assets, proto::MetaGraphDef* meta_graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_ASSETS_H_
