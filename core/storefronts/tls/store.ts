// SQL of certificates of storefronts, and of the account at the authority. Leases between processes go by the database's clock.
import type { Db, Id } from '../../kernel/index.ts';
import type { CertificateFault } from './faults.ts';

/** Every statement of a worker says whose lease it acts under: whoever lost it writes nothing. */
interface Leased {
  readonly domain: string;
  readonly leased_by: string;
}

/** What a worker finds of a domain. */
export interface CertificateWork extends Leased {
  readonly org_id: Id<'org'>;
  readonly chain: string | null;
  readonly order_url: string | null;
  readonly order_key: Buffer | null;
  /** Of the authorities that issued the chain and have the order; null: none, or an older program that said none. */
  readonly directory_url: string | null;
  readonly order_directory_url: string | null;
  readonly failures: number;
}

/**
 * Makes the rows of domains that were proved and have none, at most `limit`; returns how many. The limits of an authority are
 * one for all resellers: a domain that was just given up waits an hour, and a reseller that gave up twenty in a day waits a day.
 */
export async function beginCertificates(db: Db, at: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'storefronts.begin_certificates',
    text: `
      insert into storefront_certificate (domain, org_id, next_at, created_at)
      select proof.domain, proof.org_id,
             case when (select count(*) from storefront_domain_past as past
                         where past.org_id = proof.org_id and was_proved and ended_at > $1::timestamptz - interval '1 day') >= 20
                  then $1::timestamptz + interval '1 day'
                  else greatest($1::timestamptz, (select max(ended_at) + interval '1 hour' from storefront_domain_past as past
                                      where past.domain = proof.domain and was_proved))
             end,
             $1
        from storefront_domain_proof as proof
       where not exists (select 1 from storefront_certificate as had where had.domain = proof.domain)
       order by proof.verified_at, proof.domain limit $2
      on conflict (domain) do nothing`,
    values: [at, limit],
  });
  return rowCount;
}

/** Takes at most `limit` that are due and nobody works on: renewals first, then who has waited longest. */
export async function leaseCertificates(
  db: Db,
  args: { leased_by: string; lease_seconds: number; at: Date; limit: number },
): Promise<CertificateWork[]> {
  const { rows } = await db.query<CertificateWork>({
    name: 'storefronts.lease_certificates',
    text: `
      update storefront_certificate as taken
         set leased_by = $1, leased_until = clock_timestamp() + make_interval(secs => $2)
       where domain in (
         select domain from storefront_certificate
          where next_at <= $3 and (leased_until is null or leased_until < clock_timestamp())
          order by (chain is null), next_at limit $4
          for update skip locked)
      returning domain, org_id, leased_by, chain, order_url, order_key, directory_url, order_directory_url, failures`,
    values: [args.leased_by, args.lease_seconds, args.at, args.limit],
  });
  return rows;
}

/** Keeps the key of an order that is about to be made, and forgets the order before; false when the lease is lost. */
export async function keepOrderKey(
  db: Db,
  args: Leased & { order_key: Buffer; directory_url: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.keep_order_key',
    text: `
      update storefront_certificate set order_key = $3, order_directory_url = $4, order_url = null,
             challenge_token = null, challenge_answer = null
       where domain = $1 and leased_by = $2`,
    values: [args.domain, args.leased_by, args.order_key, args.directory_url],
  });
  return rowCount === 1;
}

/** Notes where the order is; false when the lease is lost. */
export async function keepOrderUrl(db: Db, args: Leased & { order_url: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.keep_order_url',
    text: 'update storefront_certificate set order_url = $3 where domain = $1 and leased_by = $2',
    values: [args.domain, args.leased_by, args.order_url],
  });
  return rowCount === 1;
}

/** What every gateway answers the authority from now on; false when the lease is lost. */
export async function keepChallenge(
  db: Db,
  args: Leased & { token: string; answer: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.keep_challenge',
    text: `
      update storefront_certificate set challenge_token = $3, challenge_answer = $4
       where domain = $1 and leased_by = $2`,
    values: [args.domain, args.leased_by, args.token, args.answer],
  });
  return rowCount === 1;
}

/** The answer to a challenge at a host; null: nobody asked for one there. */
export async function findChallenge(db: Db, at: { domain: string; token: string }): Promise<string | null> {
  const { rows } = await db.query<{ challenge_answer: string }>({
    name: 'storefronts.find_challenge',
    text: `select challenge_answer from storefront_certificate where domain = $1 and challenge_token = $2`,
    values: [at.domain, at.token],
  });
  return rows[0]?.challenge_answer ?? null;
}

/** Puts a certificate into use and ends the lease; false when the lease is lost. */
export async function keepCertificate(
  db: Db,
  args: Leased & {
    readonly chain: string;
    readonly private_key: Buffer;
    readonly issuer: string;
    readonly directory_url: string;
    readonly not_before: Date;
    readonly not_after: Date;
    readonly next_at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'storefronts.keep_certificate',
    text: `
      update storefront_certificate
         set chain = $3, private_key = $4, issuer = $5, not_before = $6, not_after = $7, next_at = $8, directory_url = $9,
             order_url = null, order_key = null, order_directory_url = null, challenge_token = null, challenge_answer = null,
             leased_by = null, leased_until = null, failures = 0, fault = null, fault_detail = null, failed_at = null
       where domain = $1 and leased_by = $2`,
    values: [
      ...[args.domain, args.leased_by, args.chain, args.private_key, args.issuer],
      ...[args.not_before, args.not_after, args.next_at, args.directory_url],
    ],
  });
  return rowCount === 1;
}

/** Ends a lease without a new certificate, and says when to look again. */
export async function postponeCertificate(db: Db, args: Leased & { next_at: Date }): Promise<void> {
  await db.query({
    name: 'storefronts.postpone_certificate',
    text: `
      update storefront_certificate set next_at = $3, leased_by = null, leased_until = null
       where domain = $1 and leased_by = $2`,
    values: [args.domain, args.leased_by, args.next_at],
  });
}

/** Notes a failed attempt and ends the lease. An order that cannot come to anything any more is forgotten with its key. */
export async function noteFailure(
  db: Db,
  args: Leased & {
    readonly fault: CertificateFault;
    readonly detail: string;
    readonly at: Date;
    readonly next_at: Date;
    readonly order_is_over: boolean;
  },
): Promise<void> {
  await db.query({
    name: 'storefronts.note_certificate_failure',
    text: `
      update storefront_certificate
         set failures = failures + 1, fault = $3, fault_detail = $4, failed_at = $5, next_at = $6,
             order_url = case when $7 then null else order_url end,
             order_key = case when $7 then null else order_key end,
             challenge_token = null, challenge_answer = null, leased_by = null, leased_until = null
       where domain = $1 and leased_by = $2`,
    values: [
      ...[args.domain, args.leased_by, args.fault, args.detail, args.at, args.next_at],
      args.order_is_over,
    ],
  });
}

/** Lets a domain whose records were just looked at be tried again, where the last attempt is older than `before`. */
export async function hastenCertificate(
  db: Db,
  args: { org_id: Id<'org'>; domain: string; at: Date; before: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.hasten_certificate',
    text: `
      update storefront_certificate set next_at = least(next_at, $3)
       where org_id = $1 and domain = $2 and failed_at < $4`,
    values: [args.org_id, args.domain, args.at, args.before],
  });
}

/** A certificate as it is served. */
interface ServedCertificate {
  readonly chain: string;
  readonly private_key: Buffer;
}

/** What is served at `domain`; null: nothing yet. */
export async function findServed(db: Db, domain: string): Promise<ServedCertificate | null> {
  const { rows } = await db.query<ServedCertificate>({
    name: 'storefronts.find_served_certificate',
    text: `select chain, private_key from storefront_certificate where domain = $1 and chain is not null`,
    values: [domain],
  });
  return rows[0] ?? null;
}

/** What people see of a certificate. */
export interface CertificateRow {
  readonly domain: string;
  readonly issuer: string | null;
  readonly not_before: Date | null;
  readonly not_after: Date | null;
  readonly has_order: boolean;
  readonly next_at: Date;
  readonly fault: CertificateFault | null;
  readonly fault_detail: string | null;
  readonly failed_at: Date | null;
}

/** Those of the domains of a reseller. */
export async function listCertificates(db: Db, org_id: Id<'org'>): Promise<CertificateRow[]> {
  const { rows } = await db.query<CertificateRow>({
    name: 'storefronts.list_certificates',
    text: `
      select domain, issuer, not_before, not_after, order_key is not null as has_order, next_at,
             fault, fault_detail, failed_at
        from storefront_certificate where org_id = $1`,
    values: [org_id],
  });
  return rows;
}

/** What is counted of all certificates. */
export interface CertificateCounts {
  readonly valid: number;
  /** Without one, and nothing failed yet. */
  readonly waiting: number;
  readonly failing: number;
  /** Valid, and within the last days or the last sixth of its life, whichever is shorter; or lapsed. */
  readonly expiring: number;
}

/** How many there are of each state. */
export async function countCertificates(
  db: Db,
  { at, warn_days }: { at: Date; warn_days: number },
): Promise<CertificateCounts> {
  const { rows } = await db.query<CertificateCounts>({
    name: 'storefronts.count_certificates',
    text: `
      select count(*) filter (where not_after > $1)::int as valid,
             count(*) filter (where chain is null and fault is null)::int as waiting,
             count(*) filter (where fault is not null)::int as failing,
             count(*) filter (where not_after - $1::timestamptz < least(make_interval(days => $2), (not_after - not_before) / 6))::int
               as expiring
        from storefront_certificate`,
    values: [at, warn_days],
  });
  return rows[0] as CertificateCounts;
}

interface AccountRow {
  readonly account_url: string | null;
  readonly private_key: Buffer;
  readonly paused_until: Date | null;
}

/** Keeps an account with its sealed key, unless there is one. */
export async function beginAccount(
  db: Db,
  args: { directory_url: string; private_key: Buffer; at: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.begin_acme_account',
    text: `
      insert into acme_account (directory_url, private_key, created_at) values ($1, $2, $3)
      on conflict (directory_url) do nothing`,
    values: [args.directory_url, args.private_key, args.at],
  });
}

/** The account at a directory; null: none was begun. */
export async function findAccount(db: Db, directory_url: string): Promise<AccountRow | null> {
  const { rows } = await db.query<AccountRow>({
    name: 'storefronts.find_acme_account',
    text: 'select account_url, private_key, paused_until from acme_account where directory_url = $1',
    values: [directory_url],
  });
  return rows[0] ?? null;
}

/** Notes where the account is; null: the authority does not know it any more. */
export async function keepAccountUrl(
  db: Db,
  args: { directory_url: string; account_url: string | null },
): Promise<void> {
  await db.query({
    name: 'storefronts.keep_acme_account_url',
    text: 'update acme_account set account_url = $2 where directory_url = $1',
    values: [args.directory_url, args.account_url],
  });
}

/** No new work before `until`, in any process. */
export async function pauseAccount(db: Db, args: { directory_url: string; until: Date }): Promise<void> {
  await db.query({
    name: 'storefronts.pause_acme_account',
    text: 'update acme_account set paused_until = greatest(paused_until, $2) where directory_url = $1',
    values: [args.directory_url, args.until],
  });
}
