// SQL of certificates that are to be revoked. A trigger notes them where the row of a certificate is deleted (migration 0100).
import type { Db } from '../../kernel/index.ts';

/** A certificate to be revoked, under the lease of who works on it. */
export interface Revocation {
  readonly revocation_no: number;
  readonly domain: string;
  readonly chain: string;
  /** Of the authority that issued it; null: an older program did, and said none. */
  readonly directory_url: string | null;
  readonly failures: number;
  readonly leased_by: string;
}

/**
 * Notes a certificate that was issued for a domain that had been given up meanwhile; due at once. Nothing where the domain has a
 * certificate or waits for one again: whoever works on it may have been given the same.
 */
export async function noteOrphan(
  db: Db,
  orphan: { domain: string; chain: string; not_after: Date; directory_url: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.note_orphan_certificate',
    text: `
      insert into certificate_revocation (domain, chain, not_after, next_at, directory_url)
      select $1, $2, $3, $4, $5 where not exists (select from storefront_certificate where domain = $1)`,
    values: [orphan.domain, orphan.chain, orphan.not_after, orphan.at, orphan.directory_url],
  });
}

/** Forgets certificates that have lapsed by `at`: nobody accepts them any more. */
export async function dropLapsed(db: Db, at: Date): Promise<void> {
  await db.query({
    name: 'storefronts.drop_lapsed_revocations',
    text: 'delete from certificate_revocation where not_after <= $1',
    values: [at],
  });
}

/**
 * Takes at most `limit` that are due and nobody works on, of authorities that are not paused; those that name none are of `directory_url`.
 */
export async function leaseRevocations(
  db: Db,
  args: { leased_by: string; lease_seconds: number; at: Date; limit: number; directory_url: string },
): Promise<Revocation[]> {
  const { rows } = await db.query<Revocation>({
    name: 'storefronts.lease_revocations',
    text: `
      update certificate_revocation
         set leased_by = $1, leased_until = clock_timestamp() + make_interval(secs => $2)
       where revocation_no in (
         select revocation_no from certificate_revocation as found
          where next_at <= $3 and (leased_until is null or leased_until < clock_timestamp())
            and not exists (select from acme_account
                             where acme_account.directory_url = coalesce(found.directory_url, $5) and paused_until > $3)
          order by next_at, revocation_no limit $4
          for update skip locked)
      returning revocation_no, domain, chain, directory_url, failures, leased_by`,
    values: [args.leased_by, args.lease_seconds, args.at, args.limit, args.directory_url],
  });
  return rows;
}

type Held = Pick<Revocation, 'revocation_no' | 'leased_by'>;

/** Forgets one that has come to its end. */
export async function endRevocation(db: Db, { revocation_no, leased_by }: Held): Promise<void> {
  await db.query({
    name: 'storefronts.end_revocation',
    text: 'delete from certificate_revocation where revocation_no = $1 and leased_by = $2',
    values: [revocation_no, leased_by],
  });
}

/** Ends the lease and says when to ask again; `step` 0 where nothing failed. */
export async function postponeRevocation(
  db: Db,
  { revocation_no, leased_by, ...args }: Held & { step: 0 | 1; next_at: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.postpone_revocation',
    text: `
      update certificate_revocation
         set failures = failures + $3, next_at = $4, leased_by = null, leased_until = null
       where revocation_no = $1 and leased_by = $2`,
    values: [revocation_no, leased_by, args.step, args.next_at],
  });
}
