// Builds maps from the variables of slim's networks to ours. Not for users.
#ifndef MODELS_IMAGES_SLIM_MAP_H_
#define MODELS_IMAGES_SLIM_MAP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "estimator/training/warm_start.h"

namespace estimator::images {

// Names of slim's layers are below `slim`, as "vgg_16/"; ours are below `scope`, "" or "a/b/".
class SlimMap {
 public:
  SlimMap(StringArg slim, StringArg scope) : slim_(slim), scope_(scope) {}
  void Conv(StringArg slim_layer, StringArg layer, bool use_bias);
  // slim_layer: the scope of the four variables, as "Conv2d_0/BatchNorm".
  void BatchNorm(StringArg slim_layer, StringArg layer, bool scale = true);
  void Variable(StringArg slim_name, StringArg name);
  const train::AssignmentMap& map() const { return map_; }

 private:
  const std::string slim_, scope_;
  train::AssignmentMap map_;
};

}  // namespace estimator::images

#endif  // MODELS_IMAGES_SLIM_MAP_H_
