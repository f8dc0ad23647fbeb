#include "estimator/training/input/features.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

std::string QuotedNames(const std::map<std::string, Tensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(absl::StrCat("'", name, "'"));
  return JoinSome(names, kShownNames);
}

Tensor Fail(Graph* graph, std::string message) {
  Graph& target = graph != nullptr ? *graph : Graph::Current();
  return target.Fail(InvalidArgument(std::move(message)));
}

}  // namespace

Tensor Features::operator[](StringArg name) const {
  const auto found = tensors_.find(std::string(name));
  if (found != tensors_.end()) return found->second;
  if (tensors_.size() == 1 && tensors_.count("") > 0) {
    return Fail(graph_, absl::StrCat("model_fn asks for ", what_, "['", name, "'], but ", what_,
                                     " is one tensor without a name: name it in the dataset, .",
                                     what_, " = {{\"", name, "\", array}}, or take model_fn's ",
                                     what_, " as one `const Tensor&`"));
  }
  std::vector<std::string> names;
  for (const auto& [known, tensor] : tensors_) names.push_back(known);
  return Fail(graph_, absl::StrCat(what_, " has no '", name, "'; input_fn gives ",
                                   names.empty() ? "none" : QuotedNames(tensors_),
                                   DidYouMean(name, names)));
}

Features::operator Tensor() const {
  if (tensors_.size() == 1) return tensors_.begin()->second;
  // In prediction there are no labels, and a model_fn may still take them as one tensor.
  if (tensors_.empty()) return Tensor();
  return Fail(graph_, absl::StrCat("model_fn takes ", what_, " as one tensor, but input_fn gives ",
                                   tensors_.size(), ": ", QuotedNames(tensors_)));
}

}  // namespace estimator
