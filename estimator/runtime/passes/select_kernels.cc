#include "estimator/runtime/passes/select_kernels.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator::ir {

void CopyElements(DType dtype, int64_t n, const void* from, void* to) {
  if (dtype == DType::kString) {
    const std::string* strings = static_cast<const std::string*>(from);
    std::copy(strings, strings + n, static_cast<std::string*>(to));
  } else if (n > 0) {
    std::memcpy(to, from, static_cast<size_t>(n) * DTypeSize(dtype));
  }
}

absl::Status SelectKernels(Module& module, KernelTier fastest) {
  std::map<std::string, std::vector<std::string>> missing;  // op -> nodes
  std::vector<std::string> refused;
  for (Node& node : module.nodes) {
    if (node.kind != Node::Kind::kOp || node.kernel != nullptr || IsView(node) ||
        node.op == kCollectiveOp)
      continue;
    // A copy moves bytes of any dtype, also strings, so it has no kernel in the registry.
    if (node.op == kCopyOp) {
      const DType dtype = node.outputs[0].dtype;
      const int64_t n = node.outputs[0].shape.num_elements();
      node.kernel = MakeKernel([dtype, n](const KernelArgs& args) {
        CopyElements(dtype, n, args.inputs[0], args.outputs[0]);
        return absl::OkStatus();
      });
      continue;
    }
    absl::StatusOr<std::unique_ptr<Kernel>> kernel =
        CreateKernel(SpecOf(module, node), fastest, node.slowest);
    if (kernel.ok()) {
      node.kernel = *std::move(kernel);
    } else if (!absl::IsUnimplemented(kernel.status())) {
      return Annotate(kernel.status(), node.name);
    } else if (HasKernel(node.op) || HasKernel(node.op, KernelTier::kFused) ||
               HasKernel(node.op, KernelTier::kOneDnn) || HasKernel(node.op, KernelTier::kNative)) {
      refused.push_back(std::string(kernel.status().message()));
    } else {
      missing[node.op].push_back(node.name);
    }
  }
  // All ops are named at once, so that a user need not find them one by one.
  if (missing.empty() && refused.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& [op, names] : missing) {
    lines.push_back(absl::StrCat(op, " (", JoinSome(names, 1), ")"));
  }
  std::string message;
  if (!lines.empty())
    absl::StrAppend(&message, "ops without a kernel: ", absl::StrJoin(lines, ", "));
  if (!refused.empty())
    absl::StrAppend(&message, message.empty() ? "" : "; ", absl::StrJoin(refused, "; "));
  return Unimplemented(message);
}

}  // namespace estimator::ir
