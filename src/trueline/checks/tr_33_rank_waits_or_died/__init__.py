"""A rank waits for ever, raises an error, or dies.

What it looks at
----------------
How a job that `trueline run` has started under a launcher came to its end: whether no rank moved any more for as long
as `--hang-after` says (by the stacks of all ranks, which then show the call and the line that each is at), which rank
was the first to raise an error, and whether one was ended from outside.

Why it hurts
------------
Where one rank calls a collective that the others do not call, all of them wait until somebody looks. Where one raises
an error, the others end with errors of their own, and the launcher shows the last one as well as the first.

What to do
----------
Let every rank reach every collective: no evaluation, saving or metric with communication under a condition on the
rank, and the same number of batches for all. Mend the error on the rank that was first.

When it is wrong
----------------
Where ranks wait longer for something outside of the job (a file system, a service) than `--hang-after` allows.
"""

ASKED_DURING_RUN = False
