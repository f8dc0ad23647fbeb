#include "estimator/export/assets.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/export/node_defs.h"

namespace estimator {

absl::Status CopyAssets(const std::string& dir, const std::vector<std::string>& files) {
  if (files.empty()) return absl::OkStatus();
  std::map<std::string, std::string> by_name;
  for (const std::string& file : files) {
    const auto [other, is_new] = by_name.emplace(std::string(Basename(file)), file);
    if (!is_new && other->second != file) {
      return absl::InvalidArgumentError(absl::StrCat("assets: ", other->second, " and ", file,
                                                     " have the same name, and assets/ is one "
                                                     "folder; rename one"));
    }
  }
  const std::string assets = JoinPath(dir, "assets");
  EST_RETURN_IF_ERROR(CreateDirectories(assets));
  for (const auto& [name, file] : by_name) {
    EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    EST_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(assets, name), contents));
  }
  return absl::OkStatus();
}

void AddAssets(const std::vector<std::string>& files, proto::MetaGraphDef* meta_graph) {
  for (const std::string& file : files) {
    const std::string name(Basename(file));
    GraphDefBuilder builder(meta_graph->mutable_graph_def());
    const std::string node =
        builder.AddConst(builder.UniqueScope("asset_path"), Array::Scalar(name));
    proto::AssetFileDef& asset = *meta_graph->add_asset_file_def();
    asset.set_filename(name);
    asset.mutable_tensor_info()->set_name(absl::StrCat(node, ":0"));
    asset.mutable_tensor_info()->set_dtype(ProtoType(DType::kString));
    asset.mutable_tensor_info()->mutable_tensor_shape();
  }
}

}  // namespace estimator
