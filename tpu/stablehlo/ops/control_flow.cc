// While, If, Case (graph/function.h). A body becomes a region, which reads what it captures where
// that is: captures are no operands.
//
// The state of a loop is the number of trips, the carried values and the stacked results. Scanned
// inputs do not change, so the body reads their rows from outside.
#include <algorithm>
#include <limits>
#include <string>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// `size` values from number `begin` on.
Values Part(const Values& values, size_t begin, size_t size) {
  const auto first = values.begin() + static_cast<int64_t>(begin);
  return {first, first + static_cast<int64_t>(size)};
}

void Append(const Values& from, Values& to) { to.insert(to.end(), from.begin(), from.end()); }

// StableHLO also runs the last branch if there is none of that index.
LoweringResult LowerBranches(Writer& w, const LoweringArgs& args, const char* op) {
  std::vector<Region> regions;
  size_t capture = 1;
  for (const LoweredFunction& branch : args.functions) {
    regions.push_back({{},
                       [&branch, &args, captures = Part(args.inputs, capture, branch.num_inputs)](
                           const Values&) { return branch.write(captures, args.step); }});
    capture += branch.num_inputs;
  }
  return w.Ops(op, {args.input(0)}, {args.spec.outputs.begin(), args.spec.outputs.end()}, "",
               regions);
}
EST_REGISTER_STABLEHLO("If", [](Writer& w, const LoweringArgs& args) {
  return LowerBranches(w, args, "if");
});
EST_REGISTER_STABLEHLO("Case", [](Writer& w, const LoweringArgs& args) {
  return LowerBranches(w, args, "case");
});

LoweringResult LowerWhile(Writer& w, const LoweringArgs& args) {
  const auto num_carried = static_cast<size_t>(args.spec.attrs.i("num_carried"));
  const auto num_scanned = static_cast<size_t>(args.spec.attrs.i("num_scanned"));
  const bool reverse = args.spec.attrs.b("reverse");
  const LoweredFunction &condition = args.functions[0], &body = args.functions[1];
  const Value& trips = args.input(0);
  const Values scanned = Part(args.inputs, 1 + num_carried, num_scanned);
  const size_t first_capture = 1 + num_carried + num_scanned;
  const size_t of_condition = condition.write == nullptr ? 0 : condition.num_inputs - num_carried;
  const Values condition_captures = Part(args.inputs, first_capture, of_condition);
  const Values body_captures =
      Part(args.inputs, first_capture + of_condition, body.num_inputs - num_carried - num_scanned);
  const Array* const limit = args.constant(0);
  const bool unlimited = limit != nullptr && condition.write != nullptr &&
                         limit->scalar<int64_t>() == std::numeric_limits<int64_t>::max();

  // The state: the number of trips, the carried values, the stacked results.
  Values state = {w.FillInt(trips.type, 0)};
  Append(Part(args.inputs, 1, num_carried), state);
  for (size_t k = num_carried + 1; k < args.spec.outputs.size(); ++k)
    state.push_back(w.Fill(args.spec.outputs[k], 0));
  const auto step_of = [&](const Value& row) {
    StepValues step = args.step;
    if (args.spec.attrs.has("draws_in_order"))
      step.step = w.Add(w.Mul(step.step, trips), row);
    else
      step.rows.push_back(row);
    return step;
  };
  const auto goes_on = [&](const Values& now) {
    const Value below = unlimited ? Value() : w.Compare("LT", now[0], trips);
    if (condition.write == nullptr) return below;
    Values inputs = Part(now, 1, num_carried);
    Append(condition_captures, inputs);
    const Value holds = condition.write(inputs, step_of(now[0]))[0];
    return unlimited ? holds : w.Binary("and", below, holds);
  };
  const auto run_trip = [&](const Values& now) {
    const Value one = w.FillInt(trips.type, 1);
    const Value row = reverse ? w.Sub(w.Sub(trips, one), now[0]) : now[0];
    Values inputs = Part(now, 1, num_carried);
    for (const Value& rows : scanned) inputs.push_back(RowAt(w, rows, row));
    Append(body_captures, inputs);
    Values next = {w.Add(now[0], one)};
    Append(body.write(inputs, step_of(row)), next);
    for (size_t k = num_carried + 1; k < next.size(); ++k)
      next[k] = WithRowAt(w, now[k], row, next[k]);
    return next;
  };
  // Without rows there is no trip, and nothing that a body could read or write.
  if (args.spec.attrs.i("capacity") != 0) state = w.While(state, goes_on, run_trip);
  // The number of trips comes after the carried values.
  std::rotate(state.begin(), state.begin() + 1,
              state.begin() + 1 + static_cast<int64_t>(num_carried));
  return state;
}
EST_REGISTER_STABLEHLO("While", LowerWhile);

}  // namespace
}  // namespace estimator::tpu::stablehlo
