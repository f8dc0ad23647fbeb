// Writes every op that has a lowering as StableHLO, and programs with loops and branches, for the
// check against the reference kernels (testdata/interop/check_stablehlo_ops.py).
//
//   stablehlo_ops_tool GOLDENS DIRECTORY [OP...]
//
// GOLDENS is testdata/ops, whose cases give attributes and inputs. For each op it writes into
// DIRECTORY:
//   OP.mlir   one module; @main takes the inputs of all cases and returns their outputs
//   OP.npys   the inputs of a case, then the outputs of its reference kernel, case by case: .npy
//             files one after the other (bfloat16 as float32)
//   OP.cases  a line for each case: name, tolerance class, dtypes of inputs, dtypes of outputs
//             ("float32,int32" or "-"); or: name, "refused", and why it cannot be lowered
// A program of tpu/stablehlo/ops/testing/control_flow_cases.h is such an OP, with one case.
// Exit code 1 if a case cannot be built.
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/ops/testing/golden_table.h"
#include "tools/interop/tool_main.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/testing/control_flow_cases.h"
#include "tpu/stablehlo/ops/testing/golden_lowering.h"
#include "tpu/stablehlo/writer.h"

namespace estimator {
namespace {

using testing::GoldenCase;
using tpu::stablehlo::FindLowering;
using tpu::stablehlo::Type;
using tpu::stablehlo::Values;
using tpu::stablehlo::Writer;
using tpu::stablehlo::testing::ControlFlowCase;
using tpu::stablehlo::testing::Lower;
using tpu::stablehlo::testing::SpecOf;
using tpu::stablehlo::testing::TryLowering;

std::string DTypes(const std::vector<TensorSpec>& specs) {
  if (specs.empty()) return "-";
  return absl::StrJoin(specs, ",", [](std::string* out, const TensorSpec& spec) {
    absl::StrAppend(out, DTypeName(spec.dtype));
  });
}

// The cases of one op, and the files that they become.
class OpFiles {
 public:
  absl::Status Add(const GoldenCase& golden) {
    EST_ASSIGN_OR_RETURN(KernelSpec spec, SpecOf(golden));
    const absl::Status status = TryLowering(spec);
    if (absl::IsUnimplemented(status)) {
      absl::StrAppend(&cases_, golden.name, " refused ", status.message(), "\n");
      return absl::OkStatus();
    }
    EST_RETURN_IF_ERROR(status);
    EST_ASSIGN_OR_RETURN(const std::vector<Array> outputs, RunReferenceKernel(spec, golden.inputs));
    for (const Array& input : golden.inputs) arrays_ += NpyBytes(input);
    for (const Array& output : outputs) arrays_ += NpyBytes(output);
    absl::StrAppend(&cases_, golden.name, " ", golden.tolerance, " ", DTypes(spec.inputs), " ",
                    DTypes(spec.outputs), "\n");
    specs_.push_back(std::move(spec));
    return absl::OkStatus();
  }

  // The module with all cases.
  absl::StatusOr<std::string> Module() const {
    std::vector<Type> inputs, outputs;
    for (const KernelSpec& spec : specs_) {
      inputs.insert(inputs.end(), spec.inputs.begin(), spec.inputs.end());
      outputs.insert(outputs.end(), spec.outputs.begin(), spec.outputs.end());
    }
    Writer w;
    const Values arguments =
        w.BeginFunction("main", inputs, std::vector<std::string>(inputs.size()), outputs);
    Values results;
    auto next = arguments.begin();
    for (const KernelSpec& spec : specs_) {
      const auto end = next + static_cast<int64_t>(spec.inputs.size());
      EST_ASSIGN_OR_RETURN(const Values values, Lower(w, spec, Values(next, end)));
      results.insert(results.end(), values.begin(), values.end());
      next = end;
    }
    w.EndFunction(results);
    return w.Module("ops", "");
  }

  const std::string& arrays() const { return arrays_; }
  const std::string& cases() const { return cases_; }

 private:
  std::vector<KernelSpec> specs_;
  std::string arrays_, cases_;
};

std::string DTypes(const std::vector<Array>& arrays) {
  std::vector<TensorSpec> specs;
  for (const Array& array : arrays) specs.push_back({array.dtype(), array.shape()});
  return DTypes(specs);
}

absl::Status Write(const std::string& path, const std::string& module, const std::string& arrays,
                   const std::string& cases) {
  EST_RETURN_IF_ERROR(WriteFileAtomically(path + ".mlir", module));
  EST_RETURN_IF_ERROR(WriteFileAtomically(path + ".npys", arrays));
  return WriteFileAtomically(path + ".cases", cases);
}

// Returns the number of programs.
absl::StatusOr<size_t> WriteControlFlow(const std::string& directory,
                                        const std::set<std::string>& wanted) {
  size_t count = 0;
  for (const ControlFlowCase& program : tpu::stablehlo::testing::ControlFlowCases()) {
    if (!wanted.empty() && wanted.count(program.name) == 0) continue;
    const auto module = tpu::stablehlo::testing::ModuleOf(program, /*num_replicas=*/1);
    EST_RETURN_IF_ERROR(Annotate(module.status(), program.name));
    const std::vector<Array>&arguments = module->arguments[0], &results = module->results[0];
    std::string arrays;
    for (const std::vector<Array>* list : {&arguments, &results})
      for (const Array& array : *list) arrays += NpyBytes(array);
    EST_RETURN_IF_ERROR(Write(absl::StrCat(directory, "/", program.name), module->text, arrays,
                              absl::StrCat("program ", program.tolerance, " ", DTypes(arguments),
                                           " ", DTypes(results), "\n")));
    ++count;
  }
  return count;
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const std::set<std::string> wanted(arguments.begin() + 2, arguments.end());
  EST_ASSIGN_OR_RETURN(const std::vector<GoldenCase> cases, testing::ReadGoldens(arguments[0]));
  std::map<std::string, OpFiles> ops;
  for (const GoldenCase& golden : cases) {
    if (FindLowering(golden.op) == nullptr) continue;
    if (!wanted.empty() && wanted.count(golden.op) == 0) continue;
    EST_RETURN_IF_ERROR(
        Annotate(ops[golden.op].Add(golden), absl::StrCat(golden.op, "/", golden.name)));
  }
  for (const auto& [op, files] : ops) {
    EST_ASSIGN_OR_RETURN(const std::string module, files.Module());
    EST_RETURN_IF_ERROR(
        Write(absl::StrCat(arguments[1], "/", op), module, files.arrays(), files.cases()));
  }
  EST_ASSIGN_OR_RETURN(const size_t programs, WriteControlFlow(arguments[1], wanted));
  std::cout << ops.size() << " ops, " << programs << " programs\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "stablehlo_ops_tool GOLDENS DIRECTORY [...]",
                             estimator::Run);
}
