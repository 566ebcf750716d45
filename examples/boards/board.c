/* What all boards do alike: prepare memory, run main, say and end with what it returned. */
#include "board.h"

extern uint32_t board_data[], board_data_end[], board_stored[];
extern uint32_t board_bss[], board_bss_end[];

int main(void);
/* Ask the emulator for something; see start_arm.c and start_riscv.c. */
extern uint32_t board_ask(uint32_t what, const void *about);

enum { SAY = 0x04, EXIT = 0x20, APPLICATION_EXIT = 0x20026 };

void board_say(const char *text)
{
    board_ask(SAY, text);
}

void board_say_number(uint32_t number)
{
    char digits[11];
    char *first = digits + sizeof digits - 1;
    *first = 0;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    board_say(first);
}

void board_prepare(void)
{
    for (uint32_t *to = board_data, *from = board_stored; to < board_data_end;)
        *to++ = *from++;
    for (uint32_t *to = board_bss; to < board_bss_end;)
        *to++ = 0;
}

__attribute__((aligned(4))) void board_fail(void)
{
    static const uint32_t ended[2] = {APPLICATION_EXIT, 101};
    board_say("The processor stopped: an instruction or an address that it does not have.\n");
    board_ask(EXIT, ended);
    for (;;)
        ;
}

void board_run(void)
{
    const uint32_t before = board_instructions();
    const uint32_t answer = (uint32_t)main();
    const uint32_t spent = board_instructions() - before;
    const uint32_t ended[2] = {APPLICATION_EXIT, answer};
#ifndef BOARD_SILENT
    board_say("main returned ");
    board_say_number(answer);
    board_say(" after ");
    board_say_number(spent);
    board_say(" instructions\n");
#endif
    board_ask(EXIT, ended);
    for (;;)
        ;
}
