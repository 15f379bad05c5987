/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: one perf.data being read. */
#ifndef SONDE_SOURCES_PERFDATA_H
#define SONDE_SOURCES_PERFDATA_H

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/named_files.h"
#include "formats/perfdata/sample.h"
#include "sources/source.h"
#include "sources/unpacked.h"

/* Reported losses. Newer kernels report the same losses twice: see records_report_lost(). */
struct perfdata_losses {
	uint64_t records;        /* LOST */
	uint64_t samples, state; /* LOST_SAMPLES of events, of dummies */
	bool has_samples;        /* there are LOST_SAMPLES */
	uint64_t unwritten;      /* in LOST_SAMPLES: samples that the recorder did not write */
	bool only_unwritten;     /* LOST_SAMPLES counts nothing else */
	uint64_t events_reported, state_reported; /* in defects so far */
	char text[24];                            /* of perfdata_lost_samples() */
};

/* One event of the recording, as recorded. */
struct perfdata_event {
	struct perf_event_attr attr; /* host order */
	uint32_t attr_size;          /* as recorded */
	const uint8_t *recorded;     /* its bytes, recorded_bytes of them, in the arena */
	size_t recorded_bytes;
	struct perfdata_layout layout;
	const char *name; /* "sched:sched_switch", "cpu-clock" */
	struct sonde_schema *schema;
	uint32_t index, schema_id; /* in events; of schema */
	bool is_renamed;           /* name or format are newer than the schema (pipe mode) */
};

/* A kernel event id, its event, and the count in the last SAMPLE_READ. */
struct perfdata_id {
	uint64_t id;
	uint32_t event;
	uint64_t last_value;
};

/* Pipe mode: the name of an event whose attr is still to come. */
struct perfdata_early_name {
	uint64_t id;
	const char *name; /* borrowed from the arena */
};

struct perfdata_counts;

/* The values by which a CALLCHAIN record of simpleperf is matched to its samples. */
struct simpleperf_chain {
	uint64_t off; /* of the record in the file; 0 for none */
	uint64_t time_ns;
	uint32_t pid, tid;
	bool is_joined; /* callers from another sample of the thread were added */
	uint32_t nr;    /* addresses */
};

/* How to find a record's event. */
enum id_rule {
	ID_ONE_EVENT,  /* there is only one */
	ID_SAME_PLACE, /* the id is at the same offset in all records */
	/* Attrs differ and have no IDENTIFIER: an id is accepted if it leads back to its attr. */
	ID_MIXED
};

/* A record CALLCHAIN of simpleperf without addresses, and where its time is. */
enum { SIMPLEPERF_CHAIN_BYTES = 40, SIMPLEPERF_CHAIN_TIME_AT = 24 };
enum { NR_RECORD_SCHEMAS = RECORD_STAT_ROUND + 1, NR_RECENT_IDS = 64, TRACE_ERROR_BYTES = 112 };

/* A found id, kept in front of the hash. */
struct recent_id {
	uint64_t id;
	struct perfdata_event *event;
};

/* A file of a directory recording. */
struct perfdata_data_file {
	int fd;             /* owned */
	const char *path;   /* for messages */
	const char *behind; /* an offset in messages: " of PATH" */
	int number;
	uint64_t bytes;
	struct unzip *unzip; /* owned; NULL if not compressed */
};

struct perfdata_source {
	struct source source; /* first */
	struct source_options opts;
	struct perfdata_file file;
	int64_t changed_s;
	uint64_t first_attr_off; /* in pipe mode: of the first event's record */
	/* Owned; by feature number; empty if absent or not yet used. NULL if none was used. */
	struct bytes *sections;
	struct outbuf fact;  /* the value of the last requested fact */
	struct outbuf split; /* the pieces read so far of a simpleperf record in several pieces */
	struct named_files named_files; /* of simpleperf's header sections; by hash of the path: */
	struct hash64 named_by_path;    /* -> index of the first one */
	bool has_chains;                /* there may be records CALLCHAIN of simpleperf */
	struct simpleperf_chain last_chain;
	/* owned; room for the last requested record; NULL if none was requested */
	uint8_t *chain_record;
	/* Pipe mode, and records of simpleperf: */
	uint64_t taken_to; /* header records before this offset were taken */
	bool schemas_made;
	/*
	 * Header records followed the prelude, so schemas must be renewed. Until then no other
	 * thread decodes events ahead.
	 */
	atomic_bool is_unsettled;
	bool has_ended_early;     /* the recorder reports that it could not write any more */
	bool meets_compressed;    /* there are compressed records in it */
	struct unzip *unzip;      /* owned; NULL if there are none */
	struct unpacked unpacked; /* sizes for the compressed records of all files */
	VEC(struct perfdata_data_file) data_files; /* file 1 and up */
	const char *behind_first; /* the same of file 0 in a directory, else NULL */
	/* One more than the highest number of a file that exists or was reported missing. */
	int nr_data_files_known;
	struct arena arena;
	VEC(struct perfdata_event) events;
	VEC(struct perfdata_id) ids;
	struct hash64 by_id; /* id -> index in ids */
	VEC(struct perfdata_early_name) early_names;
	/* For decode(); for perfdata_decode_ahead(), which another thread may call meanwhile. */
	struct recent_id recent[NR_RECENT_IDS], recent_ahead[NR_RECENT_IDS];
	enum id_rule id_rule;
	/* The offset of the id if it is the same in all samples, else far beyond any record. */
	uint32_t same_id_off;
	/* Ids of samples that cut() marks as unwanted, each at id & mask; 0 if none. */
	uint64_t *unwanted_ids; /* owned; NULL if nothing is marked */
	uint64_t unwanted_mask;
	bool has_no_events; /* the only event is that of perfdata_event_add_none() */
	bool has_reads;     /* any event has SAMPLE_READ */
	bool unordered;     /* records act when they are read */
	bool same_time_off; /* all events have their time at these places */
	uint32_t time_off, time_from_end;
	struct abi abi;
	struct sample_scratch scratch;
	struct sonde_schema raw_schema; /* of perfdata_view_raw() */
	/* by record type, made when first needed */
	struct sonde_schema *record_schemas[NR_RECORD_SCHEMAS];
	struct bytes kallsyms, printk;      /* text of the recording, empty when absent */
	bool kallsyms_damaged;              /* the packed text is, and was counted */
	VEC(struct sonde_schema *) formats; /* of the tracepoints used, in the session's arena */
	struct hash64 format_by_id;         /* tracepoint -> index of its last format */
	struct hash64 tracepoints_used;     /* of events in file mode -> 1 */
	struct sonde_sample group;          /* READ values of the record being decoded, */
	uint32_t group_at;                  /* and the index of the next value */
	unsigned derived; /* number of events already made from the current record of decode() */
	struct change change; /* of the last event made from a record of state */
	/* separate, because kept events may be decoded in between */
	struct sample_scratch group_scratch;
	struct perfdata_losses losses;
	uint64_t traces, trace_bytes; /* AUXTRACE */
	/* owned; for perf stat; NULL until the first record of counts */
	struct perfdata_counts *counts;
	/* payload of the event made last of such a record */
	uint8_t trace_error[TRACE_ERROR_BYTES];
	struct {
		const char *hostname, *osrelease, *version, *arch, *cmdline, *cpudesc, *cpus_online,
			*cpus_available, *cpu_sockets, *branch_registers;
		bool has_kernel; /* the next two are set */
		struct build_id kernel_build_id;
		const char *kernel_name; /* NULL for "[kernel.kallsyms]" */
		VEC(struct source_build_id) build_ids;
		struct hash64 build_id_by_path; /* hash of the path -> index of its first */
		uint64_t first_sample_ns, last_sample_ns; /* both 0 if not recorded */
	} info;
};

static inline struct perfdata_source *perfdata_of(struct source *s)
{
	return (struct perfdata_source *)s;
}

/* open.c */
int perfdata_open(struct source **ret, const struct source_options *opts);
void perfdata_close(struct source *s);
/* Adds an event from its recorded attr. */
int perfdata_event_add(struct perfdata_source *s, const uint8_t *attr, size_t len);
/* Adds an event that stands for none, because the code expects one; views do not show it. */
int perfdata_event_add_none(struct perfdata_source *s);
/* Chooses how ids and times are found. Called after events were added. */
void perfdata_rules_choose(struct perfdata_source *s);
/* Makes id lead to an event; a later event takes it over. */
int perfdata_id_add(struct perfdata_source *s, uint64_t id, uint32_t event);
/* directory.c: opens DIR/data; DIR/data.N. dir: a descriptor, borrowed. */
struct unzip_options;
int perfdata_directory_head(int dir, char ret[NAME_MAX + 1]);
int perfdata_directory_open(struct perfdata_source *s, int dir);
int perfdata_directory_files(struct perfdata_source *s, int dir);
/* Both read the number of files: from DIR_FORMAT once they are open; from an ID_INDEX record. */
int perfdata_directory_format_read(struct perfdata_source *s, struct bytes *b);
void perfdata_directory_ids_look(struct perfdata_source *s, const uint8_t *rec, size_t len);
int perfdata_directory_unzip(struct perfdata_source *s, const struct unzip_options *like);
bool perfdata_directory_file(const struct perfdata_source *s, unsigned i, struct source_file *ret);
void perfdata_directory_close(struct perfdata_source *s);
/* " of DIR/data.1" after an offset in a message; "" for a recording that is one file. */
const char *perfdata_behind_offset(const struct perfdata_source *s, unsigned file);
/* NULL if the file is not compressed. */
const struct unzip *perfdata_unzip_of(const struct perfdata_source *s, unsigned file);
/* features.c: reads the header sections: names of events, host, tracing data, build ids. */
int perfdata_features_read(struct perfdata_source *s);
/* Reads one of them; counts damage as a defect. b is borrowed for the life of the source. */
int perfdata_feature_take(struct perfdata_source *s, enum perfdata_feature feature, struct bytes b);
bool perfdata_build_id(struct source *source, const char *path, struct source_build_id *ret);
bool perfdata_build_id_at(struct source *source, size_t i, struct source_build_id *ret);
bool perfdata_span(struct source *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);
int perfdata_kernel(struct source *s, struct source_kernel *ret);
int perfdata_kallsyms(struct source *s, struct source_kallsyms *ret);
const char *perfdata_info(struct source *s, const char *key);
/* facts.c */
bool perfdata_fact_at(struct source *s, size_t i, struct source_fact *ret);
/* clock.c */
void perfdata_clock(struct source *s, struct source_clock *ret);
/* schemas.c: the schemas of all events; of records of state. */
int perfdata_schemas_make(struct perfdata_source *s);
int perfdata_schema_make(struct perfdata_source *s, struct perfdata_event *e); /* of one event */
int perfdata_record_schema(struct perfdata_source *s, uint32_t type,
			   struct sonde_schema **ret); /* NULL: unknown type */
/* cut.c */
/* The length of a record with the data that follow it without being part of it. */
uint64_t perfdata_record_bytes(const uint8_t *rec, uint16_t size, bool swap);
int perfdata_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		 size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		 size_t *ret_need);
int perfdata_mark_unwanted(struct source *s);
/*
 * The event that a record belongs to; NULL if its id is unknown. *ret_id: 0 if not recorded; ret_id
 * may be NULL.
 */
struct perfdata_event *perfdata_event_of(const struct perfdata_source *s, const uint8_t *rec,
					 uint32_t len, uint64_t *ret_id);
/*
 * For a sample: its event if ids are at one place and this one is among the NR_RECENT_IDS recent
 * ones; if NULL, use perfdata_event_of().
 */
static inline struct perfdata_event *perfdata_recent_event(const struct perfdata_source *s,
							   const struct recent_id *recent,
							   const uint8_t *rec, uint32_t len,
							   bool swap)
{
	uint64_t id;

	if (s->id_rule == ID_ONE_EVENT)
		return &s->events.v[0];
	if (s->same_id_off + 8 > len)
		return NULL;
	id = get_u64(rec + s->same_id_off, swap);
	recent += id % NR_RECENT_IDS;
	return recent->id == id ? recent->event : NULL;
}
/* decode.c */
int perfdata_decode(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		    int max);
int perfdata_decode_ahead(struct source *s, const struct cut *cuts, int nr, int *at,
			  struct event *ret, int max);
int perfdata_sample(struct source *s, const struct event *ev, struct sonde_sample *ret);
/* groups.c */
bool perfdata_group_at(struct source *s, size_t i, struct source_group *ret);
void perfdata_weigh(struct source *s, const struct event *ev, uint64_t *ret_ip,
		    uint64_t *ret_period);
int perfdata_callchain(struct source *s, const struct event *ev, const uint8_t **ret);
void perfdata_traces(struct source *s, uint64_t *ret_records, uint64_t *ret_bytes);
void perfdata_ended(struct source *s);
/* The sum of LOST_SAMPLES read so far, as text; NULL if there are none. */
const char *perfdata_lost_samples(struct perfdata_source *s);
/* records.c: decodes a record of state. Returns 1 and *ret, or 0 if damaged (which is counted). */
int perfdata_record_decode(struct perfdata_source *s, const struct cut *rec, struct event *ret);

/*
 * pipe.c: pipe mode. Gives a name to the event type of an id; its attr may follow later. name:
 * borrowed from the arena.
 */
int perfdata_pipe_name(struct perfdata_source *s, uint64_t id, const char *name);
/* Reads the records before the first samples. */
int perfdata_pipe_open(struct perfdata_source *s);
/* Takes a record that file mode keeps in its header, len bytes with what follows it; once. */
int perfdata_pipe_take(struct perfdata_source *s, const uint8_t *rec, size_t len, uint64_t off);
int perfdata_take_header(struct source *s, const struct cut *cuts, int nr);
/* Makes the schemas for the records taken, before a record is decoded. Fails with -ENOMEM only. */
int perfdata_pipe_settle(struct perfdata_source *s);
enum { MAX_TRACING_BYTES = 256 << 20 };
/* The length of a record with the bytes that follow it and belong to it. */
uint64_t perfdata_pipe_record_bytes(const struct perfdata_source *s, const uint8_t *rec,
				    uint16_t size);

/* simpleperf.c: true for simpleperf's own records that are taken like records of pipe mode. */
bool perfdata_is_simpleperf(uint32_t type, uint32_t len);
int perfdata_simpleperf_take(struct perfdata_source *s, const uint8_t *rec, size_t len,
			     uint64_t off);
/* The header section with names of events. */
int perfdata_simpleperf_meta_read(struct perfdata_source *s, struct bytes *b);
/* The header sections FILE and FILE2, with names of functions; NULL if none has that path. */
int perfdata_simpleperf_files_read(struct perfdata_source *s, enum perfdata_feature feature,
				   struct bytes *b);
const struct named_file *perfdata_named_file(struct source *source, const char *path);
/*
 * CALLCHAIN records. _take keeps the offset of the decoded record. _before returns this offset if
 * pid, tid and time match the sample, else 0. The last function reads the sample's user frames.
 */
int perfdata_simpleperf_chain_take(struct perfdata_source *s, const struct cut *rec);
uint64_t perfdata_simpleperf_chain_before(const struct perfdata_source *s,
					  const struct sonde_event *ev);
int perfdata_simpleperf_chain(struct source *source, const struct event *ev, const uint8_t **ret);
/*
 * File mode: takes simpleperf's own records at the start. Looks for compressed records, which not
 * every header announces.
 */
int perfdata_first_records_look(struct perfdata_source *s);

/* listing.c: unchanged records and header sections, for lists of them; see also view.h. */
void perfdata_report(struct source *source, const struct event *ev, struct source_report *ret);
void perfdata_traits(struct source *source, struct source_traits *ret);
/* 1, 0 if absent or damaged, -ENOMEM. The bytes are borrowed from the source. */
int perfdata_section(struct perfdata_source *s, uint64_t feature, struct bytes *ret);
int perfdata_sections_make(struct perfdata_source *s);

#endif
