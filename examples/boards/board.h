/* What a program on an emulated board can do: say something, and count its instructions. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Say a text that ends with 0; it arrives where the emulator says its own. */
void board_say(const char *text);
/* Say a number. */
void board_say_number(uint32_t number);
/* Instructions since the start. They are no cycles: no memory makes anybody wait. */
uint32_t board_instructions(void);
/* For the start: memory as C wants it; then main, and the end of the emulator. */
void board_prepare(void);
void board_run(void);
/* Where a fault of the processor ends. */
void board_fail(void);

#endif
