// Gathers what a report shows of runs: one JSON object.
#ifndef TOOLS_REPORT_GATHER_H_
#define TOOLS_REPORT_GATHER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

// {"live":false,"licence":"...","runs":[{
//    "name":"a","dir":"/tmp/a",
//    "notes":["no confusion matrix, ...: ..."],              what is missing, and why
//    "history", "starts", "examples": the objects of history.jsonl, run.jsonl and examples.jsonl.
//       Examples have "ok" 1 or 0, scores of four digits, and without a picture no title. After the
//       first 100000 scores of all runs, they have the class "says" with the highest score instead.
//    "scalars":[{"folder":"eval","tag":"loss","points":[[9,1700000000.5,0.5]]}],  step, time, value
//    "weights":{"checkpoint":"model.ckpt-9","left_out":0,"variables":[
//       {"name":"dense/kernel","shape":"[2,3]","min":-1,"max":1,"mean":0,"std":0.5,
//        "counts":[40 of them]}]}}]}
// Numbers that are not finite are null, and curves have about 1000 points.
class ReportGatherer {
 public:
  // Errors: INVALID_ARGUMENT for a folder that is no model_dir.
  static absl::StatusOr<std::unique_ptr<ReportGatherer>> Open(const std::vector<std::string>& dirs);
  virtual ~ReportGatherer() = default;
  // The text of the JSON, without '<', so that it can stand in a page.
  //   live: whether the page asks for it again.
  virtual std::string Gather(bool live) = 0;
};

// The page of the runs.
std::string ReportPage(const std::string& json);

}  // namespace estimator

#endif  // TOOLS_REPORT_GATHER_H_
