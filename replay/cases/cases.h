// The models of testdata/reference, in C++: one for every folder there, under its name.
#ifndef REPLAY_CASES_CASES_H_
#define REPLAY_CASES_CASES_H_

#include <map>
#include <string>

#include "replay/model.h"

namespace estimator::replay {

using Cases = std::map<std::string, Model>;

// Of all files of this folder.
const Cases& AllCases();

// One function a file; cases.cc puts them together.
Cases MnistCases();
Cases NormalizationCases();
Cases ScheduleCases();
Cases TextCases();
Cases TrainingCases();
Cases VisionCases();

}  // namespace estimator::replay

#endif  // REPLAY_CASES_CASES_H_
