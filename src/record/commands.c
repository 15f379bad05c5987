/* SPDX-License-Identifier: MIT */
#include "record/commands.h"

#include <string.h>

#include "base/err.h"
#include "formats/perfdata/attr_text.h"
#include "record/enable.h"
#include "record/recorder.h"

/* ---- the commands ---------------------------------------------------------------------------- */

static void commands_put_line(const struct sonde_recorder *r, struct outbuf *line)
{
	outbuf_put(line, "", 1);
	if (!line->failed)
		say(&r->say, SAY_WARNING, "%s", line->data);
	line->len = 0;
}

static void commands_list_event(const struct capture_event *e, char how, struct outbuf *line)
{
	const struct perfdata_attr_style style = { .is = ": ", .rules = &default_rules };
	struct outbuf members = { 0 };

	outbuf_str(line, e->name);
	switch (how) {
	case 'v':
		perfdata_attr_put_kind(&members, &e->attr, e->attr.size, &style);
		perfdata_attr_put_members(&members, &e->attr, &style);
		/* skip the comma before the first member */
		if (members.len > 1) {
			outbuf_str(line, ":");
			outbuf_put(line, members.data + 1, members.len - 1);
		}
		outbuf_done(&members);
		break;
	case 'F':
		outbuf_fmt(line, ": sample_%s=%llu", e->attr.freq ? "freq" : "period",
			   (unsigned long long)e->attr.sample_period);
		break;
	}
}

/* "{cs,page-faults}", printed at its leader. */
static void commands_list_group(const struct capture_events *events, size_t leader,
				struct outbuf *line)
{
	const struct capture_event *first = &events->list.v[leader];

	if (capture_events_members(events, leader) == 1) {
		outbuf_str(line, first->name);
		return;
	}
	outbuf_fmt(line, "%s{%s", first->group_name ? first->group_name : "", first->name);
	for (size_t i = leader + 1; i < events->list.n; i++)
		if (events->list.v[i].leader == leader)
			outbuf_fmt(line, ",%s", events->list.v[i].name);
	outbuf_str(line, "}");
}

static const char *commands_list_events(struct sonde_recorder *r, const char *how)
{
	struct outbuf line = { 0 };

	if (*how && strcmp(how, "-v") && strcmp(how, "-g") && strcmp(how, "-F"))
		return "evlist takes -v, -g or -F";
	for (size_t i = 0; i < r->capture.events.list.n; i++) {
		const struct capture_event *e = &r->capture.events.list.v[i];

		if (strcmp(how, "-g") != 0)
			commands_list_event(e, *how ? how[1] : '\0', &line);
		else if (e->leader == i)
			commands_list_group(&r->capture.events, i, &line);
		else
			continue;
		commands_put_line(r, &line);
	}
	outbuf_done(&line);
	return NULL;
}

static const char *commands_switch_events(struct sonde_recorder *r, const char *event, bool on)
{
	if ((*event ? recorder_switch_event(r, event, on) : recorder_switch(r, on)) < 0)
		return err_text();
	return NULL;
}

/* Returns NULL if the command was carried out, otherwise the reason why not. */
static const char *commands_obey(void *ctx, const char *command, const char *argument)
{
	struct sonde_recorder *r = ctx;

	if (!strcmp(command, "enable"))
		return commands_switch_events(r, argument, true);
	if (!strcmp(command, "disable"))
		return commands_switch_events(r, argument, false);
	if (!strcmp(command, "evlist"))
		return commands_list_events(r, argument);
	if (!strcmp(command, "snapshot"))
		return "there is no snapshot to take: hardware tracing is not recorded";
	if (!strcmp(command, "ping") && !*argument)
		return NULL;
	if (!strcmp(command, "stop") && !*argument) {
		recorder_stop(r);
		return NULL;
	}
	return "commands are enable, disable, evlist, snapshot, ping and stop";
}

int commands_serve(struct control *c, struct sonde_recorder *r)
{
	const struct control_obeys o = { &r->say, commands_obey, r };

	return control_serve(c, &o);
}
