/* SPDX-License-Identifier: MIT */
#include "record/commands.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/attr_text.h"
#include "record/enable.h"
#include "record/recorder.h"

/* ---- the channel ----------------------------------------------------------------------------- */

static bool commands_is_ready(int fd, short what)
{
	struct pollfd p = { .fd = fd, .events = what };

	return poll(&p, 1, 0) > 0 && p.revents & what;
}

/* Writes "ack" or the failure. The recorder does not wait for a slow reader. */
static void commands_answer(struct control *c, const struct say *to, const char *failure)
{
	char line[512];
	int len;

	if (failure)
		say(to, SAY_WARNING, "--control: %s", failure);
	if (c->ack_fd < 0)
		return;
	len = failure ? snprintf(line, sizeof(line), "failed: %s\n", failure)
		      : snprintf(line, sizeof(line), "ack\n");
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	if (!commands_is_ready(c->ack_fd, POLLOUT) || write(c->ack_fd, line, (size_t)len) != len)
		say(to, SAY_WARNING,
		    "--control: an answer could not be written, because nobody reads the answers");
}

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
static const char *commands_obey(struct sonde_recorder *r, const char *command,
				 const char *argument)
{
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

static void commands_run_line(struct control *c, struct sonde_recorder *r, char *line)
{
	size_t len = strlen(line);
	char *argument;

	if (c->is_too_long) {
		c->is_too_long = false;
		commands_answer(c, &r->say, "the line is too long for a command");
		return;
	}
	while (len && isspace((unsigned char)line[len - 1]))
		line[--len] = '\0';
	if (!len)
		return;
	argument = line + strcspn(line, " ");
	if (*argument)
		*argument++ = '\0';
	say(&r->say, SAY_VERBOSE, "--control: %s%s%s", line, *argument ? " " : "", argument);
	commands_answer(c, &r->say, commands_obey(r, line, argument));
}

static void commands_run_lines(struct control *c, struct sonde_recorder *r, bool is_all)
{
	char *at = c->text, *const end = c->text + c->len;

	for (;;) {
		size_t len = 0;

		while (at + len < end && at[len] != '\n' && at[len] != '\0')
			len++;
		if (at + len == end && !is_all)
			break;
		at[len] = '\0'; /* there is room for one more byte after the text */
		commands_run_line(c, r, at);
		if (at + len >= end) {
			at = end;
			break;
		}
		at += len + 1;
	}
	c->len = (size_t)(end - at);
	memmove(c->text, at, c->len);
}

int control_serve(struct control *c, struct sonde_recorder *r)
{
	ssize_t n = 0;

	if (c->fd < 0)
		return 0;
	if (commands_is_ready(c->fd, POLLIN | POLLHUP)) {
		n = read(c->fd, c->text + c->len, sizeof(c->text) - 1 - c->len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		c->len += n > 0 ? (size_t)n : 0;
		commands_run_lines(c, r, n <= 0 || !commands_is_ready(c->fd, POLLIN));
		if (c->len == sizeof(c->text) - 1) {
			c->len = 0;
			c->is_too_long = true;
		}
		if (n > 0)
			return 0;
	}
	say(&r->say, SAY_VERBOSE, "--control: the other end is closed");
	c->fd = c->fifo ? (close(c->fd), -1) : -1;
	return 0;
}
