// What the product writes to its outboxes is in the catalog of events, and the catalog has nothing that is written nowhere.
// causes.test.ts makes each event happen; this file reads the sources, so that a new event cannot be sent unlisted: who
// subscribes to all would get it, and nobody could have read what it is.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mailedTopics } from '@svc/core/budgets/index.ts';
import { eventTypes } from '@svc/core/webhooks/events.ts';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Sources that write facts: programs of core, and the functions of the database as they are after all migrations. */
const sources = [
  ...readdirSync(`${root}core`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.(?:test|fixture)\.ts$|^webhooks\/|\/testing\//.test(name))
    .map((name) => `core/${name}`),
  'core/db/schema.sql',
];
const texts = new Map(sources.map((path) => [path, readFileSync(root + path, 'utf8')]));

/** Names of events that `text` gives a fact: `topic: 'a.b' | 'a.c'`, or a text in an insert into an outbox. */
function written(path: string, text: string): string[] {
  const found = path.endsWith('.sql')
    ? [...text.matchAll(/insert into ledger\.outbox[^;]*;/g)].map(([statement]) => statement)
    : [...text.matchAll(/\btopic: (?:'[a-z_.]+'(?: \| )?)+/g)].map(([members]) => members);
  return found.flatMap((part) =>
    [...part.matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'/g)].map(([, name]) => name as string),
  );
}

const names = new Map([...texts].flatMap(([path, text]) => written(path, text).map((name) => [name, path])));

test('the sources that write facts are found', () => {
  expect(names.size).toBeGreaterThan(20);
  expect([...names.keys()]).toEqual(
    expect.arrayContaining(['topup.completed', 'credits.exhausted', 'key.created']),
  );
});

test('what is written to an outbox is an event of the catalog', () => {
  const unlisted = [...names].filter(([name]) => !Object.hasOwn(eventTypes, name));
  expect(unlisted).toEqual([]);
});

test('each event of the catalog stands in a source that can write it', () => {
  // The test event is made by its operation and passes no outbox.
  const events = Object.keys(eventTypes).filter((name) => name !== 'test.ping');
  const nowhere = events.filter((name) => ![...texts.values()].some((text) => text.includes(`'${name}'`)));
  expect(nowhere).toEqual([]);
});

test('what is mailed of facts is an event, too', () => {
  for (const topic of mailedTopics) expect(Object.keys(eventTypes)).toContain(topic);
});
