// Answers of models as fuzz targets look at them: the rules they keep, and all that is
// in one as a text, to compare.
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef FUZZ_ANSWER_TEXT_H
#define FUZZ_ANSWER_TEXT_H

#include "net/answer.h"

// Ends the program unless the answer, or the error, is one that may be given out: `err`
// is what came of settling.
void answer_check(const cadre_sink *sink, const cadre_error *err);

// All that came of it: free() it.
char *answer_text(const cadre_sink *sink, const cadre_error *err);

#endif
