// The texts that come with a release: templates in docs/legal/<kind>/<version>.md, taken in when the database is migrated.
import { readdirSync, readFileSync } from 'node:fs';
import type { Context } from '../kernel/index.ts';
import { NOTICE_DAYS } from './publish.ts';
import { insertList, insertVersion, listLists, listVersions, lockPublishing } from './store.ts';
import { type DocumentKind, documentKinds, type LegalVersion } from './types.ts';

const FOLDER = new URL('../../docs/legal/', import.meta.url);
const DAY_MS = 86_400_000;
/** Who published what a release brought. */
const RELEASE = 'release';
const HEAD = /^---\n([\s\S]*?)\n---\n+([\s\S]*)$/;

type Shipped = Pick<
  LegalVersion,
  'kind' | 'version' | 'title' | 'summary' | 'requires_acceptance' | 'text' | 'effective_at'
>;

/** @throws Error when the file does not begin with what is known of its document. */
function readShipped(kind: DocumentKind, file: string): Shipped {
  const path = `${kind}/${file}`;
  const [, head = '', text = ''] = HEAD.exec(readFileSync(new URL(path, FOLDER), 'utf8')) ?? [];
  const facts = new Map(
    head
      .split('\n')
      .map((line) => [line.split(':', 1)[0] as string, line.slice(line.indexOf(':') + 1).trim()]),
  );
  const of = (name: string) => {
    const value = facts.get(name);
    if (value === undefined || value === '') throw new Error(`docs/legal/${path} does not say its ${name}`);
    return value;
  };
  return {
    ...{ kind, version: file.slice(0, -'.md'.length), title: of('title'), summary: of('summary'), text },
    requires_acceptance: of('requires_acceptance') === 'true',
    effective_at: new Date(of('effective_at')),
  };
}

/** The texts of this release, of each kind in the order in which they take effect. */
export function shippedTexts(): Shipped[] {
  return documentKinds.flatMap((kind) =>
    readdirSync(new URL(`${kind}/`, FOLDER))
      .filter((file) => file.endsWith('.md'))
      .map((file) => readShipped(kind, file))
      .sort((a, b) => a.effective_at.getTime() - b.effective_at.getTime()),
  );
}

/** A text of this release that is no document of its own. */
export function shippedText(name: 'breach-template'): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
}

/**
 * Takes in the texts that the database does not have, and returns what came. A kind that staff have published is theirs,
 * and templates leave it alone; a text that is known stays, whatever became of its file. A new version of a template that
 * holds takes effect after the notice that any change has.
 */
export function takeShipped(context: Context): Promise<string[]> {
  return context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    await lockPublishing(db);
    const known = await listVersions(db, null);
    const came: string[] = [];
    for (const text of shippedTexts()) {
      const before = known.filter(({ kind }) => kind === text.kind);
      if (before.some(({ published_by }) => published_by !== RELEASE)) continue;
      if (before.some(({ version }) => version === text.version)) continue;
      const soonest = at.getTime() + (before.length === 0 ? 0 : NOTICE_DAYS * DAY_MS);
      const effective_at =
        before.length === 0 ? text.effective_at : new Date(Math.max(text.effective_at.getTime(), soonest));
      const made: LegalVersion = {
        ...{ ...text, effective_at, published_at: at, published_by: RELEASE },
        // Nobody is told of the texts that a new installation begins with.
        announced_through: before.length === 0 ? null : '',
      };
      if (await insertVersion(db, made)) came.push(`${made.kind} ${made.version}`);
      known.push(made);
    }
    if ((await listLists(db)).length === 0) await insertFirstList(context);
    return came;
  });
}

/** Providers of the catalog are on every list by themselves; whoever runs this adds its other sub-processors. */
async function insertFirstList({ db, now }: Context): Promise<void> {
  const at = now();
  await insertList(db, {
    ...{ version: at.toISOString().slice(0, 10), entries: [], notice_days: NOTICE_DAYS },
    change: { added: [], removed: [], changed: [] },
    ...{ published_at: at, effective_at: at, published_by: RELEASE, announced_through: null },
  });
}
