// Fuzzes the importer of GraphDefs. The input bytes are a GraphDef. Its placeholders are fed; its
// last node is fetched first, then some others.
#include <algorithm>
#include <cstdint>

#include "estimator/graphdef/import_graph_def.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/graph.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int kMaxFetches = 8;
constexpr char kRestoreOp[] = "restore_all";

ImportOptions Options(const proto::GraphDef& def) {
  ImportOptions options{.max_constant_bytes = 1 << 16};
  for (const proto::NodeDef& node : def.node()) {
    if (node.name() == kRestoreOp) options.restore.restore_op_name = kRestoreOp;
    const auto dtype = node.attr().find("dtype"), shape = node.attr().find("shape");
    if (node.op() != "Placeholder" || dtype == node.attr().end()) continue;
    TensorSpec spec{ReadDType(dtype->second.type()), {}};
    if (shape != node.attr().end()) {
      for (const auto& dim : shape->second.shape().dim())
        spec.shape.push_back(dim.size() < 0 ? 2 : dim.size());
    }
    options.feeds[node.name()] = spec;
  }
  return options;
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  proto::GraphDef def;
  if (!def.ParseFromArray(data, static_cast<int>(size))) return 0;
  ImportOptions options = Options(def);
  for (int i = 0; i < std::min(def.node_size(), kMaxFetches); ++i) {
    options.fetches = {
        def.node(i == 0 ? def.node_size() - 1 : def.node_size() * i / kMaxFetches).name()};
    Graph graph;
    const auto imported = ImportGraphDef(def, options, graph);
    if (imported.ok()) {
      CHECK(graph.status().ok());
      CHECK(imported->fetches.size() == 1 && imported->fetches[0].valid());
      continue;
    }
    CHECK(absl::IsInvalidArgument(imported.status()) || absl::IsUnimplemented(imported.status()))
        << imported.status();
  }
  return 0;
}
