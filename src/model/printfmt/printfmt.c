/* SPDX-License-Identifier: MIT */
#include "model/printfmt/printfmt.h"

#include <stdlib.h>

int printfmt_compile(struct printfmt **ret, const struct sonde_schema *sc, enum printfmt_dialect dialect)
{
	(void)sc, (void)dialect;
	*ret = NULL;
	return 0;
}

void printfmt_run(const struct printfmt *pf, const struct printfmt_env *env, const uint8_t *bytes, uint32_t len,
		  struct outbuf *out)
{
	(void)pf, (void)env, (void)bytes, (void)len, (void)out;
}

int printfmt_defines(const struct printfmt *pf, struct arena *a, const struct sonde_define **ret, size_t *ret_nr)
{
	(void)pf, (void)a, (void)ret, (void)ret_nr;
	return 0;
}

void printfmt_free(struct printfmt *pf)
{
	free(pf);
}
