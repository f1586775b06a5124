// Many pending top-ups and mandates at once: copies of one of each that the product made, as the rails and the database have
// them, with ages over most of a day.
import type { Id } from '@svc/core/kernel/index.ts';
import { newId, nowMs } from '@svc/core/kernel/index.ts';
import { createMandate } from '@svc/core/mandates/index.ts';
import type { WorkflowWorld } from '../workflows/world.ts';

const BATCH = 2_000;
/** None is so old that it expires soon. */
const AGE_MS_MAX = 20 * 3_600_000;

interface Copy {
  readonly id: string;
  /** Its own, because an organization has one pending mandate. */
  readonly org_id: string;
  readonly ref: string;
  readonly at: string;
}

/** One table's way: a row is copied with another id, another reference at the rail and other times. */
interface Kind {
  readonly table: 'topup' | 'mandate';
  readonly ref: 'gateway_ref' | 'setup_ref';
  readonly type: 'topUp' | 'mandate';
  readonly prefix: string;
  readonly arg: string;
}

const TOPUP: Kind = {
  ...{ table: 'topup', ref: 'gateway_ref', type: 'topUp', prefix: 'topup-', arg: 'topup_id' },
};
const MANDATE: Kind = {
  ...{ table: 'mandate', ref: 'setup_ref', type: 'mandate', prefix: 'mandate-', arg: 'mandate_id' },
};

/** Organizations like `of`, with books of their own. */
async function copyOrgs(world: WorkflowWorld, of: string, copies: readonly Copy[]): Promise<void> {
  await world.rows(
    `insert into org
     select (jsonb_populate_record(o, jsonb_build_object('id', c.id, 'slug', lower(replace(c.id, '_', '-')),
               'live_book_id', nextval('book_no'), 'sandbox_book_id', nextval('book_no')))).*
       from org o, unnest($2::text[]) c (id) where o.id = $1`,
    [of, copies.map(({ org_id }) => org_id)],
  );
}

/** Copies the row `of` with its workflow's start, `copies` times. */
async function copyRows(
  world: WorkflowWorld,
  kind: Kind,
  of: string,
  copies: readonly Copy[],
): Promise<void> {
  const { table, ref, type, prefix, arg } = kind;
  const ids = copies.map(({ id }) => id);
  const times = copies.map(({ at }) => at);
  const orgs = copies.map(({ org_id }) => org_id);
  await world.rows(
    `insert into ${table}
     select (jsonb_populate_record(t, jsonb_build_object('id', c.id, 'org_id', c.org_id, '${ref}', c.ref, 'created_at', c.at,
               'updated_at', c.at, 'expires_at', c.at + (t.expires_at - t.created_at)))).*
       from ${table} t, unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[]) c (id, ref, at, org_id) where t.id = $1`,
    [of, ids, copies.map((copy) => copy.ref), times, orgs],
  );
  await world.rows(
    `insert into workflow_start (workflow_id, type, args, created_at)
     select $1 || c.id, $2, jsonb_build_object($3::text, c.id, 'for_org', c.org_id), c.at
       from unnest($4::text[], $5::timestamptz[], $6::text[]) c (id, at, org_id)`,
    [prefix, type, arg, ids, times, orgs],
  );
}

/** Copies of rows with these ids, the first of which is number `count_before`. */
function copiesOf(ids: readonly string[], count_before: number, org_id?: Id<'org'>): Copy[] {
  return ids.map((id, i) => ({
    ...{ id, org_id: org_id ?? newId('org'), ref: `cs_test_${id}` },
    at: new Date(nowMs() - Math.floor(((count_before + i) * 104_729_000) % AGE_MS_MAX)).toISOString(),
  }));
}

/** `topups` pending top-ups and `mandates` pending mandates; their ids. */
export async function seedPending(
  world: WorkflowWorld,
  { topups, mandates }: { topups: number; mandates: number },
): Promise<{ topups: Id<'topup'>[]; mandates: Id<'mandate'>[] }> {
  const org = await world.org('many');
  const { sessions, mandates: kept } = world.sim.store;
  const topup = await world.topup(org);
  const session = sessions.get(topup.gateway_ref as string);
  const { mandate } = await createMandate(world.context, { org_id: org.id, method: 'card' });
  const setup = kept.sessions.get(mandate.setup_ref as string);
  if (session === undefined || setup === undefined) throw new Error('the rail does not know its sessions');
  const made = {
    topups: Array.from({ length: topups }, () => newId('topup')),
    mandates: Array.from({ length: mandates }, () => newId('mandate')),
  };
  for (let from = 0; from < Math.max(topups, mandates); from += BATCH) {
    const tops = copiesOf(made.topups.slice(from, from + BATCH), from, org.id);
    for (const { id, ref } of tops)
      sessions.set(ref, { ...session, id: ref, client_reference_id: id, metadata: { topup_id: id } });
    await copyRows(world, TOPUP, topup.id, tops);
    const mands = copiesOf(made.mandates.slice(from, from + BATCH), from);
    for (const { id, ref } of mands)
      kept.sessions.set(ref, { ...setup, id: ref, metadata: { ...setup.metadata, mandate_id: id } });
    await copyOrgs(world, org.id, mands);
    await copyRows(world, MANDATE, mandate.id, mands);
  }
  return made;
}
