// SPDX-License-Identifier: MIT
// The page of `sonde heatmap`: counts by time (columns) and by latency or offset (rows).
(function () {
	const LEFT = 74, RIGHT = 12, TOP = 10, FOOT = 26;

	const { element, data, percent, number, time } = page;
	const view = element('view'), canvas = element('canvas');
	const nr_rows = data.rows.length - 1, cells = data.cells;
	const counts = new Map();          // of cells, by column * nr_rows + row
	const columns = new Float64Array(data.columns), rows = new Float64Array(nr_rows);
	let all = 0, most = 0;

	for (let i = 0; i < cells.length; i += 3) {
		const [column, row, count] = [cells[i], cells[i + 1], cells[i + 2]];

		counts.set(column * nr_rows + row, count);
		columns[column] += count;
		rows[row] += count;
		all += count;
		most = Math.max(most, count);
	}

	const everything = () => ({ from: 0, to: data.columns, low: 0, high: nr_rows });
	let shown = everything(), selected = null, hovered = null, drag = null;

	const width = () => Math.max(view.clientWidth - LEFT - RIGHT, 1);
	const height = () =>
		Math.max((page.is_printing() ? 500 : view.clientHeight) - TOP - FOOT, 1);
	const is_shown = (column, row) => column >= shown.from && column < shown.to &&
		row >= shown.low && row < shown.high;
	const x_of = column => LEFT + (column - shown.from) * width() / (shown.to - shown.from);
	const y_of = row =>
		TOP + height() - (row - shown.low) * height() / (shown.high - shown.low);

	// More is darker on a light ground, brighter on a dark one; by the logarithm of the count.
	function color(count) {
		const k = Math.log1p(count) / Math.log1p(most);

		return page.dark() ? `hsl(${12 + 40 * k} 90% ${16 + 56 * k}%)` :
			`hsl(${54 - 50 * k} 90% ${86 - 54 * k}%)`;
	}

	// The width of columns is a number of milliseconds, or of seconds, without a fraction.
	const seconds = value => value.toFixed(data.column >= 1 ? 0 : 3) + ' s';

	const row_text = row => time(data.rows[row]);

	function draw_axes(ctx) {
		const dark = page.dark();

		ctx.fillStyle = dark ? '#e6e6e6' : '#1c1c1c';
		ctx.font = '11px system-ui, sans-serif';
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'right';
		const step = Math.max(1, Math.ceil((shown.high - shown.low) * 18 / height()));
		for (let row = shown.low; row <= shown.high; row += step)
			ctx.fillText(row_text(row), LEFT - 6, y_of(row));
		ctx.textAlign = 'center';
		const every = Math.max(1, Math.ceil((shown.to - shown.from) * 120 / width()));
		for (let column = shown.from; column <= shown.to - every / 2; column += every)
			ctx.fillText(seconds(data.origin + column * data.column),
				Math.max(x_of(column), LEFT + 20), TOP + height() + 14);
	}

	function outline(ctx, cell) {
		ctx.strokeStyle = page.dark() ? '#fff' : '#000';
		ctx.strokeRect(x_of(cell.column), y_of(cell.row + 1),
			x_of(cell.column + 1) - x_of(cell.column),
			y_of(cell.row) - y_of(cell.row + 1));
	}

	function draw() {
		const tall = page.is_printing() ? 500 : view.clientHeight;
		const ctx = page.sized(canvas, view.clientWidth, tall);

		ctx.fillStyle = page.dark() ? '#17191c' : '#fff';
		ctx.fillRect(0, 0, view.clientWidth, tall);
		for (let i = 0; i < cells.length; i += 3) {
			const column = cells[i], row = cells[i + 1];

			if (!is_shown(column, row))
				continue;
			ctx.fillStyle = color(cells[i + 2]);
			ctx.fillRect(x_of(column), y_of(row + 1),
				x_of(column + 1) - x_of(column) + .3,
				y_of(row) - y_of(row + 1) + .3);
		}
		ctx.strokeStyle = page.dark() ? '#3b4047' : '#d0d4d9';
		ctx.strokeRect(LEFT - .5, TOP - .5, width() + 1, height() + 1);
		draw_axes(ctx);
		for (const cell of [selected, hovered])
			if (cell)
				outline(ctx, cell);
		if (drag && drag.moved) {
			ctx.strokeStyle = '#c724b1';
			ctx.strokeRect(drag.x, drag.y, drag.to_x - drag.x, drag.to_y - drag.y);
		}
	}

	let is_pending = false;

	function redraw() {
		if (page.is_printing()) {
			draw();
		} else if (!is_pending) {
			is_pending = true;
			requestAnimationFrame(() => { is_pending = false; draw(); });
		}
	}

	function lines_of(cell) {
		const count = counts.get(cell.column * nr_rows + cell.row) || 0;
		const from = data.origin + cell.column * data.column;

		return [number(count) + (data.mode === 'latency' ? ' of ' : ' events, ') +
			row_text(cell.row) + ' to ' + row_text(cell.row + 1),
			seconds(from) + ' to ' + seconds(from + data.column),
			percent(count, all) + ' of all, ' + percent(count, columns[cell.column]) +
			' of this time, ' + percent(count, rows[cell.row]) + ' of this ' +
			data.mode];
	}

	// The upper bound of the row in which the given share of all latencies is reached.
	function at_most(part) {
		let sum = 0, row = 0;

		for (; row < nr_rows - 1; row++) {
			sum += rows[row];
			if (sum >= part * all)
				break;
		}
		return row_text(row + 1);
	}

	function show_details() {
		const cell = hovered || selected;

		element('details').textContent = cell ? lines_of(cell).join(' · ') :
			number(all) + (data.mode !== 'latency' ? ' events' :
				' latencies; half at most ' + at_most(.5) +
				', 90% at most ' + at_most(.9) + ', 99% at most ' + at_most(.99));
	}

	function legend() {
		const box = element('legend');

		box.textContent = '';
		for (let count = 1; count < most * 10; count *= 10) {
			const mark = document.createElement('i'), n = Math.min(count, most);

			mark.style.background = color(n);
			box.append(mark, number(n));
		}
	}

	function zoom(to) {
		shown = to;
		show_details();
		redraw();
		const { from, to: end, low, high } = shown;
		const whole = from === 0 && end === data.columns && low === 0 && high === nr_rows;
		page.keep({ zoom: whole ? '' : [from, end, low, high].join(',') });
	}

	function cell_at(x, y) {
		const column = shown.from +
			Math.floor((x - LEFT) * (shown.to - shown.from) / width());
		const row = shown.low +
			Math.floor((TOP + height() - y) * (shown.high - shown.low) / height());

		return is_shown(column, row) ? { column, row } : null;
	}

	function around(cell) {
		const wide = Math.ceil((shown.to - shown.from) / 4);
		const tall = Math.ceil((shown.high - shown.low) / 4);

		zoom({
			from: Math.max(0, cell.column - wide),
			to: Math.min(data.columns, cell.column + wide + 1),
			low: Math.max(0, cell.row - tall),
			high: Math.min(nr_rows, cell.row + tall + 1)
		});
	}

	function move(columns_on, rows_on) {
		const cell = selected || { column: shown.from, row: shown.low };

		selected = {
			column: Math.min(Math.max(cell.column + columns_on, shown.from),
				shown.to - 1),
			row: Math.min(Math.max(cell.row + rows_on, shown.low), shown.high - 1)
		};
		hovered = null;
		show_details();
		redraw();
	}

	function reset() {
		selected = null;
		zoom(everything());
	}

	const KEYS = {
		ArrowLeft: () => move(-1, 0),
		ArrowRight: () => move(1, 0),
		ArrowUp: () => move(0, 1),
		ArrowDown: () => move(0, -1),
		Enter: () => selected && around(selected),
		'0': reset,
		Escape: reset,
		t: page.toggle_theme,
		'?': page.toggle_help,
	};

	addEventListener('keydown', e => {
		if (e.ctrlKey || e.metaKey || e.altKey || !KEYS[e.key] ||
		    e.target.matches('button') && e.key === 'Enter')
			return;
		e.preventDefault();
		KEYS[e.key]();
	});

	const place = e => {
		const box = canvas.getBoundingClientRect();

		return [e.clientX - box.left, e.clientY - box.top];
	};

	canvas.addEventListener('mousedown', e => {
		const [x, y] = place(e);

		drag = { x, y, to_x: x, to_y: y, moved: false };
	});
	addEventListener('mouseup', e => {
		const done = drag;

		drag = null;
		if (!done)
			return;
		const a = cell_at(Math.min(done.x, done.to_x), Math.max(done.y, done.to_y));
		const b = cell_at(Math.max(done.x, done.to_x), Math.min(done.y, done.to_y));
		if (done.moved && a && b) {
			zoom({ from: a.column, to: b.column + 1, low: a.row, high: b.row + 1 });
		} else {
			selected = cell_at(done.x, done.y);
			show_details();
			redraw();
		}
	});
	canvas.addEventListener('mousemove', e => {
		const [x, y] = place(e);

		if (drag) {
			drag.to_x = Math.min(Math.max(x, LEFT), LEFT + width() - 1);
			drag.to_y = Math.min(Math.max(y, TOP + 1), TOP + height());
			drag.moved = drag.moved || Math.abs(x - drag.x) > 4 ||
				Math.abs(y - drag.y) > 4;
		}
		hovered = cell_at(x, y);
		show_details();
		redraw();
		page.tip(hovered && !drag ? lines_of(hovered) : [], e.clientX, e.clientY);
	});
	canvas.addEventListener('mouseleave', () => {
		hovered = null;
		page.tip([]);
		show_details();
		redraw();
	});
	element('reset').addEventListener('click', reset);
	page.on_change(() => { legend(); redraw(); });

	const kept = (page.settings().get('zoom') || '').split(',').map(Number);

	if (kept.length === 4 && kept.every(Number.isInteger) &&
	    kept[0] >= 0 && kept[0] < kept[1] && kept[1] <= data.columns &&
	    kept[2] >= 0 && kept[2] < kept[3] && kept[3] <= nr_rows)
		shown = { from: kept[0], to: kept[1], low: kept[2], high: kept[3] };
	show_details();
	page.changed();
	view.focus({ preventScroll: true });
})();
