#!/bin/sh
# As tool.sh, but it does not end before its child does, which it does not stop.
(trap '' TERM; sleep 60) &
echo started
wait
