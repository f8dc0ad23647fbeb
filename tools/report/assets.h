// The files of a page, which the build puts into the program.
#ifndef TOOLS_REPORT_ASSETS_H_
#define TOOLS_REPORT_ASSETS_H_

namespace estimator {

extern const char* const kReportPage;    // page.html
extern const char* const kReportScript;  // report.js
extern const char* const kChartScript;   // Chart.js of Debian's libjs-chart.js
extern const char* const kChartLicence;  // its copyright file

}  // namespace estimator

#endif  // TOOLS_REPORT_ASSETS_H_
