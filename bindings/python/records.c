/* SPDX-License-Identifier: MIT */
/* Handlers of records of state. */
#include "pysonde.h"

int records_call(struct run *r, struct slot *slot)
{
	sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
	return 0;
}
