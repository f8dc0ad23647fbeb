// Names the variables of Keras' layout without names: /layers/CLASS/vars/0.
//
// A file of this layout has a group for each layer, named by the layer's class ("conv2d",
// "conv2d_1"), counted in its model. config.json has the layers' own names in the same order. The
// variables of a layer are numbered in the order of their creation, which depends on its class.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_LAYER_NAMES_H_
#define ESTIMATOR_CHECKPOINT_KERAS_LAYER_NAMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/checkpoint/keras/hdf5_file.h"

namespace estimator {

// Returns a name for each dataset, by its path, without those of metrics.
//   config: the contents of config.json; empty if there is none. Layers are then named by their
//     classes, as Keras names layers that get no name: "conv2d_1/kernel". A variable of a class
//     that is not known has its number: "my_layer/0".
// Slots of the optimizer have Keras' names ("Adam/m/dense/kernel") if the config says which they
// are, else numbers: "optimizer/1".
std::map<std::string, std::string> NamesOfLayers(const std::vector<Hdf5Dataset>& datasets,
                                                 absl::string_view config);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_LAYER_NAMES_H_
