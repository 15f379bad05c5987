#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the calls of nulls.c: each function of sonde.h, once for each pointer, with NULL there.

    null_calls.py sonde.h OUTPUT

The expected result follows from the returned type; the tables below have the exceptions. A
declaration that this program cannot parse becomes a failing test, never a missing one.
"""
import re
import sys

# (function, parameter): NULL is allowed for it.
ALLOWED = {
    ('sonde_session_open', 'origin'),
    ('sonde_session_close', 's'),
    ('sonde_session_on_progress', 'progress'),
    ('sonde_session_on_progress', 'ctx'),
    ('sonde_event_free', 'ev'),
    ('sonde_recorder_close', 'r'),
    ('sonde_live_close', 'l'),
    ('sonde_filter_free', 'f'),
    ('sonde_filter_new', 's'),
    ('sonde_stat_close', 's'),
    ('sonde_stat_read', 'settings'),
    ('sonde_aggregate_free', 'a'),
    ('sonde_aggregate_print', 'o'),
    ('sonde_columns_free', 'c'),
    ('sonde_columns_add', 'fields'),
    ('sonde_columns_add', 'o'),
    ('sonde_profile_new', 'origin'),
    ('sonde_profile_free', 'p'),
    ('sonde_profile_key', 'ret_title'),
    ('sonde_profile_column', 'ret_title'),
    ('sonde_profile_column', 'ret_table'),
    ('sonde_list_events', 'opts'),
    ('sonde_list_events', 'ctx'),
    ('sonde_list_sources', 'ctx'),
    ('sonde_tracepoint_close', 't'),
    ('sonde_running_kernel', 'ctx'),
}
# Functions that return NULL if there is no text. All others that return `const char *` return "".
NO_TEXT = {'sonde_live_line', 'sonde_filter_field', 'sonde_session_info', 'sonde_stat_info',
           'sonde_field_label', 'sonde_profile_column', 'sonde_aggregate_key'}
OTHER_RESULT = {'sonde_event_located': 'NOWHERE'}
# (function, parameter) without a cause of failure: functions for signal handlers, the inline one.
NO_CAUSE = {('sonde_session_stop', 's'), ('sonde_recorder_stop', 'r'), ('sonde_live_stop', 'l'),
            ('sonde_stat_stop', 's'),
            ('sonde_recorder_switch', 'r'), ('sonde_event_schema', 'ev')}
# {inline function: function that it calls with its session}
CAUSE_OF = {'sonde_event_schema': 'sonde_session_schema'}

ZERO_TYPES = ('size_t', 'uint32_t', 'uint64_t', 'int64_t', 'double', 'enum sonde_schema_kind')
SCALARS = ('int', 'unsigned', 'int32_t') + ZERO_TYPES
# Arguments that are not NULL: by type, else by (type, name). The variables are those of nulls.c.
POINTERS = {
    'struct sonde_session *': 'session', 'const struct sonde_session *': 'session',
    'struct sonde_session **': '&opened', 'const struct sonde_event *': 'event',
    'struct sonde_event *': 'event', 'const struct sonde_event **': '&next',
    'const struct sonde_event *const *': 'batch',
    'const struct sonde_event *const **': '&batch', 'const struct sonde_schema *': 'schema',
    'const struct sonde_field *': 'field', 'size_t *': '&length',
    'struct sonde_sample *': '&sample', 'struct sonde_location *': '&location',
    'struct sonde_dso *': '&dso', 'struct sonde_task *': '&task', 'struct sonde_code *': '&code',
    'const struct sonde_frame **': '&frames', 'struct sonde_recorder *': 'recorder',
    'struct sonde_recorder **': '&recorder_opened',
    'struct sonde_live *': 'live', 'struct sonde_live **': '&live_opened',
    'const struct sonde_live_options *': '&live_options',
    'const struct sonde_filter *': 'filter',
    'struct sonde_filter *': 'filter', 'struct sonde_filter **': '&filter_made',
    'const struct sonde_record_options *': '&record_options',
    'struct sonde_record_result *': '&record_result',
    'struct sonde_stat *': 'stat_count', 'const struct sonde_stat *': 'stat_count',
    'struct sonde_stat **': '&stat_opened',
    'const struct sonde_stat_options *': '&stat_options',
    'struct sonde_stat_round *': '&stat_round', 'int *': '&stat_status',
    'const struct sonde_list_options *': '&list_options', 'char **': '&parsed', 'char *': 'room',
    'struct sonde_tracepoint *': '&tracepoint_opened',
    'const struct sonde_tracepoint *': 'tracepoint_opened',
    'struct sonde_tracepoint **': '&tracepoint_opened',
    'struct sonde_columns *': 'columns', 'const struct sonde_columns *': 'columns',
    'struct sonde_columns **': '&columns_made',
    'const struct sonde_columns_options *': '&columns_options',
    'struct sonde_columns_table *': '&columns_table', 'struct ArrowSchema *': '&arrow_schema',
    'struct ArrowArray *': '&arrow_array', 'struct ArrowArrayStream *': '&arrow_stream',
    'struct sonde_pair *': '&pair',
    'struct sonde_aggregate *': 'aggregate', 'const struct sonde_aggregate *': 'aggregate',
    'struct sonde_aggregate **': '&aggregate_made',
    'const struct sonde_aggregate_options *': '&aggregate_options',
    'struct sonde_aggregate_facts *': '&aggregate_facts',
    'struct sonde_aggregate_row *': '&aggregate_row',
    'const struct sonde_aggregate_print_options *': '&aggregate_print_options',
    'struct sonde_nearest *': '&nearest', 'void *': '&context', 'struct sonde_profile *': 'profile',
    'const struct sonde_profile *': 'profile', 'struct sonde_profile **': '&profile_made',
    'const char **': '&title', 'uint32_t *': '&number',
    'struct sonde_profile_facts *': '&profile_facts',
    'struct sonde_profile_table *': '&profile_table', 'struct sonde_profile_row *': '&profile_row',
    'struct sonde_profile_value *': '&profile_value',
    'struct sonde_profile_path *': '&profile_path',
    'struct sonde_profile_read *': '&profile_read',
    'struct sonde_profile_place *': '&profile_place',
    'struct sonde_profile_node *': '&profile_node',
    'struct sonde_profile_branches *': '&profile_branches',
    'struct sonde_profile_block *': '&profile_block',
}
NAMED = {
    ('const char *', 'text'): 'session_text', ('const char *', 'origin'): '"."',
    ('const char *', 'key'): '"arch"',
    ('const char *', 'name'): '"pid"', ('const char *', 'path'): '"/proc/self/exe"',
    ('const char *', 'candidate'): '"a"',
    ('const char *', 'version'): '"none"', ('const char *', 'order'): '""',
    ('const char *', 'settings'): '""', ('const char *', 'event'): '"cycles"',
    ('const char *', 'fields'): '""', ('const char *', 'condition'): '"common_pid != 0"',
}
CALLBACKS = {'progress': 'on_progress', 'event': 'on_event', 'part': 'on_part',
             'source': 'on_source'}


class NoRule(Exception):
    pass


def declarations(text):
    """([(name, returned type, parameters)] of all functions, number of declarations in header)"""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'^\s*#.*$', ' ', text, flags=re.M)
    text = re.sub(r'\s+', ' ', text)
    marks = len(re.findall(r'\bSONDE_API\b|\bstatic inline\b', text))
    found = re.findall(
        r'(?:SONDE_API|static inline) ((?:const )?(?:struct |enum )?\w+ \**)\s*(\w+)\((.*?)\) '
        r'?(?:;|{)', text)
    return ([(name, returned.strip(), split(parameters)) for returned, name, parameters in found],
            marks)


def split(parameters):
    """Splits parameters at the commas that are not inside of parentheses."""
    if parameters.strip() == 'void':
        return []
    parts, depth = [''], 0
    for c in parameters:
        depth += (c == '(') - (c == ')')
        if c == ',' and not depth:
            parts.append('')
        else:
            parts[-1] += c
    return [parameter(p.strip()) for p in parts]


def parameter(text):
    """(type, name) of a parameter; arrays and functions become pointers."""
    callback = re.match(r'void \(\*(\w+)\)\(', text)
    if callback:
        return 'callback', callback[1]
    m = re.match(r'(.*?)(\w+)(\[\w+\])?$', text)
    return (m[1] + '*' if m[3] else m[1]).strip(), m[2]


def value(kind, name):
    if kind == 'callback':
        value = CALLBACKS.get(name)
    elif kind in SCALARS:
        value = '-1' if name == 'fd' else '1'  # nothing may be written
    else:
        value = NAMED.get((kind, name)) or POINTERS.get(kind)
    if value is None:
        raise NoRule('a parameter `%s %s`' % (kind, name))
    return value


def result(function, returned, name):
    if (function, name) in ALLOWED:
        return 'ALLOWED'
    if function in OTHER_RESULT:
        return OTHER_RESULT[function]
    if returned == 'int':
        return 'REFUSED'
    if returned == 'void':
        return 'NOTHING'
    if returned == 'const char *' and function not in NO_TEXT:
        return 'EMPTY'
    if returned.endswith('*') or returned in ZERO_TYPES:
        return 'ZERO'
    raise NoRule('a result `%s`' % returned)


def main():
    functions, marks = declarations(open(sys.argv[1]).read())
    calls, faults, used = [], [], set()
    if len(functions) != marks:
        faults.append('%d declarations, of which %d are understood' % (marks, len(functions)))
    with open(sys.argv[2], 'w') as out:
        for function, returned, parameters in functions:
            for i, (kind, name) in enumerate(parameters):
                if kind in SCALARS:
                    continue
                used.add((function, name))
                try:
                    arguments = [value(*p) for p in parameters]
                    expected = result(function, returned, name)
                except NoRule as e:
                    faults.append('%s(): no rule for %s' % (function, e))
                    continue
                arguments[i] = 'NULL'
                call = '%s(%s)' % (function, ', '.join(arguments))
                out.write('static intptr_t call_%d(void)\n{\n' % len(calls))
                out.write('\t%s;\n' % call + '\treturn 0;\n}\n' if returned == 'void' else
                          '\treturn (intptr_t)%s;\n}\n' % call)
                cause = '' if (function, name) in NO_CAUSE or expected == 'ALLOWED' else \
                    '%s: %s is NULL' % (CAUSE_OF.get(function, function), name)
                calls.append('\t{ "%s, %s", "%s", %s, call_%d },\n' %
                             (function, name, cause, expected, len(calls)))
        functions_known = {f for f, _ in used}
        stale = [r for r in ALLOWED | NO_CAUSE if r not in used]
        stale += [f for f in NO_TEXT | set(OTHER_RESULT) | set(CAUSE_OF)
                  if f not in functions_known]
        faults += ['%s: a row for nothing' % (r,) for r in stale]
        out.write('static const struct call calls[] = {\n%s};\n' % ''.join(calls))
        out.write('static const char *const faults[] = {\n%s\tNULL,\n};\n' %
                  ''.join('\t"%s",\n' % f.replace('"', "'") for f in faults))


main()
