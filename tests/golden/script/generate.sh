# SPDX-License-Identifier: MIT
# -g: the name of the file, the message, existing files are kept, and perf's statuses.
try() {
	sonde "$@" 2>err
	echo "$? | $*" | sed "s,$DATA,DATA,g"
	sed "s,$DATA,DATA,g" err
}
ln -s "$DATA/demo.data" perf.data
echo '== the file'
try script -g python
grep -c . perf-script.py
grep '^def .*__' perf-script.py
try script -g py -o mine.py
cmp perf-script.py mine.py
sonde script -g PYTHON -o - | cmp - mine.py
echo '== never overwritten'
echo mine >mine.py
try script -g python -o mine.py
try --compat perf-6.1 script -g python -o mine.py
cat mine.py
try script -g python -o mine.py --force
cmp perf-script.py mine.py
try script -g python -o none/mine.py
try script -g python -o /dev/full --force
echo '== what cannot be'
for v in none perf-6.1; do
	try --compat $v script -g python -F comm
	try --compat $v script -g cobol
	try --compat $v script -g lua
	try --compat $v script -i nothing.data -g python
	try --compat $v script -o x.py
	try --compat $v script -g python -s mine.py
	try --compat $v script -g python --time x
done
ls
