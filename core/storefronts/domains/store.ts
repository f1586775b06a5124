// SQL of domains of storefronts: who claims one, who has proved it, and who had.
import type { Db, Id } from '../../kernel/index.ts';

export interface DomainRow {
  readonly domain: string;
  readonly token: string;
  readonly created_at: Date;
  /** Null until this reseller has proved it. */
  readonly verified_at: Date | null;
  readonly checked_at: Date | null;
  /** How often in a row the record was missing. */
  readonly misses: number;
}

interface At {
  readonly org_id: Id<'org'>;
  readonly domain: string;
}

const COLUMNS = `
  claim.domain, claim.token, claim.created_at, proof.verified_at, proof.checked_at,
  coalesce(proof.misses, 0) as misses`;
const CLAIMS = `
  storefront_domain as claim
    left join storefront_domain_proof as proof on proof.domain = claim.domain and proof.org_id = claim.org_id`;

/** The domains that a reseller claims, by name. */
export async function listDomains(db: Db, org_id: Id<'org'>): Promise<DomainRow[]> {
  const { rows } = await db.query<DomainRow>({
    name: 'storefronts.list_domains',
    text: `select ${COLUMNS} from ${CLAIMS} where claim.org_id = $1 order by claim.domain`,
    values: [org_id],
  });
  return rows;
}

/** One of them; null when the reseller does not claim it. */
export async function findDomain(db: Db, at: At): Promise<DomainRow | null> {
  const { rows } = await db.query<DomainRow>({
    name: 'storefronts.find_domain',
    text: `select ${COLUMNS} from ${CLAIMS} where claim.org_id = $1 and claim.domain = $2`,
    values: [at.org_id, at.domain],
  });
  return rows[0] ?? null;
}

/** Claims a domain; false when the reseller claims it already. */
export async function insertDomain(db: Db, claim: At & { token: string; at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.insert_domain',
    text: `
      insert into storefront_domain (org_id, domain, token, created_at) values ($1, $2, $3, $4)
      on conflict (org_id, domain) do nothing`,
    values: [claim.org_id, claim.domain, claim.token, claim.at],
  });
  return rowCount === 1;
}

/**
 * Waits for whoever proves or gives up `domain`, until the transaction ends. A proof looks for one that has just ended, and
 * a statement does not see what was committed while it waited for a key.
 */
export async function lockDomain(db: Db, domain: string): Promise<void> {
  await db.query({
    name: 'storefronts.lock_domain',
    text: `select pg_advisory_xact_lock(hashtextextended('storefront ' || $1, 0))`,
    values: [domain],
  });
}

/** Who keeps others from a domain: whoever has proved it, or had since `since`. */
export interface Holder {
  readonly org_id: Id<'org'>;
  /** Null: it is proved now. */
  readonly ended_at: Date | null;
}

/** Who but `org_id` keeps others from `domain`; null: nobody. */
export async function findHolder(db: Db, args: At & { since: Date }): Promise<Holder | null> {
  const { rows } = await db.query<Holder>({
    name: 'storefronts.find_holder',
    text: `
      select org_id, null::timestamptz as ended_at from storefront_domain_proof where domain = $1 and org_id <> $2
      union all
      (select org_id, ended_at from storefront_domain_past
        where domain = $1 and org_id <> $2 and was_proved and ended_at > $3 order by ended_at desc limit 1)
      limit 1`,
    values: [args.domain, args.org_id, args.since],
  });
  return rows[0] ?? null;
}

/** Notes that a reseller proved a domain; false when another has. The key is the lock. */
export async function proveDomain(db: Db, args: At & { at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.prove_domain',
    text: `
      insert into storefront_domain_proof as proof (domain, org_id, verified_at, checked_at) values ($1, $2, $3, $3)
      on conflict (domain) do update set checked_at = $3, misses = 0 where proof.org_id = $2`,
    values: [args.domain, args.org_id, args.at],
  });
  return rowCount === 1;
}

/** Remembers a claim that ends, and whether it was proved. */
export async function insertPast(
  db: Db,
  past: At & { token: string; was_proved: boolean; at: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.insert_past',
    text: `
      insert into storefront_domain_past as past (org_id, domain, token, was_proved, ended_at) values ($1, $2, $3, $4, $5)
      on conflict (org_id, domain, token) do update
         set was_proved = past.was_proved or excluded.was_proved, ended_at = excluded.ended_at`,
    values: [past.org_id, past.domain, past.token, past.was_proved, past.at],
  });
}

/** Tokens that a reseller had for a domain before. */
export async function listPastTokens(db: Db, at: At): Promise<string[]> {
  const { rows } = await db.query<{ token: string }>({
    name: 'storefronts.list_past_tokens',
    text: 'select token from storefront_domain_past where org_id = $1 and domain = $2',
    values: [at.org_id, at.domain],
  });
  return rows.map(({ token }) => token);
}

/** Ends the proof of a reseller and leaves the claim; false when there is none. */
export async function deleteProof(db: Db, at: At): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.delete_proof',
    text: 'delete from storefront_domain_proof where org_id = $1 and domain = $2',
    values: [at.org_id, at.domain],
  });
  return rowCount === 1;
}

/** Gives a claim up with its proof. */
export async function deleteDomain(db: Db, at: At): Promise<void> {
  await db.query({
    name: 'storefronts.delete_domain',
    text: 'delete from storefront_domain where org_id = $1 and domain = $2',
    values: [at.org_id, at.domain],
  });
}

export interface DueProof extends At {
  readonly token: string;
}

/** Proofs that were last looked at before `before`, oldest first. */
export async function listDueProofs(db: Db, before: Date, limit: number): Promise<DueProof[]> {
  const { rows } = await db.query<DueProof>({
    name: 'storefronts.list_due_proofs',
    text: `
      select proof.org_id, proof.domain, claim.token
        from storefront_domain_proof as proof
        join storefront_domain as claim on claim.org_id = proof.org_id and claim.domain = proof.domain
       where proof.checked_at < $1
       order by proof.checked_at, proof.domain limit $2`,
    values: [before, limit],
  });
  return rows;
}

/** Notes a look at a proof and returns how often in a row the record was missing; null when the proof is gone. */
export async function noteCheck(
  db: Db,
  args: At & { step: 0 | 1; reset: boolean; at: Date },
): Promise<number | null> {
  const { rows } = await db.query<{ misses: number }>({
    name: 'storefronts.note_domain_check',
    text: `
      update storefront_domain_proof set checked_at = $5, misses = case when $4 then 0 else misses + $3 end
       where org_id = $1 and domain = $2 returning misses`,
    values: [args.org_id, args.domain, args.step, args.reset, args.at],
  });
  return rows[0]?.misses ?? null;
}

/** Forgets claims that ended before `before`; returns how many. */
export async function purgePast(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'storefronts.purge_past',
    text: 'delete from storefront_domain_past where ended_at < $1',
    values: [before],
  });
  return rowCount;
}
