"""Runs a command on a pseudo-terminal: pseudo-terminal.py COLUMNS ROWS COMMAND...

Copies what it prints to standard output. A line "size COLUMNS ROWS" on standard input changes the size of the terminal, a line
"keys HEX" types these bytes, and the end of standard input sends Ctrl-C.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


columns, rows, *command = sys.argv[1:]
go, start = os.pipe()
child, terminal = pty.fork()
if child == 0:
    # The terminal has its size before the command asks for it.
    os.read(go, 1)
    os.execvp(command[0], command)
resize(terminal, columns, rows)
os.write(start, b".")
inputs = [terminal, sys.stdin.fileno()]
pending = b""
while True:
    readable, _, _ = select.select(inputs, [], [])
    if terminal in readable:
        try:
            output = os.read(terminal, 65536)
        except OSError:
            output = b""
        if not output:
            break
        os.write(sys.stdout.fileno(), output)
    if sys.stdin.fileno() in readable:
        received = os.read(sys.stdin.fileno(), 1024)
        if not received:
            inputs.remove(sys.stdin.fileno())
            os.write(terminal, b"\x03")
        *lines, pending = (pending + received).split(b"\n")
        for verb, *values in map(bytes.split, lines):
            if verb == b"size":
                resize(terminal, *values)
            else:
                os.write(terminal, bytes.fromhex(values[0].decode()))
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
