#include "estimator/export/saved_model/assets.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/graph_def_builder.h"

namespace estimator {

absl::StatusOr<std::vector<Asset>> NameAssets(const std::vector<std::string>& files) {
  std::vector<std::string> missing;
  for (const std::string& file : files) {
    if (!FileExists(file) || IsDirectory(file)) missing.push_back(file);
  }
  if (!missing.empty()) {
    return NotFound("assets: these files do not exist: ", absl::StrJoin(missing, ", "));
  }
  std::vector<Asset> assets;
  std::map<std::string, std::string> file_of_name;
  for (const std::string& file : files) {
    const std::string own(Basename(file));
    std::string name = own;
    const auto other = file_of_name.find(own);
    if (other != file_of_name.end() && other->second != file) {
      EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
      EST_ASSIGN_OR_RETURN(const std::string other_contents, ReadFile(other->second));
      // Equal files share one copy; others with the same name get a number.
      for (int i = 1; contents != other_contents && file_of_name.count(name) > 0; ++i)
        name = absl::StrCat(own, "_", i);
    }
    file_of_name.emplace(name, file);
    assets.push_back({.file = file, .name = name});
  }
  return assets;
}

absl::Status CopyAssets(const std::string& dir, const std::vector<Asset>& assets) {
  if (assets.empty()) return absl::OkStatus();
  const std::string folder = JoinPath(dir, "assets");
  EST_RETURN_IF_ERROR(CreateDirectories(folder));
  for (const Asset& asset : assets) {
    EST_RETURN_IF_ERROR(CopyFile(asset.file, JoinPath(folder, asset.name)));
  }
  return absl::OkStatus();
}

void AddAssets(const std::vector<Asset>& assets, proto::MetaGraphDef* meta_graph) {
  for (const Asset& asset : assets) {
    GraphDefBuilder builder(meta_graph->mutable_graph_def());
    const std::string node =
        builder.AddConst(builder.UniqueScope("asset_path"), Array::Scalar(asset.name));
    proto::AssetFileDef& def = *meta_graph->add_asset_file_def();
    def.set_filename(asset.name);
    def.mutable_tensor_info()->set_name(absl::StrCat(node, ":0"));
    def.mutable_tensor_info()->set_dtype(ProtoType(DType::kString));
    // An empty shape is a scalar's. Without the field, the shape would be unknown.
    def.mutable_tensor_info()->mutable_tensor_shape();
  }
}

}  // namespace estimator
