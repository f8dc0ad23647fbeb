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

// Not thread-safe: only one thread at a time may call Run.
class CompiledSignature {
 public:
  // Compiles `source` for inputs of `shapes`. Variables that are not yet in the backend's store get
  // their values from `source`.
  // Errors: as ServableSignature; UNIMPLEMENTED naming every op without a kernel;
  // FAILED_PRECONDITION naming variables without a value.
  static absl::StatusOr<std::unique_ptr<CompiledSignature>> Compile(const ServableSignature& source,
                                                                    const InputShapes& shapes,
                                                                    Backend& backend);

  // Returns the outputs by the signature's names. Parses inputs that are serialized Examples.
  // REQUIRES: `inputs` contains `required()`, in the shapes given to Compile.
  // Errors: those of parsing, naming the Example; those of kernels, naming the node.
  absl::StatusOr<ArrayMap> Run(const ArrayMap& inputs);

  // The inputs that the outputs need.
  const std::set<std::string>& required() const { return required_; }

 private:
  struct Feed {
    std::string input;
    std::string feature;  // a feature that is parsed from the input; "": the input itself is fed
  };
  CompiledSignature() = default;

  std::vector<Feed> feeds_;
  std::map<std::string, FeatureSpecs> parsed_;  // keyed by the input that is parsed
  std::vector<std::string> outputs_;
  std::set<std::string> required_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_COMPILED_SIGNATURE_H_
