// First values of a network's variables, from a checkpoint or a file that Keras wrote.
#ifndef MODELS_IMAGES_WEIGHTS_H_
#define MODELS_IMAGES_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/estimator.h"

namespace estimator::images {

// Calls train::InitFromCheckpoint for the variables of a network. The names in the file are those
// of the variables without `scope`. Three kinds of names may differ in the file:
//   conv2d_94/kernel  Keras numbers the layers that have no name of their own on from those of
//                     networks that the process built before: the order of the numbers counts
//   probs/kernel      earlier names of the top, predictions: probs, fc1000, Logits
//   fc1_W_1, fc1_b_1  earlier names of a kernel and a bias, in Keras' own file of VGG16
//   scope: "" or "a/b/".
// Errors (kept by the graph): as train::InitFromCheckpoint; INVALID_ARGUMENT if the file's top has
// another number of classes.
void InitFromWeights(absl::string_view path, absl::string_view scope,
                     const std::vector<Variable>& variables);

// Returns the name in the file of each name in `wanted`; a name without a counterpart stays.
//   stored: all names in the file.
std::vector<std::string> NamesInFile(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& stored);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_WEIGHTS_H_
