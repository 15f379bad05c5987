/* SPDX-License-Identifier: MIT */
/* The core of Session: opening, batches, events that Python code holds. */
#include "session.h"

#include <string.h>
#include <time.h>

#define SESSION_LOOK_NS 10000000 /* session_fill_once() returns after so long */
#define SESSION_BATCH   256      /* events; their objects exist only while Python code holds them */

int session_check(struct py_session *s)
{
	if (!s->s) {
		PyErr_SetString(PyExc_ValueError, "the session is closed");
		return -1;
	}
	if (s->busy || (s->owner && s->owner != PyThread_get_thread_ident())) {
		PyErr_SetString(PyExc_ValueError, "the session is being read by another thread");
		return -1;
	}
	return 0;
}

PyObject *session_new(PyObject *module, struct module_state *m, const char *text,
		      struct py_live *live)
{
	struct py_session *s = PyObject_New(struct py_session, m->session);
	int r;

	if (!s)
		return NULL;
	memset((char *)s + sizeof(PyObject), 0, sizeof(*s) - sizeof(PyObject));
	Py_INCREF(module);
	s->module = module;
	s->m = m;
	s->first_ns = s->last_ns = SONDE_NO_TIME;
	if (live) {
		Py_INCREF((PyObject *)live);
		s->live = live;
	}
	Py_BEGIN_ALLOW_THREADS
	r = live ? sonde_live_session(live->l, text, &s->s) : sonde_session_open(&s->s, text, NULL);
	Py_END_ALLOW_THREADS
	if (r < 0) {
		s->s = NULL;
		module_error(m, r);
		Py_DECREF((PyObject *)s);
		return NULL;
	}
	s->v = values_new(s->s);
	if (!s->v) {
		Py_DECREF((PyObject *)s);
		return NULL;
	}
	return (PyObject *)s;
}

/*
 * The bytes of the events of a batch are borrowed from the library until it reads the next one. An
 * Event that still exists then (a loop variable, a list or a Frame holds it) gets its own copy.
 * Later queries are answered for the Event's time.
 */
int session_keep_batch(struct py_session *s)
{
	while (s->oldest) {
		struct py_event *e = s->oldest;

		e->own = sonde_event_dup(e->ev);
		if (!e->own) {
			PyErr_NoMemory();
			return -1;
		}
		e->ev = e->own;
		session_forget_lent(e);
	}
	return 0;
}

void session_forget_lent(struct py_event *e)
{
	struct py_session *s = e->session;

	if (e->older)
		e->older->newer = e->newer;
	else if (s->oldest == e)
		s->oldest = e->newer;
	if (e->newer)
		e->newer->older = e->older;
	else if (s->newest == e)
		s->newest = e->older;
	e->older = e->newer = NULL;
}

int session_keep_lent(struct py_session *s)
{
	if (session_keep_batch(s) < 0)
		return -1;
	/* The first event of a batch cannot be given back, but then it was delivered. */
	if (s->at < s->nr_batch)
		sonde_session_unread(s->s, s->nr_batch - s->at);
	s->at = s->nr_batch = 0;
	return 0;
}

void session_info_free(struct schema_info *info)
{
	if (!info)
		return;
	Py_XDECREF(info->name);
	Py_XDECREF(info->keys);
	for (size_t i = 0; i < sizeof(info->attrs) / sizeof(info->attrs[0]); i++)
		Py_XDECREF(info->attrs[i].name);
	free(info->convs);
	free(info);
}

static struct schema_info *session_info_new(const struct sonde_schema *sc,
					    const struct sonde_rules *rules)
{
	struct schema_info *info = calloc(1, sizeof(*info));
	const struct sonde_field *fields;

	if (!info)
		return (struct schema_info *)PyErr_NoMemory();
	fields = sonde_schema_fields(sc, &info->nr_fields);
	info->sc = sc;
	info->convs = calloc(info->nr_fields + 1, sizeof(*info->convs));
	info->keys = PyTuple_New((Py_ssize_t)info->nr_fields);
	info->name = name_object(sonde_schema_name(sc));
	if (!info->convs || !info->keys || !info->name)
		goto fail;
	for (size_t i = 0; i < info->nr_fields; i++) {
		PyObject *key = name_object(fields[i].name);

		conv_init(&info->convs[i], &fields[i], rules);
		if (!key || PyTuple_SetItem(info->keys, (Py_ssize_t)i, key) < 0)
			goto fail;
	}
	return info;
fail:
	if (!PyErr_Occurred())
		PyErr_NoMemory();
	session_info_free(info);
	return NULL;
}

struct schema_info *session_schema(struct py_session *s, uint32_t id)
{
	const struct sonde_schema *sc;

	if (id < s->nr_schemas && s->schemas[id])
		return s->schemas[id];
	sc = sonde_session_schema(s->s, id);
	if (!sc) {
		PyErr_Format(PyExc_IndexError, "no schema %u yet", (unsigned int)id);
		return NULL;
	}
	if (id >= s->nr_schemas) {
		size_t nr = sonde_session_schemas(s->s);
		struct schema_info **bigger = realloc(s->schemas, nr * sizeof(*bigger));

		if (!bigger)
			return (struct schema_info *)PyErr_NoMemory();
		memset(bigger + s->nr_schemas, 0, (nr - s->nr_schemas) * sizeof(*bigger));
		s->schemas = bigger;
		s->nr_schemas = nr;
	}
	s->schemas[id] = session_info_new(sc, s->v->rules);
	return s->schemas[id];
}

/* Raises LossError if data was lost so far, and on_loss="raise". */
int session_check_losses(struct py_session *s)
{
	const struct sonde_defect *d;
	uint64_t lost = 0;
	bool has_loss = false;

	if (!s->raises_losses)
		return 0;
	for (size_t i = 0; (d = sonde_session_defect(s->s, i)); i++) {
		if (d->severity == SONDE_DATA_LOSS)
			has_loss = true;
		if (!strcmp(d->name, "lost-events"))
			lost += d->count;
	}
	if (!has_loss)
		return 0;
	module_loss(s->m, lost, sonde_session_defects_line(s->s));
	return -1;
}

static int64_t session_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int session_fill_once(struct py_session *s)
{
	size_t nr = SESSION_BATCH;
	PyThreadState *unlocked;
	int64_t begin_ns;
	int r;

	s->at = s->nr_batch = 0;
	r = sonde_session_next_batch_pending(s->s, &s->batch, &nr);
	s->busy = true;
	unlocked = r ? NULL : PyEval_SaveThread();
	begin_ns = r ? 0 : session_clock_ns();

	while (!r) {
		r = sonde_session_fill_until(s->s, s->wake_ns);
		nr = SESSION_BATCH;
		if (r <= 0) {
			/* The recording ended; one more defect may still be reported. */
			r = r < 0 ? r : sonde_session_next_batch(s->s, &s->batch, &nr);
			break;
		}
		/* A signal may have interrupted it, or a timer is due. */
		if (!sonde_session_pending(s->s)) {
			r = SESSION_AGAIN;
			break;
		}
		r = sonde_session_next_batch_pending(s->s, &s->batch, &nr);
		/* Records that nobody wants may come all the time: the caller has timers. */
		if (!r && session_clock_ns() - begin_ns >= SESSION_LOOK_NS) {
			r = SESSION_AGAIN;
			break;
		}
	}
	if (unlocked)
		PyEval_RestoreThread(unlocked);
	s->busy = false;
	if (PyErr_CheckSignals() < 0)
		return -1;
	if (r == SESSION_AGAIN)
		return r;
	if (r < 0) {
		module_error(s->m, r);
		return -1;
	}
	if (session_check_losses(s) < 0)
		return -1;
	s->nr_batch = r ? nr : 0;
	return r;
}

int session_fill(struct py_session *s)
{
	int r;

	do
		r = session_fill_once(s);
	while (r == SESSION_AGAIN);
	return r;
}

/* An Event for the next event of the batch. */
PyObject *session_lend(struct py_session *s, const struct sonde_event *ev)
{
	struct schema_info *info = ev->schema < s->nr_schemas ? s->schemas[ev->schema] : NULL;
	struct py_event *e;

	if (!info && !(info = session_schema(s, ev->schema)))
		return NULL;
	if (s->spare) {
		e = (struct py_event *)PyObject_Init((PyObject *)s->spare, s->m->event);
		s->spare = NULL;
	} else if (!(e = PyObject_New(struct py_event, s->m->event)))
		return NULL;
	Py_INCREF((PyObject *)s);
	e->session = s;
	e->info = info;
	e->ev = ev;
	e->own = NULL;
	e->newer = NULL;
	e->older = s->newest;
	if (s->newest)
		s->newest->newer = e;
	else
		s->oldest = e;
	s->newest = e;
	return (PyObject *)e;
}

int session_check_event(const struct py_event *e)
{
	if (!e->session->busy)
		return 0;
	PyErr_SetString(PyExc_ValueError, "the event's session is being read by another thread");
	return -1;
}

struct py_session_child *session_child_new(struct py_session *s, PyTypeObject *type)
{
	struct py_session_child *o = PyObject_New(struct py_session_child, type);

	if (!o)
		return NULL;
	Py_INCREF((PyObject *)s);
	o->session = s;
	return o;
}

void session_child_free(struct py_session_child *o)
{
	PyTypeObject *type = Py_TYPE((PyObject *)o);

	Py_DECREF((PyObject *)o->session);
	PyObject_Free(o);
	Py_DECREF(type);
}
