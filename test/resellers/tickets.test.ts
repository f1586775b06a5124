// Tickets of customers (docs/resellers/customers.md#tickets): their reseller reads and answers them, and nobody else's.
import { expect, test } from 'vitest';
import { startResellers } from './world.ts';

const world = await startResellers();
const { harness, ask, refused } = world;
const acme = await world.reseller('acme-helps');
const other = await world.reseller('other-helps');
const child = await world.child(acme, 'needs-help');
const stranger = await world.child(other, 'needs-other-help');
await harness.makePerson(child, 'owner');

interface Ticket {
  readonly id: string;
  readonly status: string;
  readonly resolution: string;
  readonly messages: readonly {
    readonly author: string;
    readonly author_name: string;
    readonly text: string;
  }[];
}
interface Shown {
  readonly ticket: Ticket;
  readonly org_slug: string;
}
const open = (key: string, subject = 'Where is my credit?') =>
  ask<Ticket>('POST', '/v1/tickets', key, { kind: 'other', subject, body: 'It is not there.' }, 201);
const list = async (query = '') =>
  (await ask<{ data: Shown[] }>('GET', `/v1/reseller/tickets${query}`, acme.token)).data;

test('a reseller answers and settles a ticket, and the customer knows it by its name', async () => {
  const { id } = await open(child.key);
  expect((await list()).map(({ ticket, org_slug }) => [ticket.id, org_slug])).toEqual([[id, child.org.slug]]);
  const said = await ask<Shown>(
    'POST',
    `/v1/reseller/tickets/${id}/reply`,
    acme.token,
    { text: 'Today.' },
    201,
  );
  expect(said.ticket.messages).toMatchObject([
    { author: 'reseller', author_name: acme.org.name, text: 'Today.' },
  ]);
  const seen = await ask<Ticket>('GET', `/v1/tickets/${id}`, child.key);
  expect(seen.messages).toMatchObject([{ author: 'reseller', author_name: acme.org.name }]);
  expect(JSON.stringify(seen)).not.toContain(acme.owner.email);
  const done = await ask<Shown>('POST', `/v1/reseller/tickets/${id}/resolve`, acme.token, {
    text: 'It is there.',
  });
  expect(done.ticket).toMatchObject({ status: 'resolved', resolution: 'It is there.' });
  expect(await list('?status=open')).toEqual([]);
  expect(await list('?status=resolved')).toHaveLength(1);
  const mails = await world.rows(`select template from mail where org_id = $1`, [child.org.id]);
  expect(mails).toContainEqual({ template: 'ticket_answered' });
});

test('without a last word nothing is written; what the service decides is not settled, nor what was closed', async () => {
  const { id } = await open(child.key, 'A question');
  const done = await ask<Shown>('POST', `/v1/reseller/tickets/${id}/resolve`, acme.token, {});
  expect(done.ticket).toMatchObject({ status: 'resolved', resolution: '', messages: [] });
  await world.rows(`update ticket set status = 'closed' where id = $1`, [id]);
  const reply = (text: string) => refused('POST', `/v1/reseller/tickets/${id}/reply`, acme.token, { text });
  expect(await reply('Hello?')).toEqual([409, 'state_conflict']);
  const limits = await open(child.key, 'More');
  await world.rows(`update ticket set kind = 'limit_increase' where id = $1`, [limits.id]);
  expect(await refused('POST', `/v1/reseller/tickets/${limits.id}/resolve`, acme.token, {})).toEqual([
    ...[409, 'state_conflict'],
  ]);
});

test("tickets of others, and the reseller's own, are not there", async () => {
  const theirs = await open(stranger.key);
  const own = await open(acme.key);
  for (const id of [theirs.id, own.id, 'tkt_1']) {
    for (const act of ['reply', 'resolve'])
      expect(await refused('POST', `/v1/reseller/tickets/${id}/${act}`, acme.token, { text: 'x' })).toEqual([
        ...[404, 'not_found'],
      ]);
  }
  const ids = (await list()).map(({ ticket }) => ticket.id);
  expect(ids).not.toContain(theirs.id);
  expect(ids).not.toContain(own.id);
});

test('what a reseller does stands in its own audit log, and not in that of the customer', async () => {
  const { id } = await open(child.key, 'Audited');
  await ask('POST', `/v1/reseller/tickets/${id}/reply`, acme.token, { text: 'Secret words' }, 201);
  const entries = await world.rows<{ org_id: string }>(
    `select org_id from audit_entry where action = 'reseller.tickets.reply' and target_id = $1`,
    [id],
  );
  expect(entries).toEqual([{ org_id: acme.org.id }]);
});
