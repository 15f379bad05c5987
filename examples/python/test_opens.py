# Does a program open few files? A test for pytest, with the right to record.
# SPDX-License-Identifier: MIT
import sonde


def test_cat_opens_few_files():
    rec = sonde.record("syscalls:sys_enter_openat", command=["cat", "/dev/null"])
    assert rec.count(by="comm")["cat"] < 100
    assert rec.lost == 0
    assert rec.wait() == 0


if __name__ == "__main__":
    test_cat_opens_few_files()
    print("passed")
