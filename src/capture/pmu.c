/* SPDX-License-Identifier: MIT */
#include "capture/pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"

/* User-supplied names become parts of paths; they must not leave the folder. */
static bool pmu_is_file_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 128;
}

/* Reads a file's first line; false if it cannot be read. */
static bool pmu_read_file(const struct pmu *p, const char *folder, const char *name, char *buf,
			  size_t size)
{
	char path[PATH_MAX];

	if (!pmu_is_file_name(name))
		return false;
	snprintf(path, sizeof(path), "%s/%s/%s", p->dir, folder, name);
	return sysfile_line(buf, size, "%s", path);
}

/* energy-psys.unit describes the event energy-psys */
static bool pmu_is_event(const char *name)
{
	static const char *const about[] = { ".scale", ".unit", ".snapshot", ".per-pkg" };
	const size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(about) / sizeof(*about); i++)
		if (len > strlen(about[i]) && !strcmp(name + len - strlen(about[i]), about[i]))
			return false;
	return *name != '.';
}

int pmu_open(const char *root, const char *name, struct pmu *ret)
{
	struct pmu p;
	char text[32], *end;
	unsigned long type;

	if (!pmu_is_file_name(name) || strlen(name) >= sizeof(p.name) ||
	    snprintf(p.dir, sizeof(p.dir), "%s/%s", root ? root : PMU_SOURCES, name) >=
		    (int)sizeof(p.dir))
		return -ENOENT;
	if (!sysfile_line(text, sizeof(text), "%s/type", p.dir))
		return -ENOENT;
	type = strtoul(text, &end, 10);
	if (end == text || type > UINT32_MAX)
		return -ENOENT;
	strcpy(p.name, name);
	p.type = (uint32_t)type;
	*ret = p;
	return 0;
}

/* uncore_imc_0 has the names imc and uncore_imc */
static bool pmu_is_called(const char *source, const char *name)
{
	static const char prefix[] = "uncore_";
	const size_t len = strlen(name);

	if (!strncmp(source, prefix, strlen(prefix)) && strncmp(name, prefix, strlen(prefix)))
		source += strlen(prefix);
	if (strncmp(source, name, len))
		return false;
	source += len;
	if (!*source)
		return true;
	if (*source++ != '_' || !*source)
		return false;
	return !source[strspn(source, "0123456789")];
}

int pmu_each(const char *root, const char *name, const char *event,
	     int (*visit)(void *ctx, const struct pmu *pmu), void *ctx)
{
	struct dirent **list;
	int n = scandir(root ? root : PMU_SOURCES, &list, NULL, alphasort), r = 0;

	/* Any other error means that this machine has none. */
	if (n < 0 && (errno_no_descriptor(errno) || errno == ENOMEM))
		return err_errno(errno, "cannot list %s", root ? root : PMU_SOURCES);
	for (int i = 0; i < n; i++) {
		struct pmu p;
		char text[16];

		if (r == 0 && pmu_is_file_name(list[i]->d_name) &&
		    (!name || pmu_is_called(list[i]->d_name, name)) &&
		    pmu_open(root, list[i]->d_name, &p) == 0 &&
		    (!event || (pmu_is_event(event) &&
				pmu_read_file(&p, "events", event, text, sizeof(text)))))
			r = visit(ctx, &p);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return r;
}

/* WORD:RANGES; WORD is config, config1 or config2 */
int pmu_format_parse(const char *text, struct pmu_format *ret)
{
	static const char *const words[] = { "config:", "config1:", "config2:" };
	struct pmu_format f = { 0 };
	const char *p = NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !p; i++)
		if (!strncmp(text, words[i], strlen(words[i]))) {
			f.word = (__typeof__(f.word))i;
			p = text + strlen(words[i]);
		}
	while (p && *p) {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end == p)
			return -EINVAL;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (from > to || to > 63 || (*end && *end != ','))
			return -EINVAL;
		for (; from <= to; from++)
			f.bits |= (uint64_t)1 << from;
		p = *end ? end + 1 : end;
	}
	if (!f.bits)
		return -EINVAL;
	*ret = f;
	return 0;
}

int pmu_format_read(const struct pmu *p, const char *term, struct pmu_format *ret)
{
	char text[256];

	if (!pmu_read_file(p, "format", term, text, sizeof(text)))
		return -ENOENT;
	if (pmu_format_parse(text, ret) < 0)
		return err_set(-EINVAL, "%s/format/%s contains '%s', which is not supported",
			       p->dir, term, text);
	return 0;
}

uint64_t pmu_format_max(const struct pmu_format *f)
{
	const int n = __builtin_popcountll(f->bits);

	return n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

bool pmu_format_apply(const struct pmu_format *f, uint64_t value, struct perf_event_attr *attr)
{
	uint64_t word = f->word == PMU_CONFIG    ? attr->config
			: f->word == PMU_CONFIG1 ? attr->config1
						 : attr->config2;

	if (value > pmu_format_max(f))
		return false;
	for (uint64_t left = f->bits; left; left &= left - 1, value >>= 1) {
		const uint64_t bit = left & -left;

		word = value & 1 ? word | bit : word & ~bit;
	}
	if (f->word == PMU_CONFIG)
		attr->config = word;
	else if (f->word == PMU_CONFIG1)
		attr->config1 = word;
	else
		attr->config2 = word;
	return true;
}

int pmu_event_read(const struct pmu *p, const char *name, char *buf, size_t size)
{
	return pmu_is_event(name) && pmu_read_file(p, "events", name, buf, size) ? 0 : -ENOENT;
}

int pmu_cpus(const struct pmu *p, struct capture_cpus *ret)
{
	static const char *const files[] = { "cpumask", "cpus" };
	char path[PATH_MAX];

	*ret = (struct capture_cpus){ 0 };
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, files[i]);
		if (access(path, R_OK) == 0)
			return capture_cpus_read(path, ret);
	}
	return 0;
}

bool pmu_cpus_text(const struct pmu *p, char *buf, size_t size)
{
	return (sysfile_line(buf, size, "%s/cpumask", p->dir) ||
		sysfile_line(buf, size, "%s/cpus", p->dir)) &&
	       *buf;
}

/* ---- listing --------------------------------------------------------------------------------- */

static void pmu_each_entry(const char *dir, void (*visit)(void *ctx, const char *name), void *ctx)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (pmu_is_event(list[i]->d_name))
			visit(ctx, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

void pmu_events_each(const struct pmu *p, void (*visit)(void *ctx, const char *name), void *ctx)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events", p->dir);
	pmu_each_entry(path, visit, ctx);
}

bool pmu_event_about(const struct pmu *p, const char *name, const char *suffix, char *buf,
		     size_t size)
{
	char file[160];

	if (snprintf(file, sizeof(file), "%s.%s", name, suffix) >= (int)sizeof(file))
		return false;
	return pmu_read_file(p, "events", file, buf, size);
}

struct pmu_formats {
	const struct pmu *pmu;
	void (*visit)(void *ctx, const char *term, const char *text);
	void *ctx;
};

static void pmu_visit_format(void *ctx, const char *name)
{
	const struct pmu_formats *f = ctx;
	char text[256];

	if (pmu_read_file(f->pmu, "format", name, text, sizeof(text)))
		f->visit(f->ctx, name, text);
}

void pmu_formats_each(const struct pmu *p,
		      void (*visit)(void *ctx, const char *term, const char *text), void *ctx)
{
	struct pmu_formats f = { p, visit, ctx };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/format", p->dir);
	pmu_each_entry(path, pmu_visit_format, &f);
}

static void pmu_each_term(const struct pmu *p, void (*visit)(void *ctx, const char *name),
			  void *ctx)
{
	static const char *const folders[] = { "format", "events" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, folders[i]);
		pmu_each_entry(path, visit, ctx);
	}
}

static void pmu_offer(void *ctx, const char *name)
{
	near_offer(ctx, name);
}

struct pmu_words {
	char *buf;
	size_t size, len;
};

static void pmu_add_word(void *ctx, const char *name)
{
	struct pmu_words *w = ctx;
	int n = snprintf(w->buf + w->len, w->size - w->len, "%s%s", w->len ? ", " : "", name);

	if (n > 0 && w->len + (size_t)n < w->size)
		w->len += (size_t)n;
	else
		w->buf[w->len] = '\0';
}

void pmu_near(const char *root, struct near *near)
{
	pmu_each_entry(root ? root : PMU_SOURCES, pmu_offer, near);
}

void pmu_terms_near(const struct pmu *p, struct near *near)
{
	pmu_each_term(p, pmu_offer, near);
}

void pmu_list(const char *root, char *buf, size_t size)
{
	struct pmu_words w = { buf, size, 0 };

	*buf = '\0';
	pmu_each_entry(root ? root : PMU_SOURCES, pmu_add_word, &w);
}

void pmu_terms_list(const struct pmu *p, char *buf, size_t size)
{
	struct pmu_words w = { buf, size, 0 };

	*buf = '\0';
	pmu_each_term(p, pmu_add_word, &w);
}
