// Keeps the files that a program opens apart from its standard streams.
#ifndef ESTIMATOR_BASE_STANDARD_STREAMS_H_
#define ESTIMATOR_BASE_STANDARD_STREAMS_H_

namespace estimator {

// Opens /dev/null as stdin, stdout or stderr where that stream is closed, as after `2>&-` in a
// shell or under some daemons. Without it, the next file that is opened gets the number of the
// closed stream, and log lines go into that file. Main calls this first. A program without Main
// calls it before it opens a file.
void OpenClosedStandardStreams();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_STANDARD_STREAMS_H_
