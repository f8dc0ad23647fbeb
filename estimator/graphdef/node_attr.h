// Reads one attribute of a NodeDef.
#ifndef ESTIMATOR_GRAPHDEF_NODE_ATTR_H_
#define ESTIMATOR_GRAPHDEF_NODE_ATTR_H_

#include <string>

#include "estimator/proto/graph.pb.h"

namespace estimator {

// Null if the node has no attribute of this name.
inline const proto::AttrValue* FindAttr(const proto::NodeDef& node, const std::string& name) {
  const auto found = node.attr().find(name);
  return found == node.attr().end() ? nullptr : &found->second;
}

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_NODE_ATTR_H_
