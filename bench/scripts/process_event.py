# SPDX-License-Identifier: MIT
"""Does nothing for each sample that is no tracepoint's."""


def process_event(param_dict):
    pass
