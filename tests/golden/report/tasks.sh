# SPDX-License-Identifier: MIT
# Tasks that records name late, twice, in two processes or only by a mapping.
sonde report --mmaps -i "$DATA/report/tasks.data"
