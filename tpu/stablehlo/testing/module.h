// The text of a StableHLO module, parsed: one function in the form that Writer writes (writer.h).
#ifndef TPU_STABLEHLO_TESTING_MODULE_H_
#define TPU_STABLEHLO_TESTING_MODULE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo::testing {

struct Block;

struct Op {
  std::string name;                   // without the dialect: "add", "return"
  std::vector<std::string> operands;  // "%7", "%7#1"
  std::vector<std::string> results;   // of several: "%7#0", "%7#1"
  std::vector<Type> operand_types, result_types;
  std::vector<Block> regions;
  std::string attributes;  // the text between { and }

  bool has(absl::string_view attribute) const;
  // "3 : i64", or the first number of anything else.
  int64_t Int(absl::string_view attribute) const;
  // "array<i64: 1, 2>" or "[1, 2]"; none if the attribute is absent.
  Ints List(absl::string_view attribute) const;
  // "dense<[[0, 1], [2, 3]]>"
  std::vector<Ints> Rows(absl::string_view attribute) const;
  // The text up to the next comma or closing bracket: "#stablehlo<comparison_direction GT" is GT.
  std::string Word(absl::string_view attribute) const;
};

struct Block {
  std::vector<std::string> arguments;
  std::vector<Type> types;  // of the arguments
  std::vector<Op> ops;      // the last one returns
};

// The body of @main. Throws absl::Status (INVALID_ARGUMENT) for any other text: the interpreter
// (interpreter.h) catches it.
Block ParseModule(absl::string_view text);

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_TESTING_MODULE_H_
