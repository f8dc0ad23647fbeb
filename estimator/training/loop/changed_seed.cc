#include "estimator/training/loop/changed_seed.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/proto/meta_graph.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Reading a larger graph would delay the start.
constexpr int64_t kMaxGraphBytes = int64_t{64} << 20;

std::string SeedName(int64_t seed) {
  return seed == kDefaultGraphSeed ? "the fixed default" : absl::StrCat(seed);
}

}  // namespace

void WarnOfChangedSeed(const Graph& graph, const std::string& prefix) {
  const std::string path = MetaGraphPath(prefix);
  const absl::StatusOr<int64_t> size = FileSize(path);
  if (!size.ok() || *size > kMaxGraphBytes) return;
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  proto::MetaGraphDef saved;
  if (!bytes.ok() || !saved.ParseFromString(*bytes)) return;
  for (const proto::NodeDef& node : saved.graph_def().node()) {
    const auto seed = node.attr().find("seed");
    if (seed == node.attr().end() || node.attr().count("seed2") == 0) continue;
    // Ops of the same name are compared, so an imported graph whose ops keep their seeds gives no
    // warning.
    const Node* const here = graph.FindNode(node.name());
    if (here == nullptr || here->op() != node.op() || !here->attrs().has("seed")) continue;
    // With both seeds 0 TensorFlow draws others for each session: no run can repeat the numbers.
    if (seed->second.i() == 0 && node.attr().at("seed2").i() == 0) continue;
    const int64_t before = seed->second.i(), now = here->attrs().i("seed");
    if (before == now) continue;
    LOG(WARNING) << "The seed is " << SeedName(now) << ", but was " << SeedName(before) << " when "
                 << prefix << " was saved. Variables and the current pass of the input continue as "
                 << "saved; random ops, such as dropout, and later shuffles use the seed "
                 << SeedName(now)
                 << ". If the model or the input uses random numbers from here on, the result is "
                 << "not that of a run with either seed: "
                 << "set tf_random_seed (--seed) to " << SeedName(before)
                 << " again, or use another model_dir for a new run";
    // The other random ops would only repeat the warning.
    return;
  }
}

}  // namespace estimator
