"""The program that runs the tests on mutants of changed lines, inside one sandbox. Python 3.8 to 3.14, pytest 7 to 9.

It has no part of the gate at hand, only these modules, which lie beside each other in the gate's own files as the package
`gatekeeper_measuring`. pytest is imported once; every run of the tests is a forked child, so that each begins with a fresh
package:

1. coverage: the changed statements carry probes in shared memory, seen from threads and forked children as well;
2. where statements were not reached and the tests start processes: the same statements raise, to see whether one is
   reached in such a process;
3. control: the tests that reach a changed statement, on the code as it is, which also says how long they take;
4. one run for each mutant, of the tests that reach its statement, those of the change first, to the first failure.

A mutant is put into the file itself, so that whatever imports it, subprocesses included, gets the mutant. Results are
lines of JSON in a file. The tested code runs as the same user and can forge them: they are its claims.
"""
