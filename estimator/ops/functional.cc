#include "estimator/ops/functional.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/building/loop.h"

namespace estimator {

int64_t NumRows(Graph& graph, absl::string_view what, const Tensors& elems) {
  if (elems.empty()) {
    graph.Fail(InvalidArgument(what, " needs at least one tensor of elements"));
    return -1;
  }
  for (const Tensor& elem : elems) {
    if (!elem.valid()) return -1;
    if (elem.rank() > 0 && elem.dim(0) > 0 && elem.dim(0) == elems[0].dim(0)) continue;
    graph.Fail(InvalidArgument(what, ": '", elem.name(), "' is ", elem.spec().ToString(),
                               "; all elements need the same number of rows, at least 1",
                               elem == elems[0] ? "" : ": ",
                               elem == elems[0] ? "" : elems[0].spec().ToString()));
    return -1;
  }
  return elems[0].dim(0);
}

namespace {

// A loop over the rows. Returns the last carried values and the stacked results, or nothing.
Tensors OverRows(absl::string_view what, LoopSpec loop) {
  Tensors operands = loop.scanned;
  operands.insert(operands.end(), loop.carried.begin(), loop.carried.end());
  Graph& graph = GraphFor(operands);
  loop.capacity = NumRows(graph, what, loop.scanned);
  if (loop.capacity < 0) return {};
  loop.trips = graph.AddConst(Array::Scalar<int64_t>(loop.capacity), "trips");
  return AddLoop(loop);
}

Tensors Fold(absl::string_view what, const ScanFunction& fn, const Tensors& elems,
             const Tensors& initializer, bool reverse, StringArg name) {
  Tensors results = OverRows(what, {.name = std::string(name),
                                    .body = fn,
                                    .carried = initializer,
                                    .scanned = elems,
                                    .reverse = reverse});
  results.resize(initializer.size());
  return results;
}

// The function of one tensor as one of several.
ScanFunction OfOne(const std::function<Tensor(const Tensor&, const Tensor&)>& fn) {
  return [fn](const Tensors& acc, const Tensors& row) { return Tensors{fn(acc[0], row[0])}; };
}

}  // namespace

Tensors MapFn(const std::function<Tensors(const Tensors&)>& fn, const Tensors& elems,
              StringArg name) {
  return OverRows("MapFn", {.name = std::string(name),
                            .body = [&fn](const Tensors&, const Tensors& row) { return fn(row); },
                            .scanned = elems});
}

Tensor MapFn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems, StringArg name) {
  const Tensors results =
      MapFn([&fn](const Tensors& row) { return Tensors{fn(row[0])}; }, Tensors{elems}, name);
  return results.empty() ? Tensor(elems.graph(), nullptr, 0) : results[0];
}

Tensor VectorizedMap(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems,
                     StringArg name) {
  const Tensors results = VectorizedMap([&fn](const Tensors& row) { return Tensors{fn(row[0])}; },
                                        Tensors{elems}, name);
  return results.empty() ? Tensor(elems.graph(), nullptr, 0) : results[0];
}

Tensors Scan(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
             const ScanOptions& options) {
  const size_t n = initializer.size();
  const auto body = [&](const Tensors& acc, const Tensors& row) {
    Tensors results = fn(acc, row);
    if (results.size() != n) {
      Graph::Current().Fail(InvalidArgument("the function of Scan returns ", results.size(),
                                            " tensors for ", n, " of the initializer"));
    }
    const Tensors stacked = results;
    results.insert(results.end(), stacked.begin(), stacked.end());
    return results;
  };
  Tensors results = OverRows("Scan", {.name = options.name,
                                      .body = body,
                                      .carried = initializer,
                                      .scanned = elems,
                                      .reverse = options.reverse});
  if (results.empty()) return Tensors(n, Tensor(&GraphFor(elems), nullptr, 0));
  return Tensors(results.begin() + static_cast<int64_t>(n), results.end());
}

Tensor Scan(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
            const Tensor& initializer, const ScanOptions& options) {
  return Scan(OfOne(fn), Tensors{elems}, Tensors{initializer}, options)[0];
}

Tensors Foldl(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
              StringArg name) {
  return Fold("Foldl", fn, elems, initializer, false, name);
}

Tensor Foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const Tensor& initializer, StringArg name) {
  return Foldl(OfOne(fn), Tensors{elems}, Tensors{initializer}, name)[0];
}

Tensors Foldr(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
              StringArg name) {
  return Fold("Foldr", fn, elems, initializer, true, name);
}

Tensor Foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const Tensor& initializer, StringArg name) {
  return Foldr(OfOne(fn), Tensors{elems}, Tensors{initializer}, name)[0];
}

}  // namespace estimator
