/* The start of Cortex-M: its table of vectors, memory, and a counter of instructions.
 *
 * With `-icount shift=6` an instruction takes 64 ns of the emulator's time, in which the timer of the
 * processor ticks BOARD_HZ times a second. */
#include "board.h"

extern uint32_t board_stack[];

#define TIMER_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define TIMER_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define TIMER_VALUE (*(volatile uint32_t *)0xE000E018u)
#define INSTRUCTION_NS 64
/* Ticks from one interrupt to the next, which 24 bits hold: a whole number of instructions at any
   multiple of 125 kHz, so that counting them takes no division of 64 bits. */
#define PERIOD 16000000u
#define INSTRUCTIONS_OF(ticks) ((ticks) * (1000000u / INSTRUCTION_NS / 125u) / (BOARD_HZ / 125000u))
#define INSTRUCTIONS_OF_PERIOD (PERIOD / (BOARD_HZ / 125000u) * (1000000u / INSTRUCTION_NS / 125u))

static volatile uint32_t wraps;

uint32_t board_ask(uint32_t what, const void *about)
{
    register uint32_t first __asm__("r0") = what;
    register const void *second __asm__("r1") = about;
    __asm__ volatile("bkpt 0xAB" : "+r"(first) : "r"(second) : "memory");
    return first;
}

uint32_t board_instructions(void)
{
    uint32_t before, ticks;
    do {
        before = wraps;
        ticks = PERIOD - 1 - TIMER_VALUE;
    } while (before != wraps);
    return before * INSTRUCTIONS_OF_PERIOD + INSTRUCTIONS_OF(ticks);
}

void board_start(void)
{
    board_prepare();
    TIMER_RELOAD = PERIOD - 1;
    TIMER_VALUE = 0;
    TIMER_CONTROL = 7; /* on, by the processor's clock, with an interrupt at 0 */
    board_run();
}

static void wrapped(void)
{
    wraps++;
}

typedef void (*board_vector_t)(void);

__attribute__((section(".vectors"), used)) static const board_vector_t vectors[16] = {
    (board_vector_t)board_stack, board_start, board_fail, board_fail, board_fail, board_fail,
    board_fail, board_fail, board_fail, board_fail, board_fail, board_fail, board_fail, board_fail,
    board_fail, wrapped,
};
