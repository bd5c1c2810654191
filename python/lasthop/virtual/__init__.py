"""Programs on the nodes of a scenario, in virtual time.

A Linux kernel runs as a process (User-Mode Linux) whose clock stands still while anything computes, and jumps
to the next timer when all sleep. `kernel` makes it from the source of Debian, `guest` runs a program in it on
the files of this machine, and `session` has that program be a live run.
"""
