"""Orders to callgrind from within the program that it runs, and what is counted there.

Callgrind's own way of counting within a function (``--toggle-collect``) does not see one that
ctypes calls: libffi moves the stack pointer up before the call, which callgrind takes for a return.
So counting is switched on and off around such calls from Python. That adds the few thousand
instructions that ctypes needs for a call, the same for every version.

Only the standard library is imported here: the gate runs this very file in processes that hold
another version of the package.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from typing import Any

# Four rotations by 128 bits in all and an exchange of a register with itself change nothing on a
# processor; valgrind takes them as a request, whose words rax points to, and answers in rdx.
_REQUEST_CODE = bytes.fromhex(
    "4889f8"  # mov rax, rdi
    "31d2"  # xor edx, edx
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi, 3; 13; 61; 51
    "4887db"  # xchg rbx, rbx
    "4889d0"  # mov rax, rdx
    "c3"  # ret
)
_RUNNING_ON_VALGRIND = 0x1001
_TOOL = ord("C") << 24 | ord("T") << 16
_ZERO, _TOGGLE, _DUMP_AT, _START, _STOP = (_TOOL + number for number in range(1, 6))


class Callgrind:
    """The callgrind that runs this process, with ``--instr-atstart=no --collect-atstart=no``.

    Raises:
        OSError: this process does not run under valgrind on x86-64.
    """

    def __init__(self) -> None:
        if platform.machine() not in ("x86_64", "AMD64"):
            raise OSError(f"requests to valgrind are not known for {platform.machine()}")
        executable = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=executable)
        self._page.write(_REQUEST_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._send = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)
        self._toggle = (ctypes.c_uint64 * 6)(_TOGGLE)
        if not self._request(_RUNNING_ON_VALGRIND):
            raise OSError("not run by valgrind")

    def watch(self, prefix: str) -> None:
        """Count what is called from here on in shared libraries, by names with that prefix.

        Functions that were looked up before are not watched.
        """
        plain = ctypes.CDLL.__getitem__

        def watched(library: ctypes.CDLL, name: Any) -> Any:
            if not str(name).startswith(prefix):
                return plain(library, name)
            return self._watched(library._FuncPtr)((name, library))

        setattr(ctypes.CDLL, "__getitem__", watched)  # noqa: B010, to the type checker, as intended

    def start(self) -> None:
        """Be ready to count, from nothing; slow from here on."""
        self._request(_START)
        self._request(_ZERO)

    def stop(self, name: str) -> None:
        """Write what was counted to the next output file, under that name; fast from here on."""
        text = ctypes.create_string_buffer(name.encode())
        self._request(_DUMP_AT, ctypes.addressof(text))
        self._request(_STOP)

    def _watched(self, function: Any) -> Any:
        """The class of functions that are counted while they run."""
        send, toggle = self._send, self._toggle

        class Watched(function):  # type: ignore[misc]
            _flags_ = function._flags_
            _restype_ = function._restype_

            def __call__(self, *arguments: Any) -> Any:
                send(toggle)
                try:
                    return super().__call__(*arguments)
                finally:
                    send(toggle)

        return Watched

    def _request(self, code: int, argument: int = 0) -> int:
        return int(self._send((ctypes.c_uint64 * 6)(code, argument)))
