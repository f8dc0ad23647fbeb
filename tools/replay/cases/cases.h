// The models of testdata/reference, in C++: one for every folder there, under its name.
#ifndef TOOLS_REPLAY_CASES_CASES_H_
#define TOOLS_REPLAY_CASES_CASES_H_

#include <map>
#include <string>

#include "tools/replay/model.h"

namespace estimator::replay {

using Cases = std::map<std::string, Model>;

// Of all files of this folder.
const Cases& AllCases();

// One function a file; cases.cc puts them together.
Cases EmbeddingCases();
Cases MnistCases();
// Not among AllCases: the mnist_* with all filters of models/mnist, whose references are too large
// to keep (REFERENCE_WHOLE_MNIST=1 regenerate.py makes them).
Cases WholeMnistCases();
Cases NormalizationCases();
Cases ScheduleCases();
Cases TextCases();
Cases TrainingCases();
Cases VisionCases();

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_CASES_CASES_H_
