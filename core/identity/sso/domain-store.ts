// SQL of mail domains: who claims one, and who has proved it.
import type { Db, Id } from '../../kernel/index.ts';

export interface DomainRow {
  readonly domain: string;
  readonly token: string;
  readonly created_at: Date;
  /** Null until this organization has proved it. */
  readonly verified_at: Date | null;
  readonly checked_at: Date | null;
  readonly misses: number;
}

const COLUMNS = `
  claim.domain, claim.token, claim.created_at, proof.verified_at, proof.checked_at,
  coalesce(proof.misses, 0) as misses`;
const CLAIMS = `
  sso_domain as claim
    left join sso_domain_proof as proof on proof.domain = claim.domain and proof.org_id = claim.org_id`;

/** The domains that an organization claims, by name. */
export async function listDomains(db: Db, org_id: Id<'org'>): Promise<DomainRow[]> {
  const { rows } = await db.query<DomainRow>({
    name: 'identity.list_sso_domains',
    text: `select ${COLUMNS} from ${CLAIMS} where claim.org_id = $1 order by claim.domain`,
    values: [org_id],
  });
  return rows;
}

/** One of them; null when the organization does not claim it. */
export async function findDomain(
  db: Db,
  args: { org_id: Id<'org'>; domain: string },
): Promise<DomainRow | null> {
  const { rows } = await db.query<DomainRow>({
    name: 'identity.find_sso_domain',
    text: `select ${COLUMNS} from ${CLAIMS} where claim.org_id = $1 and claim.domain = $2`,
    values: [args.org_id, args.domain],
  });
  return rows[0] ?? null;
}

/** The organization that has proved `domain`; null when none has. */
export async function findDomainOwner(db: Db, domain: string): Promise<Id<'org'> | null> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'identity.find_sso_domain_owner',
    text: 'select org_id from sso_domain_proof where domain = $1',
    values: [domain],
  });
  return rows[0]?.org_id ?? null;
}

/** Claims a domain; false when the organization claims it already. */
export async function insertDomain(
  db: Db,
  claim: { org_id: Id<'org'>; domain: string; token: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.insert_sso_domain',
    text: `
      insert into sso_domain (org_id, domain, token, created_at) values ($1, $2, $3, $4)
      on conflict (org_id, domain) do nothing`,
    values: [claim.org_id, claim.domain, claim.token, claim.at],
  });
  return rowCount === 1;
}

/** Gives a claim up with its proof; false when there is none. */
export async function deleteDomain(db: Db, args: { org_id: Id<'org'>; domain: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.delete_sso_domain',
    text: 'delete from sso_domain where org_id = $1 and domain = $2',
    values: [args.org_id, args.domain],
  });
  return rowCount === 1;
}

/**
 * Notes that an organization proved a domain; false when another has. The key is the lock: of two organizations at once
 * one gets the row.
 */
export async function proveDomain(
  db: Db,
  args: { org_id: Id<'org'>; domain: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.prove_sso_domain',
    text: `
      insert into sso_domain_proof as proof (domain, org_id, verified_at, checked_at) values ($1, $2, $3, $3)
      on conflict (domain) do update set checked_at = $3, misses = 0 where proof.org_id = $2`,
    values: [args.domain, args.org_id, args.at],
  });
  return rowCount === 1;
}

export interface DueProof {
  readonly org_id: Id<'org'>;
  readonly domain: string;
  readonly token: string;
}

/** Proofs that were last looked at before `before`, oldest first. */
export async function listDueProofs(db: Db, before: Date, limit: number): Promise<DueProof[]> {
  const { rows } = await db.query<DueProof>({
    name: 'identity.list_due_sso_proofs',
    text: `
      select proof.org_id, proof.domain, claim.token
        from sso_domain_proof as proof
        join sso_domain as claim on claim.org_id = proof.org_id and claim.domain = proof.domain
       where proof.checked_at < $1
       order by proof.checked_at, proof.domain limit $2`,
    values: [before, limit],
  });
  return rows;
}

/** Notes a look at a proof, adds `step` to its misses, and returns them; null when the proof is gone. */
export async function noteCheck(
  db: Db,
  args: { org_id: Id<'org'>; domain: string; step: 0 | 1; reset: boolean; at: Date },
): Promise<number | null> {
  const { rows } = await db.query<{ misses: number }>({
    name: 'identity.note_sso_domain_check',
    text: `
      update sso_domain_proof set checked_at = $5, misses = case when $4 then 0 else misses + $3 end
       where org_id = $1 and domain = $2 returning misses`,
    values: [args.org_id, args.domain, args.step, args.reset, args.at],
  });
  return rows[0]?.misses ?? null;
}
