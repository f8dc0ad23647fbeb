#include "estimator/checkpoint/object_names.h"

#include <set>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/checkpoint/keras/slot_names.h"
#include "estimator/proto/trackable_object_graph.pb.h"

namespace estimator {

absl::StatusOr<std::map<std::string, std::string>> UseObjectNames(const Array& graph,
                                                                  BundleIndex* index) {
  proto::TrackableObjectGraph objects;
  if (graph.dtype() != DType::kString || graph.num_elements() != 1 ||
      !objects.ParseFromString(graph.values<std::string>()[0])) {
    return DataLoss(kObjectGraphKey, ", ", graph.TypeString(), ", is not a TrackableObjectGraph");
  }
  std::map<std::string, std::set<std::string>> keys;  // by the variable's name
  for (const auto& node : objects.nodes()) {
    for (const auto& tensor : node.attributes()) {
      if (tensor.full_name().empty() || tensor.checkpoint_key() == kObjectGraphKey ||
          index->tensors.count(tensor.checkpoint_key()) == 0)
        continue;
      keys[tensor.full_name()].insert(tensor.checkpoint_key());
    }
  }
  std::map<std::string, std::string> names;  // by key
  std::set<std::string> variables;
  for (const auto& [name, of_name] : keys) {
    if (of_name.size() > 1 || index->tensors.count(name) > 0) continue;
    // One value may have two names; the first one counts.
    if (names.emplace(*of_name.begin(), name).second) variables.insert(name);
  }
  const std::map<std::string, std::string> slots = OurSlotNames(variables);
  index->object_graph = std::move(index->tensors.extract(kObjectGraphKey).mapped());
  for (auto& [key, name] : names) {
    const auto slot = slots.find(name);
    if (slot != slots.end() && index->tensors.count(slot->second) == 0) name = slot->second;
    auto entry = index->tensors.extract(key);
    entry.key() = name;
    entry.mapped().variable = name;
    for (const BundleEntry::Slice& slice : entry.mapped().slices)
      index->slices.at(slice.key).variable = name;
    index->tensors.insert(std::move(entry));
  }
  return names;
}

}  // namespace estimator
