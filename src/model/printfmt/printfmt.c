/* SPDX-License-Identifier: MIT */
#include "model/printfmt/printfmt.h"

#include <stdlib.h>

void printfmt_free(struct printfmt *pf)
{
	free(pf);
}
