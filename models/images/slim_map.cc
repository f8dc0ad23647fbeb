#include "models/images/slim_map.h"

#include "absl/strings/str_cat.h"

namespace estimator::images {

void SlimMap::Variable(StringArg slim_name, StringArg name) {
  map_.emplace_back(absl::StrCat(slim_, slim_name), absl::StrCat(scope_, name));
}

void SlimMap::Conv(StringArg slim_layer, StringArg layer, bool use_bias) {
  Variable(absl::StrCat(slim_layer, "/weights"), absl::StrCat(layer, "/kernel"));
  if (use_bias) Variable(absl::StrCat(slim_layer, "/biases"), absl::StrCat(layer, "/bias"));
}

void SlimMap::BatchNorm(StringArg slim_layer, StringArg layer, bool scale) {
  for (const char* part : {"gamma", "beta", "moving_mean", "moving_variance"}) {
    if (!scale && absl::string_view(part) == "gamma") continue;
    Variable(absl::StrCat(slim_layer, "/", part), absl::StrCat(layer, "/", part));
  }
}

}  // namespace estimator::images
