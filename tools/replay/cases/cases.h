// The models of testdata/reference in C++. Each folder there has a model of the same name.
#ifndef TOOLS_REPLAY_CASES_CASES_H_
#define TOOLS_REPLAY_CASES_CASES_H_

#include <map>
#include <optional>
#include <string>

#include "tools/replay/model.h"

namespace estimator::replay {

using Cases = std::map<std::string, Model>;

// Returns the cases of all files of this folder.
const Cases& AllCases();

// Each file has a function. cases.cc merges their results.
Cases BertCases();
Cases EmbeddingCases();
Cases ImageCases();
Cases LoopCases();
// The model of the case per_example_gradients by VectorizedMap. It is not in AllCases, because it
// has no folder of its own.
Model VectorizedPerExampleGradients();
Cases MnistCases();
// The mnist_* cases with all filters of models/mnist. They are not in AllCases, because their
// references are too large for the repository (REFERENCE_WHOLE_MNIST=1 regenerate.py makes them).
Cases WholeMnistCases();
Cases NormalizationCases();
Cases RecurrentCases();
// The case language_model: by one op for each layer, or unrolled (true), or as a loop (false).
Model LanguageModel(std::optional<bool> unroll);
Cases ResnetCases();
// The cases of ResnetCases with the whole networks on images of 224x224. They are not in AllCases
// either (REFERENCE_WHOLE_RESNET=1 regenerate.py resnet18 makes the reference of one).
Cases WholeResnetCases();
// The model of the case resnet18 as version 1, which must be the same network. It is not in
// AllCases, because it has no folder of its own.
Model Resnet18Version1();
Cases ScheduleCases();
Cases Seq2SeqCases();
Cases TextCases();
Cases TrainingCases();
Cases VisionCases();

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_CASES_CASES_H_
