"""What is right, and how to find out: oracle, conformance, TLC, fuzzing and the command line.

The reference (package ``wheelproof``) says HOW the system works; this package says WHAT it must
do and holds the engines that compare the two. Imports point one way: from here to the reference.
"""
