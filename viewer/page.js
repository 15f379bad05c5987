// SPDX-License-Identifier: MIT
// What the pages of sonde share: the data in the page, text of numbers and names, dark and light.
'use strict';
const page = (function () {
	const element = id => document.getElementById(id);
	const data = JSON.parse(element('data').textContent);
	const listeners = [];

	const MARKS = /[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

	// Makes a name displayable. Names come from recordings and may hold anything: control
	// characters, marks that change the direction of text, bytes that are not UTF-8 (lone
	// surrogates U+DC80 to U+DCFF in the data).
	function shown(name) {
		return name
			.replace(/[\u0000-\u001f]/g,
				c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
			.replace(/\u007f/g, '\u2421')
			.replace(MARKS, c => '<U+' +
				c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + '>')
			.replace(/[\ud800-\udfff]/gu, c => {
				const code = c.charCodeAt(0);
				return code >= 0xdc80 && code <= 0xdcff ?
					'\\x' + (code - 0xdc00).toString(16) : '\ufffd';
			});
	}

	// Two digits after the point as printf() and `sonde report` round: toFixed() takes the
	// larger neighbour of an exact half, printf() the even one. Only eighths are such halves.
	function percent(part, all) {
		const value = all ? 100 * part / all : 0, eighth = value % 1;

		if (eighth === .125 || eighth === .625)
			return (Math.floor(value * 100) / 100).toFixed(2) + '%';
		return value.toFixed(2) + '%';
	}

	function number(value) {
		return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
	}

	function time(ns) {
		for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
			if (Math.abs(ns) >= size)
				return (ns / size).toPrecision(4) + ' ' + unit;
		return Math.round(ns) + ' ns';
	}

	// unit: "ns" is a time, any other a plural noun.
	function amount(value, unit) {
		return unit === 'ns' ? time(value) : number(value) + (unit ? ' ' + unit : '');
	}

	const media = matchMedia('(prefers-color-scheme: dark)');
	let chosen = null, printing = false;

	function dark() {
		return !printing && (chosen === null ? media.matches : chosen);
	}

	function changed() {
		document.documentElement.dataset.theme = dark() ? 'dark' : 'light';
		for (const f of listeners)
			f();
	}

	media.addEventListener('change', changed);
	addEventListener('beforeprint', () => { printing = true; changed(); });
	addEventListener('afterprint', () => { printing = false; changed(); });
	addEventListener('resize', changed);
	element('theme').addEventListener('click', () => { chosen = !dark(); changed(); });
	element('help').addEventListener('click', toggle_help);

	function toggle_help() {
		element('keys').hidden = !element('keys').hidden;
	}

	// Gives a canvas its element's size in device pixels; returns its context, and its size in
	// CSS pixels.
	function sized(canvas, width, height) {
		const ratio = Math.min(devicePixelRatio || 1, 4);
		const ctx = canvas.getContext('2d', { alpha: false });

		if (canvas.width !== Math.round(width * ratio) ||
		    canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.width = width + 'px';
			canvas.style.height = height + 'px';
		}
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		return ctx;
	}

	// Shows lines of text next to the pointer; no lines: hides them.
	function tip(lines, x, y) {
		const box = element('tip');

		box.hidden = !lines.length;
		box.textContent = '';
		for (const line of lines) {
			const row = document.createElement('div');

			row.textContent = line;
			box.append(row);
		}
		if (box.hidden)
			return;
		box.style.left =
			Math.max(0, Math.min(x + 14, innerWidth - box.offsetWidth - 4)) + 'px';
		box.style.top = (y + 20 + box.offsetHeight > innerHeight ?
			y - box.offsetHeight - 8 : y + 18) + 'px';
	}

	// Settings after the '#' of the address, so that a link leads to what is shown.
	function settings() {
		return new URLSearchParams(location.hash.slice(1));
	}

	let timer = 0;

	// Browsers refuse frequent changes of the address.
	function keep(values) {
		clearTimeout(timer);
		timer = setTimeout(keep_now, 150, values);
	}

	function keep_now(values) {
		const p = new URLSearchParams();

		for (const [key, value] of Object.entries(values))
			if (value)
				p.set(key, value);
		try {
			history.replaceState(null, '', p.toString() ? '#' + p : location.pathname);
		} catch (e) {
			// A page without an address of its own cannot store settings.
		}
	}

	return {
		element, data, shown, percent, number, time, amount, dark, changed, sized, tip,
		settings, keep, toggle_help,
		is_printing: () => printing,
		on_change: f => listeners.push(f),
		toggle_theme: () => element('theme').click(),
	};
})();
