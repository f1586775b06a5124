// SQL of legal documents, acceptances and lists of sub-processors.
import type { Db, Id } from '../kernel/index.ts';
import type { Acceptance, DocumentKind, LegalVersion, SubprocessorList } from './types.ts';

const VERSION = `kind, version, title, summary, requires_acceptance, text, effective_at, published_at, published_by,
  announced_through`;
const ACCEPTANCE = `legal_acceptance_id as id, org_id, user_id, user_email, key_id, kind, version, accepted_at, ip,
  method, signer_name, signer_title, text_sha256`;
const LIST =
  'version, entries, change, notice_days, published_at, effective_at, published_by, announced_through';

/** All versions of `kind`, or of all kinds, in the order in which they take effect. */
export async function listVersions(db: Db, kind: DocumentKind | null): Promise<LegalVersion[]> {
  const { rows } = await db.query<LegalVersion>({
    name: 'legal.list_versions',
    text: `select ${VERSION} from legal_version where $1::text is null or kind = $1 order by kind, effective_at`,
    values: [kind],
  });
  return rows;
}

/** Whoever publishes waits for whoever publishes already, until the transaction ends. */
export async function lockPublishing(db: Db): Promise<void> {
  await db.query({
    name: 'legal.lock_publishing',
    text: `select pg_advisory_xact_lock(hashtextextended('legal publishing', 0))`,
  });
}

/** Inserts a version; false when the kind has one of that name or of that time. */
export async function insertVersion(db: Db, made: LegalVersion): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'legal.insert_version',
    text: `
      insert into legal_version (${VERSION}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict do nothing`,
    values: [
      ...[made.kind, made.version, made.title, made.summary, made.requires_acceptance, made.text],
      ...[made.effective_at, made.published_at, made.published_by, made.announced_through],
    ],
  });
  return rowCount === 1;
}

/** Keeps a text that is accepted; one that is known stays as it is. */
export async function keepText(db: Db, text: { sha256: Buffer; text: string }): Promise<void> {
  await db.query({
    name: 'legal.keep_text',
    text: 'insert into legal_text (sha256, text) values ($1, $2) on conflict do nothing',
    values: [text.sha256, text.text],
  });
}

/** The text that was accepted, by its digest; null when there is none. */
export async function findText(db: Db, sha256: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ text: string }>({
    name: 'legal.find_text',
    text: 'select text from legal_text where sha256 = $1',
    values: [sha256],
  });
  return rows[0]?.text ?? null;
}

/** Inserts an acceptance; null when the organization has accepted this version before: of many at once one counts. */
export async function insertAcceptance(db: Db, made: Omit<Acceptance, 'id'>): Promise<Acceptance | null> {
  const { rows } = await db.query<Acceptance>({
    name: 'legal.insert_acceptance',
    text: `
      insert into legal_acceptance (org_id, user_id, user_email, key_id, kind, version, accepted_at, ip, method,
                                    signer_name, signer_title, text_sha256)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      on conflict on constraint legal_acceptance_once do nothing
      returning ${ACCEPTANCE}`,
    values: [
      ...[made.org_id, made.user_id, made.user_email, made.key_id, made.kind, made.version, made.accepted_at],
      ...[made.ip, made.method, made.signer_name, made.signer_title, made.text_sha256],
    ],
  });
  return rows[0] ?? null;
}

/** What the organization has accepted, newest first; each version once, so the list is short. */
export async function listAcceptances(db: Db, org_id: Id<'org'>): Promise<Acceptance[]> {
  const { rows } = await db.query<Acceptance>({
    name: 'legal.list_acceptances',
    text: `
      select ${ACCEPTANCE} from legal_acceptance where org_id = $1
       order by accepted_at desc, legal_acceptance_id desc`,
    values: [org_id],
  });
  return rows;
}

/** How many organizations that are open have accepted each version. */
export async function countAcceptances(
  db: Db,
): Promise<readonly { kind: DocumentKind; version: string; accepted: number }[]> {
  const { rows } = await db.query<{ kind: DocumentKind; version: string; accepted: number }>({
    name: 'legal.count_acceptances',
    text: `
      select kind, version, count(*)::int as accepted
        from legal_acceptance join org on org.id = legal_acceptance.org_id
       where org.status <> 'closed' group by kind, version`,
  });
  return rows;
}

/** All lists of sub-processors, in the order in which they take effect. */
export async function listLists(db: Db): Promise<SubprocessorList[]> {
  const { rows } = await db.query<SubprocessorList>({
    name: 'legal.list_lists',
    text: `select ${LIST} from subprocessor_list order by effective_at`,
  });
  return rows;
}

/** Inserts a list; false when there is one of that name or of that time. */
export async function insertList(db: Db, made: SubprocessorList): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'legal.insert_list',
    text: `insert into subprocessor_list (${LIST}) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    values: [
      ...[made.version, JSON.stringify(made.entries), JSON.stringify(made.change), made.notice_days],
      ...[made.published_at, made.effective_at, made.published_by, made.announced_through],
    ],
  });
  return rowCount === 1;
}

/** What was published last and not told to everybody yet. */
export interface Untold {
  readonly what: 'version' | 'list';
  /** Kind of the document; `subprocessors` for a list. */
  readonly kind: string;
  readonly version: string;
  readonly published_at: Date;
  readonly announced_through: string;
}

/** The oldest publication that people are still to be told of, held until the transaction ends; null: none. */
export async function lockUntold(db: Db): Promise<Untold | null> {
  const { rows } = await db.query<Untold>({
    name: 'legal.lock_untold_version',
    text: `
      select 'version' as what, kind, version, published_at, announced_through from legal_version
       where announced_through is not null order by published_at limit 1 for update`,
  });
  if (rows[0] !== undefined) return rows[0];
  const lists = await db.query<Untold>({
    name: 'legal.lock_untold_list',
    text: `
      select 'list' as what, 'subprocessors' as kind, version, published_at, announced_through from subprocessor_list
       where announced_through is not null order by published_at limit 1 for update`,
  });
  return lists.rows[0] ?? null;
}

/** The next organizations to be told: open, and made before the publication. */
export async function listToTell(
  db: Db,
  args: { after: string; before: Date; limit: number },
): Promise<readonly { id: Id<'org'>; name: string }[]> {
  const { rows } = await db.query<{ id: Id<'org'>; name: string }>({
    name: 'legal.list_to_tell',
    text: `
      select id, name from org where id > $1 and created_at <= $2 and status <> 'closed' order by id limit $3`,
    values: [args.after, args.before, args.limit],
  });
  return rows;
}

/** How far people have been told of a publication; `through` null: all have been. */
export async function setAnnounced(db: Db, of: Untold, through: string | null): Promise<void> {
  if (of.what === 'version') {
    await db.query({
      name: 'legal.set_announced_version',
      text: 'update legal_version set announced_through = $3 where kind = $1 and version = $2',
      values: [of.kind, of.version, through],
    });
    return;
  }
  await db.query({
    name: 'legal.set_announced_list',
    text: 'update subprocessor_list set announced_through = $2 where version = $1',
    values: [of.version, through],
  });
}

/** Lets every key be looked at anew: until when it may make calls has changed for all. */
export async function announceAll(db: Db): Promise<void> {
  await db.query({
    name: 'legal.announce_all',
    text: `
      with changed as (insert into grant_change (org_id) select id from org returning org_id)
      select pg_notify('svc_grant', org_id || ' ') from changed`,
  });
}
