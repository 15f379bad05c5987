/* SPDX-License-Identifier: MIT */
/* Call paths, and the calls that single samples show. */
#ifndef SONDE_PRELUDE_DB_CALLS_H
#define SONDE_PRELUDE_DB_CALLS_H

#include "db_objects.h"

int db_put_chain(struct prelude_db *db, const struct sonde_event *ev, uint64_t *ret_path_id);
/*
 * Called for a sample whose data address is looked up: the sample's place becomes the first one of
 * the thread's stack.
 */
int db_note_call(struct prelude_db *db, const struct sonde_event *ev, const struct db_task *task,
		 const struct sonde_sample *sample, const struct db_place *from,
		 const struct db_place *to);
int db_flush_calls(struct prelude_db *db);
void db_calls_done(struct prelude_db *db);

#endif
