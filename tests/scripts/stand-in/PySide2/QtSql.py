# SPDX-License-Identifier: MIT
"""The part of Qt's QtSql that perf's export-to-sqlite.py and export-to-postgresql.py use.

It is for Pythons without Qt. The module sqlite3 serves SQLite. There is no server of PostgreSQL:
the statements that it would get, and the calls of libpq, which this module replaces, are written to
the file DATABASE.sent.
"""
import ctypes
import sqlite3


class QSqlError:
    def __init__(self, words=""):
        self.words = words

    def text(self):
        return self.words


class QSqlDatabase:
    last = None

    def __init__(self, kind):
        self.kind, self.name, self.connection = kind, None, None
        QSqlDatabase.last = self

    @staticmethod
    def addDatabase(kind):
        return QSqlDatabase(kind)

    def setDatabaseName(self, name):
        self.name = name

    def open(self):
        if self.kind == "QSQLITE":
            self.connection = sqlite3.connect(self.name, isolation_level=None)
        return True

    def close(self):
        if self.connection:
            self.connection.close()

    def send(self, what):
        with open(self.name + ".sent", "a") as f:
            f.write(what + "\n")


class QSqlQuery:
    def __init__(self, database):
        self.database, self.statement, self.values, self.error = database, None, [], QSqlError()
        self.cursor, self.row = None, None

    def prepare(self, statement):
        self.statement = statement

    def addBindValue(self, value):
        self.values.append(value)

    def exec_(self, statement=None):
        values, self.values = self.values, []
        if self.database.kind != "QSQLITE":
            self.database.send(statement)
            return True
        try:
            self.cursor = self.database.connection.execute(statement or self.statement, values)
        except sqlite3.Error as e:
            self.error = QSqlError(str(e))
            return False
        return True

    def next(self):
        self.row = self.cursor.fetchone() if self.cursor else None
        return self.row is not None

    def value(self, i):
        return self.row[i]

    def lastError(self):
        return self.error

    def finish(self):
        pass

    clear = finish


class Function:
    """A function of a library: callable, with types that may be set."""
    def __init__(self, call):
        self.call = call

    def __call__(self, *args):
        return self.call(*args)


class Libpq:
    COMMAND_OK, COPY_IN = 1, 4

    def __init__(self):
        self.PQconnectdb = Function(lambda text: 1)
        self.PQfinish = Function(lambda connection: None)
        self.PQstatus = Function(lambda connection: 0)
        self.PQexec = Function(self.execute)
        self.PQresultStatus = Function(lambda result: result)
        self.PQputCopyData = Function(self.copy)
        self.PQputCopyEnd = Function(lambda connection, words: 1)

    def execute(self, connection, statement):
        QSqlDatabase.last.send(statement.decode())
        return self.COPY_IN if statement.startswith(b"COPY") else self.COMMAND_OK

    def copy(self, connection, data, size):
        QSqlDatabase.last.send(bytes(data[:size]).hex())
        return 1


def library(name, *args, load=ctypes.CDLL, **more):
    return Libpq() if name == "libpq.so.5" else load(name, *args, **more)


ctypes.CDLL = library
