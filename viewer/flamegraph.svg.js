// SPDX-License-Identifier: MIT
// The picture of `sonde flamegraph -o FILE.svg`: zoom and search. Without scripts it is fixed.
'use strict';
(function () {
	const LETTER = 6.7, LEFT = 10, WIDTH = 1180;
	const element = id => document.getElementById(id);
	const frames = [...element('frames').children].map(g => {
		const rect = g.querySelector('rect'), title = g.querySelector('title').textContent;
		const number = name => parseFloat(rect.getAttribute(name));

		return { g, rect, label: g.querySelector('text'), title, name: title.split('\n')[0],
			x: number('x'), y: number('y'), width: number('width') };
	});
	let focus = frames[0], query = '';

	function place(f, x, width) {
		const room = Math.floor((width - 6) / LETTER);

		f.rect.setAttribute('x', x);
		f.rect.setAttribute('width', Math.max(width, .1));
		f.label.setAttribute('x', x + 3);
		f.label.textContent = room < 3 ? '' : f.name.length <= room ? f.name :
			f.name.slice(0, room - 1) + '…';
	}

	const is_inside = (f, outer) =>
		f.x >= outer.x - .001 && f.x + f.width <= outer.x + outer.width + .001;
	// Callers are nearer to the root's row.
	const row = f => Math.abs(f.y - frames[0].y);

	function zoom(to) {
		const k = WIDTH / to.width;

		focus = to;
		for (const f of frames) {
			const is_above = row(f) < row(to) && is_inside(to, f);
			const is_shown = is_above || row(f) >= row(to) && is_inside(f, to);

			f.g.setAttribute('display', is_shown ? 'inline' : 'none');
			f.g.classList.toggle('above', is_above);
			if (is_above)
				place(f, LEFT, WIDTH);
			else if (is_shown)
				place(f, LEFT + (f.x - to.x) * k, f.width * k);
		}
		element('details').textContent = to.title.replace(/\n/g, ' · ');
	}

	// A frame below a match is part of it and not counted again.
	function search(text) {
		const low = text.toLowerCase(), matches = [];

		query = text;
		for (const f of frames) {
			const is_match = text && f.name.toLowerCase().includes(low);

			f.g.classList.toggle('match', Boolean(is_match));
			if (is_match)
				matches.push(f);
		}
		const topmost = matches.filter(f =>
			!matches.some(o => row(o) < row(f) && is_inside(f, o)));
		const sum = topmost.reduce((all, f) => all + f.width, 0);

		element('matched').textContent = text ? 'matched: ' +
			(100 * sum / frames[0].width).toFixed(2) + '%' : '';
	}

	element('frames').addEventListener('click', e => {
		const g = e.target.closest('#frames > g');

		if (g)
			zoom(frames.find(f => f.g === g));
	});
	element('frames').addEventListener('mouseover', e => {
		const g = e.target.closest('#frames > g');

		if (g)
			element('details').textContent = g.querySelector('title').textContent
				.replace(/\n/g, ' · ');
	});
	element('reset').addEventListener('click', () => { search(''); zoom(frames[0]); });
	element('search').addEventListener('click', () => {
		const text = prompt('a part of the names to search for', query);

		if (text !== null)
			search(text);
	});
	addEventListener('keydown', e => {
		if (e.key === 'Escape') {
			search('');
			zoom(frames[0]);
		} else if (e.key === '/' || e.ctrlKey && e.key === 'f') {
			e.preventDefault();
			element('search').dispatchEvent(new Event('click'));
		}
	});
})();
