// Report: what the rules found in one program.
#ifndef TPU_RULES_REPORT_H_
#define TPU_RULES_REPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/node.h"
#include "tpu/rules/rule.h"

namespace estimator::tpu {

// One finding. `where` and `what` name the op with its scope, and the shapes.
struct Finding {
  const Rule* rule = nullptr;
  std::string where;  // "train: dense/MatMul (MatMul) f32 [6,100]"; "TPUConfig"
  std::string what;   // what is wrong, with both values
  std::string cure;   // the change that cures it
};

class Report {
 public:
  // Adds a finding. An equal one is added once.
  //   rule: the id of a rule.
  void Add(absl::string_view rule, std::string where, std::string what, std::string cure);
  // Adds a line about what was checked, or why a part was not.
  void AddChecked(std::string line) { checked_.push_back(std::move(line)); }
  // Adds a section, such as that of a compiler.
  void AddSection(std::string text, bool passed);

  const std::vector<Finding>& findings() const { return findings_; }
  int num_violations() const;
  int num_notes() const;
  // Whether there is no violation, and every section passed.
  bool passed() const { return num_violations() == 0 && sections_passed_; }
  // The ids of the rules with findings, in the order of the table, each once.
  std::vector<std::string> RuleIds() const;

  // The whole report: violations, notes, what was checked, sections, and a last line that counts.
  std::string ToString() const;
  // The violations that refuse a run, one a line; empty if there are none.
  std::string Refusals() const;

 private:
  std::vector<Finding> findings_;
  std::vector<std::string> checked_;
  std::vector<std::string> sections_;
  bool sections_passed_ = true;
};

// "dense/MatMul (MatMul) f32 [8,10]"
std::string NameOf(const Node& node);

}  // namespace estimator::tpu

#endif  // TPU_RULES_REPORT_H_
