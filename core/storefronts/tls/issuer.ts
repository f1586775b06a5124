// Gets and renews certificates of proved domains. One process works on a domain at a time: it holds a lease in the row, and every
// statement says so. A job; it runs in whatever process leads, and may run in two while the lead changes.
import {
  type Db,
  ecKey,
  type Log,
  newUlid,
  now,
  openColumn,
  type RootKeyRing,
  readServerCertificate,
  type ServerCertificate,
  sealColumn,
  secureUnit,
} from '../../kernel/index.ts';
import { AcmeClient, type AcmeSettings } from './acme.ts';
import { AcmeError } from './faults.ts';
import { finishOrder, type Issued } from './order.ts';
import { revokeOne } from './revoke.ts';
import { dropLapsed, leaseRevocations, noteOrphan, type Revocation } from './revoke-store.ts';
import { planRenewal, retryAt } from './schedule.ts';
import {
  beginAccount,
  beginCertificates,
  type CertificateCounts,
  type CertificateWork,
  countCertificates,
  findAccount,
  keepAccountUrl,
  keepCertificate,
  keepChallenge,
  keepOrderKey,
  keepOrderUrl,
  leaseCertificates,
  noteFailure,
  pauseAccount,
  postponeCertificate,
} from './store.ts';

/** Longer than an attempt may take. */
const LEASE_SECONDS = 180;
const AT_ONCE = 10;
const BEGUN_AT_ONCE = 200;
const ACCOUNT_PAUSE_MS_MAX = 60_000;
const DETAIL_MAX = 500;
const NO_ACCOUNT = 'urn:ietf:params:acme:error:accountDoesNotExist';

/** Whoever worked on a domain was too slow, or the domain was given up: nothing is written. */
class LeaseLost extends Error {}

function held(is_held: boolean): void {
  if (!is_held) throw new LeaseLost();
}

interface IssuerParts {
  readonly db: Db;
  readonly root_key: RootKeyRing;
  readonly log: Log;
  readonly settings: AcmeSettings;
}

/** What an installation does about certificates, by outcome, in this process. */
export type CertificateOutcome = 'issued' | 'failed' | 'revoked' | 'not_revoked';

export class CertificateIssuer {
  readonly outcomes = new Map<CertificateOutcome, number>([
    ['issued', 0],
    ['failed', 0],
    ['revoked', 0],
    ['not_revoked', 0],
  ]);
  readonly #parts: IssuerParts;
  /** Accounts by their directory, with their nonces, kept from turn to turn: that of the settings, and former ones that are to revoke. */
  readonly #clients = new Map<string, AcmeClient>();
  #is_closed = false;

  constructor(parts: IssuerParts) {
    this.#parts = parts;
  }

  /** Leaves what is under way to the next process. */
  async close(): Promise<void> {
    this.#is_closed = true;
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  count(warn_days: number): Promise<CertificateCounts> {
    return countCertificates(this.#parts.db, { at: now(), warn_days });
  }

  /** Works on what is due, some at a time; returns how many certificates were issued. */
  async run(): Promise<number> {
    const { db } = this.#parts;
    await beginCertificates(db, now(), BEGUN_AT_ONCE);
    if (await this.#isPaused()) return 0;
    const work = await leaseCertificates(db, {
      ...{ leased_by: newUlid(), lease_seconds: LEASE_SECONDS, at: now(), limit: AT_ONCE },
    });
    if (work.length === 0) return 0;
    const client = this.#account(this.#parts.settings.directory_url);
    const done = await Promise.all(work.map((one) => this.#attempt(one, client)));
    return done.filter(Boolean).length;
  }

  /**
   * Revokes certificates of domains that were given up, some at a time, each at the authority that issued it; returns how many are
   * revoked.
   */
  async revoke(): Promise<number> {
    const { db, settings } = this.#parts;
    await dropLapsed(db, now());
    const work = await leaseRevocations(db, {
      ...{ leased_by: newUlid(), lease_seconds: LEASE_SECONDS, at: now(), limit: AT_ONCE },
      directory_url: settings.directory_url,
    });
    const by_authority = Map.groupBy(work, (one) => one.directory_url ?? settings.directory_url);
    const done = await Promise.all(
      [...by_authority].flatMap(([directory_url, of]) => {
        const account = this.#account(directory_url);
        return of.map((one) => this.#revoke(one, { directory_url, account }));
      }),
    );
    return done.filter(Boolean).length;
  }

  async #revoke(
    work: Revocation,
    { directory_url, account }: { directory_url: string; account: Promise<AcmeClient> },
  ): Promise<boolean> {
    const { db, log } = this.#parts;
    const end = await revokeOne(db, work, { account, log, is_closed: () => this.#is_closed });
    if (end.kind === 'left') return false;
    if (end.kind === 'failed') await this.#heed(end.error, directory_url);
    if (end.kind !== 'failed') this.#note(end.kind);
    return end.kind === 'revoked';
  }

  async #isPaused(): Promise<boolean> {
    const { db, settings } = this.#parts;
    const account = await findAccount(db, settings.directory_url);
    return account?.paused_until != null && account.paused_until > now();
  }

  /** The account at a directory, made on first use; of processes that make it at once all have the one whose key is kept. */
  async #account(directory_url: string): Promise<AcmeClient> {
    const { db, root_key, settings } = this.#parts;
    const row = [directory_url];
    if ((await findAccount(db, directory_url)) === null) {
      const private_key = sealColumn(root_key, 'acme_account.private_key', row, Buffer.from(await ecKey()));
      await beginAccount(db, { directory_url, private_key, at: now() });
    }
    const account = await findAccount(db, directory_url);
    if (account === null) throw new Error('the account at the authority is gone');
    const pem = openColumn(root_key, 'acme_account.private_key', row, account.private_key).toString();
    // What binds an account is of the authority of the settings alone.
    const eab = directory_url === settings.directory_url ? settings.eab : null;
    const client =
      this.#clients.get(directory_url) ??
      new AcmeClient({ ...settings, directory_url, eab }, pem, account.account_url);
    this.#clients.set(directory_url, client);
    if (client.account_url === null)
      await keepAccountUrl(db, { directory_url, account_url: await client.register() });
    return client;
  }

  /** One attempt for one domain; true when a certificate was issued. */
  async #attempt(work: CertificateWork, account: Promise<AcmeClient>): Promise<boolean> {
    const { log } = this.#parts;
    try {
      const client = await account;
      const current = work.chain === null ? null : readServerCertificate(work.chain);
      const replaces = this.#isHere(work.directory_url) ? (current?.renewal_id ?? null) : null;
      if (current !== null && work.order_url === null && !(await this.#isDue(client, work, current)))
        return false;
      await this.#issue(client, work, replaces);
      this.#note('issued');
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      if (this.#is_closed) {
        await postponeCertificate(this.#parts.db, { ...work, next_at: now() });
        return false;
      }
      await this.#fail(work, error);
      this.#note('failed');
      log.warn({ domain: work.domain, error: (error as Error).message }, 'no certificate');
      return false;
    }
  }

  #note(outcome: CertificateOutcome): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** Whether a certificate in use has to be renewed; else the row says when to look again. */
  async #isDue(client: AcmeClient, work: CertificateWork, current: ServerCertificate): Promise<boolean> {
    const { db } = this.#parts;
    const id = this.#isHere(work.directory_url) ? current.renewal_id : null;
    // Without an answer the plan is that of an authority that does not say.
    const window = id === null ? null : await client.renewalWindow(id).catch(() => null);
    const { renew, next_at } = planRenewal(current, window, { now: now(), die: secureUnit() });
    if (!renew) await postponeCertificate(db, { ...work, next_at });
    return renew;
  }

  /** Whether `directory_url` is that of the settings, or none is known: what another authority gave means nothing to it. */
  #isHere(directory_url: string | null): boolean {
    return directory_url === null || directory_url === this.#parts.settings.directory_url;
  }

  async #issue(client: AcmeClient, work: CertificateWork, replaces: string | null): Promise<void> {
    const { db } = this.#parts;
    const { url, private_pem } =
      (await this.#resumed(client, work)) ?? (await this.#ordered(client, work, replaces));
    const issued = await finishOrder(
      {
        ...{ client, domain: work.domain, private_pem },
        keepChallenge: async (challenge) => held(await keepChallenge(db, { ...work, ...challenge })),
      },
      url,
    );
    await this.#keep(client, work, { ...issued, private_pem });
  }

  /** The order that an earlier attempt left here, with its key; null: there is none, or it can come to nothing. */
  async #resumed(client: AcmeClient, work: CertificateWork) {
    const { domain, order_url, order_key } = work;
    if (order_url === null || order_key === null || !this.#isHere(work.order_directory_url)) return null;
    const { status } = await client.orderAt(order_url);
    if (status === null || status === 'invalid') return null;
    const { root_key } = this.#parts;
    const private_pem = openColumn(
      root_key,
      'storefront_certificate.order_key',
      [domain],
      order_key,
    ).toString();
    return { url: order_url, private_pem };
  }

  /** A new order with a new key, which is kept before the authority hears of the order. */
  async #ordered(client: AcmeClient, work: CertificateWork, replaces: string | null) {
    const { db, root_key, settings } = this.#parts;
    const { directory_url } = settings;
    const private_pem = await ecKey();
    const plain = Buffer.from(private_pem);
    const order_key = sealColumn(root_key, 'storefront_certificate.order_key', [work.domain], plain);
    held(await keepOrderKey(db, { ...work, order_key, directory_url }));
    const url = await client.order(work.domain, replaces);
    held(await keepOrderUrl(db, { ...work, order_url: url }));
    return { url, private_pem };
  }

  async #keep(
    client: AcmeClient,
    work: CertificateWork,
    { chain, leaf, private_pem }: Issued & { private_pem: string },
  ): Promise<void> {
    const { db, root_key, settings } = this.#parts;
    const { directory_url } = settings;
    const { renewal_id: id, issuer, ...life } = leaf;
    const window = id === null ? null : await client.renewalWindow(id).catch(() => null);
    const plain = Buffer.from(private_pem);
    const is_kept = await keepCertificate(db, {
      ...{ domain: work.domain, leased_by: work.leased_by, chain },
      ...{ not_before: life.not_before, not_after: life.not_after },
      private_key: sealColumn(root_key, 'storefront_certificate.private_key', [work.domain], plain),
      ...{ issuer: issuer.slice(0, 300), directory_url },
      next_at: planRenewal(life, window, { now: now(), die: secureUnit() }).next_at,
    });
    const orphan = { domain: work.domain, chain, not_after: life.not_after, directory_url };
    if (!is_kept) await noteOrphan(db, { ...orphan, at: now() });
    held(is_kept);
  }

  async #fail({ domain, leased_by, failures }: CertificateWork, error: unknown): Promise<void> {
    const { db, log } = this.#parts;
    // What is no word of the authority is a defect or our own database; the row says so all the same.
    const said = error instanceof AcmeError ? error : new AcmeError('authority_away', 'We could not ask.');
    if (said !== error) log.error({ domain, error }, 'a certificate cannot be worked on');
    const at = now();
    await this.#heed(said, this.#parts.settings.directory_url);
    const { retry_after_ms } = said;
    await noteFailure(db, {
      ...{ domain, leased_by, fault: said.fault, detail: said.message.slice(0, DETAIL_MAX), at },
      next_at: retryAt(failures + 1, { now: at, retry_after_ms, die: secureUnit() }),
      order_is_over: said.fault !== 'authority_away',
    });
  }

  /** What the authority said of the account holds for whatever is asked next. */
  async #heed({ type, fault, retry_after_ms }: AcmeError, directory_url: string): Promise<void> {
    const { db } = this.#parts;
    if (type === NO_ACCOUNT) {
      await keepAccountUrl(db, { directory_url, account_url: null });
      const client = this.#clients.get(directory_url);
      if (client !== undefined) client.account_url = null;
    }
    // The limit may be of one name: the others wait a minute and no longer.
    if (fault !== 'rate_limited') return;
    const pause_ms = Math.min(retry_after_ms ?? ACCOUNT_PAUSE_MS_MAX, ACCOUNT_PAUSE_MS_MAX);
    await pauseAccount(db, { directory_url, until: new Date(now().getTime() + pause_ms) });
  }
}
