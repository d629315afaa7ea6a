# Reset: clear bss (the image holds the data), run main, exit with its result.
.section .init
.global _start
_start:
    la   sp, __stack
    la   t0, __bss_start
    la   t1, __bss_end
1:  bgeu t0, t1, 2f
    sw   zero, 0(t0)
    addi t0, t0, 4
    j    1b
2:  call main
    li   t0, 0x10000004
    sw   a0, 0(t0)
3:  j    3b
