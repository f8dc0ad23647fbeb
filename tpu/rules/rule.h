// The rules that a program must follow to run on a TPU, and to run well there. rule.cc has the
// table. The report and docs/tpu.md take the words from it.
#ifndef TPU_RULES_RULE_H_
#define TPU_RULES_RULE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace estimator::tpu {

enum class Severity {
  kNote,       // the program runs, but slower, or not as TensorFlow would run it
  kViolation,  // a TPU or TensorFlow's TPUEstimator refuses the program, or computes another result
};

struct Rule {
  const char* id;  // "batch-not-divisible"; shown in reports, so do not change it
  Severity severity = Severity::kNote;
  // Whether a run on replicas in this process refuses the program too.
  bool refuses_run = false;
  const char* name;  // what must hold
  const char* why;   // one sentence, without a full stop
};

// All rules, violations first.
absl::Span<const Rule> Rules();
// REQUIRES: there is such a rule.
const Rule& FindRule(absl::string_view id);

}  // namespace estimator::tpu

#endif  // TPU_RULES_RULE_H_
