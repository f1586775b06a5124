// Every event of the table in docs/webhooks.md has a source that sends it, and a test of its cause.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventTypes } from '@svc/core/webhooks/events.ts';
import { expect, test } from 'vitest';
import { senders } from './senders.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

/** Events of the table, in its order. */
function described(): string[] {
  const page = read('docs/webhooks.md');
  const section = page.slice(page.indexOf('\n## Events'), page.indexOf('\n## Addresses'));
  const rows = section.matchAll(/^\| ((?:`[a-z_.]+`(?:, )?)+) \|/gm);
  return [...rows].flatMap(([, names]) =>
    [...(names as string).matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name as string),
  );
}

/** The part of `text` that can send: statements that write facts, or of a program all that is no comment. */
function sending(path: string, text: string): string {
  if (path.endsWith('.sql'))
    return [...text.matchAll(/insert into ledger\.outbox[^;]*;/g)].map(([statement]) => statement).join('\n');
  const code = text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  return /\b(?:writeEvent|insertNews|insertEvents)\(/.test(code) ? code : '';
}

/** How often `file` has a test of that name, alone or of a table. */
const timesIn = (file: string, name: string) =>
  [...read(file).matchAll(/\btest(?:\.for\([^\n]*\))?\(\s*'(.+)'/g)].filter(([, title]) => title === name)
    .length;

test('the table, the catalog and the list of senders name the same events', () => {
  const events = Object.keys(eventTypes).sort();
  expect(events.length).toBeGreaterThan(30);
  expect(described().sort()).toEqual(events);
  expect(Object.keys(senders).sort()).toEqual(events);
});

test.for(described())('%s has a source that sends it, and a test of its cause', (event) => {
  const sender = senders[event];
  expect(sender, 'no sender is named').toBeDefined();
  const {
    source,
    test: [file, name],
  } = sender as NonNullable<typeof sender>;
  expect(sending(source, read(source)), `${source} sends nothing of that name`).toContain(`'${event}'`);
  expect([file, name, timesIn(file, name)]).toEqual([file, name, 1]);
});
