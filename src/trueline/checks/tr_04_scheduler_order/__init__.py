"""The learning rate schedule steps at the wrong time, or never.

What it looks at
----------------
Whether the first step of a schedule comes before the first update, and whether a schedule that was built is ever
stepped.

Why it hurts
------------
A schedule that steps first skips the first value of the rate, which for a warm-up is the one that matters. One that
is never stepped leaves the rate where it began: no warm-up, no decay.

What to do
----------
Call `optimizer.step()` first, then `scheduler.step()`: once per update or once per epoch, as the schedule was made
for.

When it is wrong
----------------
Where a schedule is built for a later part of the training than was recorded.
"""

# Whether the schedule is ever stepped is known at the end.
ASKED_DURING_RUN = False
