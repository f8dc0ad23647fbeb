// Parses serialized SequenceExamples by specs that were checked once.
#ifndef ESTIMATOR_DATA_PARSING_SEQUENCE_EXAMPLE_PARSER_H_
#define ESTIMATOR_DATA_PARSING_SEQUENCE_EXAMPLE_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/parsing/example_parser.h"
#include "estimator/data/parsing/feature_spec.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// Thread-safe. An error of the specs is that of each Parse.
class SequenceExampleParser {
 public:
  SequenceExampleParser(FeatureSpecs context, FeatureSpecs sequences);

  absl::StatusOr<ArrayMap> Parse(absl::string_view example) const;
  const absl::Status& status() const { return status_; }  // of the specs

 private:
  struct Sequence {
    std::string name;
    FeatureSpec spec;
    std::unique_ptr<ExampleParser> step;  // parses a step
  };

  ExampleParser context_;
  std::vector<Sequence> sequences_;
  absl::flat_hash_map<std::string, size_t> index_;  // of a name in sequences_
  absl::Status status_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_SEQUENCE_EXAMPLE_PARSER_H_
