"""Laws of a running training: what holds in every step of a right one, whatever its code looks like.

A law is an order, an equality or a conservation over the events of one rank. It stands in the folder of the item that
it decides, as a class that hears the events of its kinds; all laws hear them in one pass.
"""
