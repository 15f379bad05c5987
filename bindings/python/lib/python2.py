# SPDX-License-Identifier: MIT
"""Recognises Python 2 by the errors of Python 3 and names the replacement. Loaded when a script
failed."""

import re

CONVERT = "; convert it with: 2to3 -w %s"

# Syntax to look for in the line that the error names.
LINE = re.compile(r"""^\s*(print|exec)\s*[^\s(=.,:\[]     # print "x"; print >> f
                      |\bprint\s+["'(%\w]
                      |\bexcept\s+(\([^()]*\)|[\w.]+)\s*,\s*\w+\s*:   # except E, e:
                      |\braise\s+[\w.]+\s*,                # raise E, "x"
                      |\blambda\s*\(                       # lambda (a, b): a
                      |<>|`|\b0[0-7]+\b|\b\d+[lL]\b|\bur["']""", re.X)
# The same in that line and the few before it: a definition may take several lines.
TUPLE_PARAMETER = re.compile(r"\bdef\s+\w+\s*\((?:[^:]*,)?\s*\(\s*\w")

MODULES = {
    "BaseHTTPServer": "http.server", "ConfigParser": "configparser", "Cookie": "http.cookies",
    "HTMLParser": "html.parser", "Queue": "queue", "SimpleHTTPServer": "http.server",
    "SocketServer": "socketserver", "StringIO": "io", "Tkinter": "tkinter",
    "UserDict": "collections", "__builtin__": "builtins", "anydbm": "dbm", "cPickle": "pickle",
    "cStringIO": "io", "commands": "subprocess", "cookielib": "http.cookiejar",
    "copy_reg": "copyreg", "dummy_thread": "_thread", "exceptions": "builtins",
    "httplib": "http.client", "md5": "hashlib", "sets": "set()", "sha": "hashlib",
    "thread": "_thread", "tkMessageBox": "tkinter.messagebox", "urllib2": "urllib.request",
    "urlparse": "urllib.parse", "xmlrpclib": "xmlrpc.client",
}
MEMBERS = {
    "itertools.imap": "map()", "itertools.ifilter": "filter()", "itertools.izip": "zip()",
    "itertools.izip_longest": "itertools.zip_longest", "os.getcwdu": "os.getcwd()",
    "os.popen2": "subprocess", "os.popen3": "subprocess", "os.spawnvp": "subprocess",
    "string.join": "separator.join()", "string.split": "text.split()",
    "string.strip": "text.strip()", "string.replace": "text.replace()",
    "string.upper": "text.upper()", "string.lower": "text.lower()", "string.atoi": "int()",
    "string.find": "text.find()", "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase", "string.uppercase": "string.ascii_uppercase",
    "string.maketrans": "str.maketrans()", "sys.exc_clear": "nothing",
    "sys.exc_type": "sys.exc_info()", "sys.maxint": "sys.maxsize",
    "sys.setdefaultencoding": "nothing", "types.StringType": "str", "types.ListType": "list",
    "types.DictType": "dict", "types.StringTypes": "str", "urllib.quote": "urllib.parse.quote",
    "urllib.unquote": "urllib.parse.unquote", "urllib.urlencode": "urllib.parse.urlencode",
    "urllib.urlopen": "urllib.request.urlopen", "urllib.urlretrieve": "urllib.request.urlretrieve",
}
NAMES = {
    "apply": "f(*args)", "basestring": "str", "buffer": "memoryview", "cmp": "(a > b) - (a < b)",
    "coerce": "nothing", "execfile": "exec(open(file).read())", "file": "open()",
    "intern": "sys.intern", "long": "int", "raw_input": "input()", "reduce": "functools.reduce",
    "reload": "importlib.reload", "unichr": "chr()", "unicode": "str", "xrange": "range()",
}
METHODS = {"has_key": "key in d", "iteritems": "items()", "iterkeys": "keys()",
           "itervalues": "values()", "viewitems": "items()", "viewkeys": "keys()",
           "viewvalues": "values()"}


def is_syntax(source, error):
    """True if the syntax that Python 3 rejected is Python 2's."""
    if isinstance(error, TabError):
        return True
    lines = source.decode("latin-1").split("\n")
    if not error.lineno or error.lineno > len(lines):
        return False
    return bool(LINE.search(lines[error.lineno - 1]) or
                TUPLE_PARAMETER.search("\n".join(lines[max(0, error.lineno - 4):error.lineno])))


def known(table, key, text="%s is %s now"):
    return text % (key, table[key]) if key in table else None


def replacement(error):
    """The replacement in Python 3 of the cause of an exception; None if it need not be Python 2."""
    said = str(error)
    if isinstance(error, ImportError):
        found = re.match(r"cannot import name '(\w+)' from '(\w+)'", said)
        if found:
            return known(MEMBERS, "%s.%s" % (found[2], found[1]))
        return (known(MODULES, error.name, "the module %s is %s now")
                if isinstance(error, ModuleNotFoundError) else None)
    if isinstance(error, NameError):
        found = re.match(r"name '(\w+)' is not defined", said)
        return known(NAMES, found[1]) if found else None
    if isinstance(error, AttributeError):
        found = re.match(r"module '(\w+)' has no attribute '(\w+)'", said)
        if found:
            return known(MEMBERS, "%s.%s" % (found[1], found[2]))
        found = re.match(r"'(dict_\w+|map|filter|zip|range)' object has no attribute '\w+'", said)
        if found:
            return no_list(found[1])
        if re.match(r"'(\w*_iterator|\w*iterator|generator|map|filter|zip|_io\.\w+|_csv\.reader)' "
                    r"object has no attribute 'next'", said):
            return "iterator.next() is next(iterator) now"
        found = re.match(r"'\w+' object has no attribute '(\w+)'", said)
        return known(METHODS, found[1]) if found else None
    if isinstance(error, TypeError):
        if said == "exceptions must derive from BaseException":
            return "raise takes an exception now, no text"
        if ">>: 'builtin_function_or_method'" in said:
            return "print is a function now: print(..., file=f)"
        found = (re.match(
            r"'(dict_\w+|map|filter|zip)' object (?:is not subscriptable|does not support item)",
            said) or
                 re.match(r"object of type '(map|filter|zip)' has no len\(\)", said) or
                 re.match(r"unsupported operand type\(s\) for \+=?: "
                          r"'(dict_\w+|map|filter|zip|range)'", said))
        if found:
            return no_list(found[1])
    return None


def no_list(kind):
    kind = kind.replace("dict_", "")
    return "%s() makes no list now: list(%s()), sorted(%s())" % (kind, kind, kind)


def is_cmp(error):
    """True for sort() and sorted() with a comparison function, which 2to3 does not convert."""
    return isinstance(error, TypeError) and re.match(
        r"'cmp' is an invalid keyword argument for sort|sort\(\) got an unexpected keyword "
        r"argument 'cmp'"
        r"|sort\(\) takes no positional arguments|sorted expected 1 argument, got [23]",
        str(error)) is not None


def advice(error, file):
    """One line about an exception; None if it need not be Python 2."""
    if is_cmp(error):
        return ("this looks like Python 2: sort() and sorted() take key=functools.cmp_to_key(f) "
                "now, where cmp=f was")
    what = replacement(error)
    return "this looks like Python 2: %s%s" % (what, CONVERT % file) if what else None
