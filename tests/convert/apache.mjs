// SPDX-License-Identifier: MIT
// node apache.mjs FILE...: prints the tables of Arrow files as apache-arrow reads them, in lines.
import { tableFromIPC } from 'apache-arrow';
import fs from 'fs';

function plain(value) {
	if (value === null || typeof value === 'number' || typeof value === 'boolean' ||
	    typeof value === 'string')
		return value;
	if (typeof value === 'bigint')
		return value.toString();
	if (value instanceof Uint8Array && value.constructor === Uint8Array)
		return Buffer.from(value).toString('hex');
	if (typeof value.toJSON === 'function' && !(Symbol.iterator in Object(value)))
		return plain(value.toJSON());
	if (typeof value.length === 'number')
		return Array.from(value, plain);
	return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
}

for (const path of process.argv.slice(2)) {
	const table = tableFromIPC(fs.readFileSync(path));
	const columns = {};
	for (const field of table.schema.fields) {
		const column = table.getChild(field.name);
		columns[field.name] = Array.from({ length: table.numRows },
						 (_, i) => plain(column.get(i)));
	}
	console.log(JSON.stringify({ rows: table.numRows, columns }));
}
