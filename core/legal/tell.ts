// Telling customers of what was published: an event and a mail to owners and admins, a hundred organizations in each
// transaction, so that whoever is interrupted goes on where it stopped and tells nobody twice.
import { findMailboxes } from '../identity/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { sendMail } from '../mail/index.ts';
import { documentUrl, subprocessorsUrl } from './address.ts';
import { listLists, listToTell, listVersions, lockUntold, setAnnounced, type Untold } from './store.ts';
import type { DocumentKind, Subprocessor, SubprocessorList } from './types.ts';

const BATCH = 100;
/** Of more additions at once the mail about the list tells alone, which names them all. */
const OWN_MAILS_MAX = 5;

/** What is said of a publication. */
interface News {
  readonly title: string;
  readonly summary: string;
  readonly effective_at: Date;
  readonly requires_acceptance: boolean;
  readonly url: string;
  /** Sub-processors that are told of in a mail each. */
  readonly added: readonly Subprocessor[];
  /** Whether the mail about the document or list itself is sent. */
  readonly is_mailed: boolean;
}

/** What is told of a list: each addition by itself, and the list where it changes otherwise. One without notice is a beginning. */
function newsOfList({
  entries,
  change,
  published_at,
  effective_at,
}: SubprocessorList): Pick<News, 'added' | 'is_mailed'> {
  const { added, changed, removed } = change;
  const is_own = published_at < effective_at && added.length > 0 && added.length <= OWN_MAILS_MAX;
  if (!is_own) return { added: [], is_mailed: true };
  return {
    added: entries.filter(({ id }) => added.includes(id)),
    is_mailed: changed.length + removed.length > 0,
  };
}

function listSummary({ entries, change }: SubprocessorList): string {
  const name = (id: string) => entries.find((one) => one.id === id)?.name ?? id;
  const part = (word: string, ids: readonly string[]) =>
    ids.length === 0 ? [] : [`${word}: ${ids.map(name).join(', ')}.`];
  const parts = [
    ...part('Added', change.added),
    ...part('Changed', change.changed),
    ...part('Removed', change.removed),
  ];
  return `${parts.join(' ') || 'Nothing changes.'} You may object before that date by a ticket.`.slice(
    0,
    500,
  );
}

async function newsOf(context: Context, untold: Untold): Promise<News> {
  if (untold.what === 'list') {
    const made = (await listLists(context.db)).find(({ version }) => version === untold.version);
    if (made === undefined) throw new Error(`there is no list ${untold.version}`);
    return {
      ...{ title: 'Sub-processors', summary: listSummary(made), effective_at: made.effective_at },
      ...{ requires_acceptance: false, url: subprocessorsUrl(context), ...newsOfList(made) },
    };
  }
  const versions = await listVersions(context.db, untold.kind as DocumentKind);
  const made = versions.find(({ version }) => version === untold.version);
  if (made === undefined) throw new Error(`there is no version ${untold.kind} ${untold.version}`);
  const { title, summary, effective_at, requires_acceptance } = made;
  const url = documentUrl(context, made);
  return { title, summary, effective_at, requires_acceptance, url, added: [], is_mailed: true };
}

async function tellOne(
  context: Context,
  args: { org: { id: Id<'org'>; name: string }; untold: Untold; news: News },
): Promise<void> {
  const { org, untold, news } = args;
  const { kind, version } = untold;
  const { title, summary, url, requires_acceptance } = news;
  const effective_at = news.effective_at.toISOString();
  const payload = { kind, version, effective_at, requires_acceptance };
  await writeEvent(context.db, { org_id: org.id, topic: 'legal.update', payload, at: context.now() });
  const to = await findMailboxes(context.db, { org_id: org.id, roles: ['owner', 'admin'] });
  const reference = `${kind}-${version.replaceAll('.', '_')}-${org.id}`;
  for (const { id, name, purpose, location: country } of news.added)
    await sendMail(context, {
      ...{ template: 'subprocessor_added', to, org_id: org.id, reference: `${reference}-${id}` },
      data: { org: org.name, name, purpose, country, effective_at },
    });
  if (!news.is_mailed) return;
  await sendMail(context, {
    ...{ template: 'legal_update', to, org_id: org.id, reference },
    data: { org: org.name, document: title, version, effective_at, requires_acceptance, url, summary },
  });
}

/** Tells the next organizations of what was published, and returns how many they were. */
export async function tellOfLegal(context: Context): Promise<number> {
  let announced = 0;
  for (;;) {
    const count = await context.transaction(async (context) => {
      const untold = await lockUntold(context.db);
      if (untold === null) return null;
      const news = await newsOf(context, untold);
      const before = untold.published_at;
      const orgs = await listToTell(context.db, { after: untold.announced_through, before, limit: BATCH });
      for (const org of orgs) await tellOne(context, { org, untold, news });
      const last = orgs.length < BATCH ? null : (orgs.at(-1)?.id ?? null);
      await setAnnounced(context.db, untold, last);
      return orgs.length;
    });
    if (count === null) return announced;
    announced += count;
  }
}
