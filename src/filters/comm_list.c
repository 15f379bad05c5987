/* SPDX-License-Identifier: MIT */
#include "filters/comm_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strpool.h"
#include "filters/name_list.h"

int comm_list_parse(const char *text, const char *what, struct strpool *strings,
		    struct comm_list *ret)
{
	struct name_list names;
	uint32_t *comms;
	int r = 0;

	TRY(name_list_parse(text, what, &names));
	comms = malloc((names.nr + 1) * sizeof(*comms));
	if (!comms)
		r = err_nomem();
	for (size_t i = 0; i < names.nr && r >= 0; i++)
		r = strpool_intern(strings, names.names[i], strlen(names.names[i]), &comms[i]);
	if (r < 0)
		free(comms);
	else
		*ret = (struct comm_list){ .comms = comms, .nr = names.nr };
	name_list_done(&names);
	return r < 0 ? r : 0;
}

void comm_list_done(struct comm_list *l)
{
	free(l->comms);
	*l = (struct comm_list){ 0 };
}
