// SPDX-License-Identifier: MIT
// The page of `sonde flamegraph`: draws the trees of calls that are stored in the page.
//
// A graph's nodes are in preorder, node 0 is the root: the children of node i are i + 1,
// end[i + 1], ... below end[i]. A node covers [start, start + total) of its graph's weight.
(function () {
	const ROW = 18;       // height of a frame in pixels
	const THIN = 0.5;     // narrower frames are drawn together, in pixels
	const LETTER = 6.7;   // width of a letter of FONT in pixels
	const FONT = '11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

	// kind: [name, hue, saturation, lightness on light ground, on dark ground]
	const KINDS = {
		u: ['user', 36, 88, 68, 42],
		k: ['kernel', 12, 80, 68, 44],
		i: ['inlined', 186, 50, 66, 34],
		j: ['JIT', 128, 45, 64, 34],
		x: ['unknown', 50, 10, 76, 36],
		g: ['group', 220, 14, 80, 32],
		w: ['waker', 272, 50, 77, 42],
		r: ['too small', 0, 0, 86, 26],
	};
	const MATCH = ['#c724b1', '#e04fce'];

	const { element, data, shown, percent, number, amount } = page;
	const view = element('view'), canvas = element('canvas');
	let graph, focus = 0, selected = 0, hovered = -1, inverted = data.inverted;
	let matched = null, query = '', by_base = false, colors = [];

	/* ---- the tree ---- */

	function load(g) {
		const n = g.depth.length;
		const end = new Int32Array(n), parent = new Int32Array(n), at = [];
		let deepest = 0;

		for (let i = 0; i < n; i++) {
			const d = g.depth[i];

			parent[i] = d ? at[d - 1] : -1;
			at[d] = i;
			end[i] = i + 1;
			deepest = Math.max(deepest, d);
		}
		for (let i = n - 1; i > 0; i--)
			end[parent[i]] = Math.max(end[parent[i]], end[i]);
		Object.assign(g, { n, end, parent, deepest });
		g.total = sums(g, g.self);
		g.samples = sums(g, g.count);
		g.base_total = g.base ? sums(g, g.base) : null;
		g.shown = g.names.map(shown);
		place(g, g.total);
		return g;
	}

	function sums(g, own) {
		const total = Float64Array.from(own);

		for (let i = g.n - 1; i > 0; i--)
			total[g.parent[i]] += total[i];
		return total;
	}

	// Callees are drawn side by side; the caller's own weight is the space to their right.
	function place(g, width) {
		const next = new Float64Array(g.n), start = new Float64Array(g.n);

		for (let i = 1; i < g.n; i++) {
			start[i] = next[g.parent[i]];
			next[g.parent[i]] += width[i];
			next[i] = start[i];
		}
		Object.assign(g, { start, width });
	}

	function* children(i) {
		for (let c = i + 1; c < graph.end[i]; c = graph.end[c])
			yield c;
	}

	const name = i => graph.shown[graph.name[graph.frame[i]]];
	const file = i => {
		const f = graph.file[graph.frame[i]];

		return f < 0 ? '' : shown(graph.files[f]);
	};

	/* ---- colours ---- */

	function hash(text) {
		let h = 0;

		for (let i = 0; i < text.length; i++)
			h = (h * 31 + text.charCodeAt(i)) >>> 0;
		return h;
	}

	function paint() {
		const dark = page.dark() ? 1 : 0;

		colors = graph.names.length ? graph.name.map((n, f) => {
			const [, hue, saturation, ...light] = KINDS[graph.kind[f]] || KINDS.x;
			const h = hash(graph.names[n]);
			const lightness = light[dark] + (h >> 8) % 9 - 4;

			return `hsl(${hue + h % 15 - 7} ${saturation}% ${lightness}%)`;
		}) : [];
	}

	// Red for shares that grew, blue for those that shrank; a larger change is darker.
	function difference(i) {
		const now = share(graph.total, i), before = share(graph.base_total, i);
		const most = Math.max(now, before);
		const strength = most ? Math.abs(now - before) / most : 0;
		const saturation = Math.round(20 + 65 * strength);
		const light = page.dark() ? 30 + 25 * strength : 95 - 40 * strength;

		return `hsl(${now >= before ? 8 : 216} ${saturation}% ${light}%)`;
	}

	const share = (totals, i) => totals[0] ? totals[i] / totals[0] : 0;
	const color = i => graph.base ? difference(i) : colors[graph.frame[i]];

	/* ---- drawing ---- */

	const height = () => (graph.deepest + 1) * ROW + 4;
	// The root of a flame is at the bottom of what is visible, that of an icicle at the top.
	const ground = () => page.is_printing() ? height() : Math.max(height(), view.clientHeight);
	const row_top = depth => inverted ? depth * ROW : ground() - (depth + 1) * ROW;

	function scale() {
		const whole = graph.width[focus];

		return whole ? canvas.clientWidth / whole : 0;
	}

	function is_above(i) { // of the frame that is zoomed to, or that itself
		return i <= focus && graph.end[i] > focus;
	}

	function bounds(i) {
		if (is_above(i))
			return [0, canvas.clientWidth];
		return [(graph.start[i] - graph.start[focus]) * scale(), graph.width[i] * scale()];
	}

	function draw_frame(ctx, i, x, w, top) {
		const is_match = matched && matched[graph.frame[i]];

		ctx.globalAlpha = is_above(i) && i !== focus ? .55 : matched && !is_match ? .45 : 1;
		ctx.fillStyle = is_match ? MATCH[page.dark() ? 1 : 0] : color(i);
		ctx.fillRect(x, top, Math.max(w - (w > 3 ? 1 : 0), THIN), ROW - 1);
		ctx.globalAlpha = 1;
		if (w > 3 * LETTER) {
			const room = Math.floor((w - 6) / LETTER), text = name(i);

			ctx.fillStyle = is_match ? '#fff' : page.dark() ? '#f2f2f2' : '#111';
			ctx.fillText(text.length <= room ? text : text.slice(0, room - 1) + '…',
				x + 3, top + ROW / 2, w - 4);
		}
		if (i === selected && i !== 0 || i === hovered) {
			ctx.strokeStyle = page.dark() ? '#fff' : '#000';
			ctx.strokeRect(x + .5, top + .5, Math.max(w - 2, 1), ROW - 2);
		}
	}

	function draw_thin(ctx, x, w, top) {
		ctx.fillStyle = page.dark() ? '#4a4e54' : '#c9ccd1';
		ctx.fillRect(x, top, w, ROW - 1);
	}

	// Draws the callees of a frame, recursively; neighbours that are too narrow become one box.
	function draw_below(ctx, first, scroll, visible) {
		const stack = [first], k = scale(), origin = graph.start[focus];

		while (stack.length) {
			const i = stack.pop(), top = row_top(graph.depth[i] + 1) - scroll;
			const is_seen = top > -ROW && top < visible;
			let thin_at = 0, thin = 0;

			for (const c of children(i)) {
				const x = (graph.start[c] - origin) * k, w = graph.width[c] * k;

				if (w >= THIN) {
					if (is_seen)
						draw_frame(ctx, c, x, w, top);
					stack.push(c);
					continue;
				}
				if (x > thin_at + thin + .01) {
					if (thin >= THIN && is_seen)
						draw_thin(ctx, thin_at, thin, top);
					thin_at = x;
					thin = 0;
				}
				thin = x + w - thin_at;
			}
			if (thin >= THIN && is_seen)
				draw_thin(ctx, thin_at, thin, top);
		}
	}

	function draw() {
		const whole = page.is_printing() ? Math.min(height(), 8192) : view.clientHeight;
		const ctx = page.sized(canvas, view.clientWidth, whole);
		const scroll = page.is_printing() ? 0 : view.scrollTop;

		ctx.fillStyle = page.dark() ? '#17191c' : '#fff';
		ctx.fillRect(0, 0, canvas.clientWidth, whole);
		ctx.font = FONT;
		ctx.textBaseline = 'middle';
		for (let i = focus; i >= 0; i = graph.parent[i])
			draw_frame(ctx, i, 0, canvas.clientWidth, row_top(graph.depth[i]) - scroll);
		draw_below(ctx, focus, scroll, whole);
	}

	let is_pending = false;

	function redraw() {
		if (is_pending)
			return;
		is_pending = true;
		requestAnimationFrame(() => { is_pending = false; draw(); });
	}

	// The canvas covers what is visible; the space behind it is as high as the picture.
	function lay_out() {
		const at_foot = view.scrollTop + view.clientHeight >= view.scrollHeight - 2;

		element('space').style.height = Math.max(0, height() - view.clientHeight) + 'px';
		if (!inverted && at_foot)
			view.scrollTop = view.scrollHeight;
		if (page.is_printing())
			draw();
		else
			redraw();
	}

	/* ---- details and tips ---- */

	function lines_of(i) {
		const lines = [name(i)], g = graph;

		if (file(i))
			lines.push(file(i));
		lines.push(percent(g.total[i], g.total[0]) + ' of all: ' +
			(g.unit === 'samples' ? '' : amount(g.total[i], g.unit) + ', ') +
			number(g.samples[i]) + (g.samples[i] === 1 ? ' ' + g.counted.slice(0, -1) :
			' ' + g.counted));
		if (focus && !is_above(i))
			lines.push(percent(g.total[i], g.total[focus]) + ' of ' + name(focus));
		if (g.parent[i] > 0)
			lines.push(percent(g.total[i], g.total[g.parent[i]]) + ' of its caller');
		if (g.self[i])
			lines.push(percent(g.self[i], g.total[0]) + ' itself');
		if (g.base) {
			const now = 100 * share(g.total, i), before = 100 * share(g.base_total, i);

			lines.push('before: ' + percent(g.base_total[i], g.base_total[0]) + ', ' +
				amount(g.base_total[i], g.unit));
			lines.push('difference: ' + (now >= before ? '+' : '\u2212') +
				Math.abs(now - before).toFixed(2) + ' points');
		}
		return lines;
	}

	function show_details() {
		const i = hovered >= 0 ? hovered : selected;

		element('details').textContent = lines_of(i).join(' · ');
		element('reset').disabled = !focus && !query;
	}

	function find() {
		let test = null;

		matched = null;
		element('search').setCustomValidity('');
		if (query) {
			const regex = /^\/(.*)\/$/.exec(query), low = query.toLowerCase();

			try {
				const re = regex ? new RegExp(regex[1], 'i') : null;

				test = re ? text => re.test(text)
					: text => text.toLowerCase().includes(low);
			} catch (e) {
				element('search').setCustomValidity(e.message);
			}
		}
		if (test) {
			const hits = graph.shown.map(test);

			matched = graph.name.map(n => hits[n]);
		}
		sum_matches();
	}

	// Frames below a match are not searched, so that a recursive function counts once.
	function sum_matches() {
		let sum = 0, sum_in_focus = 0;

		if (!matched) {
			element('matched').textContent = '';
			return;
		}
		for (let i = 0; i < graph.n; i++)
			if (matched[graph.frame[i]]) {
				sum += graph.total[i];
				i = graph.end[i] - 1;
			}
		for (let i = focus; i < graph.end[focus]; i++)
			if (matched[graph.frame[i]]) {
				sum_in_focus += graph.total[i];
				i = graph.end[i] - 1;
			}
		element('matched').textContent = 'matched: ' + percent(sum, graph.total[0]) +
			(!focus ? '' : ', ' + percent(sum_in_focus, graph.total[focus]) + ' of ' +
			name(focus));
	}

	function legend() {
		const box = element('legend');

		box.textContent = '';
		for (const kind of Object.keys(KINDS)) {
			const mark = document.createElement('i'), f = graph.kind.indexOf(kind);

			if (f < 0 || graph.base)
				continue;
			mark.style.background = colors[f];
			box.append(mark, KINDS[kind][0]);
		}
		if (graph.base)
			for (const [hue, text] of [[8, 'larger share'], [216, 'smaller share']]) {
				const mark = document.createElement('i');

				mark.style.background = `hsl(${hue} 80% 60%)`;
				box.append(mark, text);
			}
	}

	/* ---- mouse and keys ---- */

	function keep() {
		page.keep({
			event: data.graphs.indexOf(graph) || '', search: query, frame: focus || ''
		});
	}

	function into_view(i) {
		const top = row_top(graph.depth[i]);

		if (top < view.scrollTop)
			view.scrollTop = Math.max(0, top - 2 * ROW);
		else if (top + ROW > view.scrollTop + view.clientHeight)
			view.scrollTop = top + 3 * ROW - view.clientHeight;
	}

	function select(i) {
		selected = i;
		hovered = -1;
		page.tip([]);
		into_view(i);
		show_details();
		redraw();
	}

	function zoom(i) {
		focus = graph.width[i] ? i : 0;
		sum_matches();
		select(i);
		keep();
	}

	function search(text) {
		query = text;
		element('search').value = text;
		find();
		show_details();
		redraw();
		keep();
	}

	// Selects the next (1) or previous (-1) match in the order of the tree, round and round.
	function next_match(step) {
		if (!matched)
			return;
		for (let k = 1; k <= graph.n; k++) {
			const i = (selected + step * k + graph.n * k) % graph.n;

			if (matched[graph.frame[i]] && graph.width[i]) {
				if (focus && (i < focus || i >= graph.end[focus]))
					zoom(0);
				select(i);
				return;
			}
		}
	}

	function widest(i) {
		let best = -1;

		for (const c of children(i))
			if (best < 0 || graph.width[c] > graph.width[best])
				best = c;
		return best;
	}

	// The neighbour in the same row, even if it has another caller.
	function neighbour(step) {
		const depth = graph.depth[selected];

		for (let i = selected + step; i > 0 && i < graph.n; i += step)
			if (graph.depth[i] === depth && graph.width[i] * scale() >= THIN)
				return i;
		return -1;
	}

	function turn() {
		inverted = !inverted;
		lay_out();
		view.scrollTop = inverted ? 0 : view.scrollHeight;
	}

	function widths() {
		if (!graph.base)
			return;
		by_base = !by_base;
		place(graph, by_base ? graph.base_total : graph.total);
		element('widths').textContent = by_base ? 'widths: before' : 'widths: now';
		if (!graph.width[focus])
			focus = 0;
		redraw();
	}

	function reset() {
		search('');
		zoom(0);
	}

	const towards = callee => {
		const to = callee ? widest(selected) : graph.parent[selected];

		if (to >= 0)
			select(to);
	};
	const KEYS = {
		ArrowUp: () => towards(!inverted),
		ArrowDown: () => towards(inverted),
		ArrowLeft: () => neighbour(-1) >= 0 && select(neighbour(-1)),
		ArrowRight: () => neighbour(1) >= 0 && select(neighbour(1)),
		Enter: () => zoom(selected),
		' ': () => zoom(selected),
		Backspace: () => zoom(Math.max(0, graph.parent[focus])),
		'0': () => reset(),
		Escape: () => reset(),
		'/': () => element('search').select(),
		n: () => next_match(1),
		N: () => next_match(-1),
		i: turn,
		b: widths,
		t: page.toggle_theme,
		'?': page.toggle_help,
	};

	addEventListener('keydown', e => {
		const in_field = e.target.matches('input, select');

		if ((e.ctrlKey || e.metaKey) && e.key === 'f' && !in_field) {
			e.preventDefault();
			element('search').select();
		} else if (e.target === element('search') && e.key === 'Enter') {
			e.preventDefault();
			next_match(e.shiftKey ? -1 : 1);
			view.focus();
		} else if (e.target === element('search') && e.key === 'Escape') {
			search('');
			view.focus();
		} else if (!in_field && !e.ctrlKey && !e.metaKey && !e.altKey && KEYS[e.key] &&
			   !(e.target.matches('button') && (e.key === 'Enter' || e.key === ' '))) {
			e.preventDefault();
			KEYS[e.key]();
		}
	});

	function frame_at(e) {
		const box = canvas.getBoundingClientRect(), x = e.clientX - box.left;
		const y = e.clientY - box.top + view.scrollTop;
		const depth = Math.floor((inverted ? y : ground() - y) / ROW);
		let i = 0;

		if (depth < 0 || depth > graph.deepest)
			return -1;
		while (graph.depth[i] < depth) {
			let next = -1;

			for (const c of children(i)) {
				const [at, w] = bounds(c);

				if (x >= at && x < at + Math.max(w, THIN) &&
				    (!is_above(i) || i === focus || is_above(c))) {
					next = c;
					break;
				}
			}
			if (next < 0)
				return -1;
			i = next;
		}
		return i;
	}

	canvas.addEventListener('mousemove', e => {
		const i = frame_at(e);

		if (i !== hovered) {
			hovered = i;
			show_details();
			redraw();
		}
		page.tip(i < 0 ? [] : lines_of(i), e.clientX, e.clientY);
		canvas.style.cursor = i < 0 ? 'default' : 'pointer';
	});
	canvas.addEventListener('mouseleave', () => {
		hovered = -1;
		page.tip([]);
		show_details();
		redraw();
	});
	canvas.addEventListener('click', e => {
		const i = frame_at(e);

		view.focus({ preventScroll: true });
		if (i >= 0)
			zoom(i);
	});
	view.addEventListener('scroll', redraw);
	element('search').addEventListener('input', e => search(e.target.value));
	element('reset').addEventListener('click', reset);
	element('invert').addEventListener('click', turn);
	element('widths').addEventListener('click', widths);
	element('event').addEventListener('change', e => show(+e.target.value));
	page.on_change(() => { paint(); legend(); lay_out(); });

	function show(nr) {
		graph = data.graphs[nr];
		if (!graph.end)
			load(graph);
		focus = selected = 0;
		hovered = -1;
		element('widths').hidden = !graph.base;
		element('widths').textContent = 'widths: now';
		element('event').value = nr;
		find();
		show_details();
		page.changed();
		view.scrollTop = inverted ? 0 : view.scrollHeight;
	}

	data.graphs.forEach((g, i) => {
		const option = document.createElement('option');

		option.value = i;
		option.textContent = shown(g.event);
		element('event').append(option);
	});
	element('event').hidden = data.graphs.length < 2;

	const at = page.settings();

	show(Math.min(Math.max(0, +at.get('event') || 0), data.graphs.length - 1));
	if (at.get('search'))
		search(at.get('search'));
	if (+at.get('frame') > 0 && +at.get('frame') < graph.n)
		zoom(Math.floor(+at.get('frame')));
	view.focus({ preventScroll: true });
})();
