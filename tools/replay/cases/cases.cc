#include "tools/replay/cases/cases.h"

namespace estimator::replay {

const Cases& AllCases() {
  static const Cases* const all = [] {
    auto* cases = new Cases;
    for (const auto& family : {BertCases, EmbeddingCases, ImageCases, LoopCases, MnistCases,
                               NormalizationCases, RecurrentCases, ResnetCases, ScheduleCases,
                               Seq2SeqCases, TextCases, TrainingCases, VisionCases})
      for (const auto& [name, model] : family()) cases->emplace(name, model);
    return cases;
  }();
  return *all;
}

}  // namespace estimator::replay
