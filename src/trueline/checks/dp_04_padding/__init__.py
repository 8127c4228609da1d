"""Sequences are padded in a wrong way.

What it looks at
----------------
Which value fills sequences up to one length, and on which side: in a dataset, and in the first batches of a recorded
run. Some sequences filled on the left and some on the right, a mask that does not cover the padding, and a loss that
counts the padding (its ignore_index is another value) are problems. In a script also: masks that are true for the
words where the padding is asked for, or compare with another value; masks and lengths that are not used, or of which
only the shape is; parts of a sample on different sides. Against a benchmark: another side or another value.

Why it hurts
------------
A network that reads padding as words learns about padding: the attention looks at it, the last state of a recurrent
network is that of the padding, and the loss is small because padding is easy to predict.

What to do
----------
Pad all sequences on one side with one value, give the network the mask or the lengths (pack_padded_sequence), and
give the loss the padding's value as its ignore_index, or labels of -100 there.

When it is wrong
----------------
Where the padding is masked by a computation of the script's own between network and loss, that is not seen.
"""
