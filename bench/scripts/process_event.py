# SPDX-License-Identifier: MIT
"""Does nothing for each sample of other events than tracepoints."""


def process_event(param_dict):
    pass
