// CompiledSignature: a signature compiled for inputs of one set of shapes.
#ifndef ESTIMATOR_EXPORT_SERVING_COMPILED_SIGNATURE_H_
#define ESTIMATOR_EXPORT_SERVING_COMPILED_SIGNATURE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/export/signature/servable_signature.h"
#include "estimator/runtime/backend.h"

namespace estimator {

// Used by one thread at a time.
class CompiledSignature {
 public:
  // Variables that the graph needs get their values from `source`,
  // where the backend's store has not got them.
  // Errors: as ServableSignature; UNIMPLEMENTED naming every op without a kernel; FAILED_PRECONDITION
  // naming variables without a value.
  static absl::StatusOr<std::unique_ptr<CompiledSignature>> Compile(const ServableSignature& source,
                                                                    const InputShapes& shapes,
                                                                    Backend& backend);

  // Serialized Examples are parsed here. REQUIRES: inputs of the shapes, at least `required()`.
  // Errors: of parsing, naming the Example; of kernels, naming the node.
  absl::StatusOr<ArrayMap> Run(const ArrayMap& inputs);

  // The inputs that the outputs need.
  const std::set<std::string>& required() const { return required_; }

 private:
  struct Feed {
    std::string input;
    std::string feature;  // that is parsed from the input; empty: the input itself is fed
  };
  CompiledSignature() = default;

  std::vector<Feed> feeds_;
  std::map<std::string, FeatureSpecs> parsed_;  // by the input that is parsed
  std::vector<std::string> outputs_;
  std::set<std::string> required_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_COMPILED_SIGNATURE_H_
