/* The start of RISC-V of 32 bits. With `-icount shift=0` its own counter counts instructions. */
#include "board.h"

__attribute__((naked, section(".vectors"), used)) void board_start(void)
{
    __asm__ volatile("la sp, board_stack\n"
                     "la t0, board_fail\n"
                     "csrw mtvec, t0\n"
                     "j board_begin\n");
}

/* Semihosting is this row of instructions, none of them compressed. */
__attribute__((noinline)) uint32_t board_ask(uint32_t what, const void *about)
{
    register uint32_t first __asm__("a0") = what;
    register const void *second __asm__("a1") = about;
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     : "+r"(first)
                     : "r"(second)
                     : "memory");
    return first;
}

uint32_t board_instructions(void)
{
    uint32_t found;
    __asm__ volatile("csrr %0, minstret" : "=r"(found));
    return found;
}

__attribute__((used)) void board_begin(void)
{
    board_prepare();
    board_run();
}
