#include "estimator/checkpoint/object_names.h"

#include <set>

#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/proto/trackable_object_graph.pb.h"

namespace estimator {

absl::StatusOr<ObjectNames> ObjectNames::Of(const BundleReader& reader) {
  ObjectNames names;
  if (!reader.Has(kObjectGraphKey)) return names;
  EST_ASSIGN_OR_RETURN(const Array value, reader.Read(kObjectGraphKey));
  proto::TrackableObjectGraph graph;
  if (value.dtype() != DType::kString || value.num_elements() != 1 ||
      !graph.ParseFromString(value.values<std::string>()[0])) {
    return DataLoss(IndexPath(reader.prefix()), ": ", kObjectGraphKey, ", ", value.TypeString(),
                    ", is not a TrackableObjectGraph");
  }
  std::set<std::string> several;
  for (const auto& node : graph.nodes()) {
    for (const auto& tensor : node.attributes()) {
      if (tensor.full_name().empty() || !reader.Has(tensor.checkpoint_key())) continue;
      const auto [it, is_new] = names.keys_.emplace(tensor.full_name(), tensor.checkpoint_key());
      if (!is_new && it->second != tensor.checkpoint_key()) several.insert(tensor.full_name());
    }
  }
  // An ambiguous name, or a name that the checkpoint itself has, is not mapped.
  for (const std::string& name : several) names.keys_.erase(name);
  for (const std::string& name : reader.names()) names.keys_.erase(name);
  return names;
}

const std::string& ObjectNames::Stored(const std::string& name) const {
  const auto found = keys_.find(name);
  return found == keys_.end() ? name : found->second;
}

}  // namespace estimator
