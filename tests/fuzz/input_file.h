// An input as a file, for what reads files: in a folder of its own, which also holds a
// script and hooks that team files may name. The folder goes with the program.
//
// Thread: one at a time.
#ifndef FUZZ_INPUT_FILE_H
#define FUZZ_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

// Writes the bytes to a file of that name, in place of what it held. Returns its path,
// which is good to the end of the program.
const char *input_file_write(const char *name, const uint8_t *data, size_t len);

#endif
