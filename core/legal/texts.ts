// Texts as an organization reads them: a version with its placeholders filled, and the texts that are made from tables.

import type { Context } from '../kernel/index.ts';
import { type Db, type Id, notFound, sha256 } from '../kernel/index.ts';
import { findBilling } from '../orgs/index.ts';
import { versionInForce } from './documents.ts';
import { fill, orgName, type Values } from './fill.ts';
import { measures } from './processing.ts';
import { readPlatform } from './setting.ts';
import { shippedText } from './shipped.ts';
import { listVersions } from './store.ts';
import { catalogEntries, readLists, withCatalog } from './subprocessors.ts';
import type { DocumentKind, LegalVersion, Subprocessor } from './types.ts';

/** Who processes data now, the providers of the catalog among them. */
export async function currentSubprocessors(context: Context): Promise<Subprocessor[]> {
  const { current } = await readLists(context);
  return withCatalog(current?.entries ?? [], catalogEntries(context));
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** The sub-processors of a text, as a table. */
export function subprocessorTable(entries: readonly Subprocessor[]): string {
  if (entries.length === 0) return 'None at the moment.';
  return table(
    ['Name', 'Purpose', 'Location', 'Keeps content', 'Trains on it'],
    entries.map(({ name, purpose, location, retention_days, trains }) => [
      ...[name, purpose, location],
      retention_days === null ? 'not stated' : `${retention_days} days`,
      trains ? 'yes' : 'no',
    ]),
  );
}

async function valuesFor(
  context: Context,
  args: { org_id: Id<'org'> | null; effective_at: Date | null },
): Promise<Values> {
  const { db } = context;
  const billing = args.org_id === null ? null : await findBilling(db, args.org_id);
  return {
    ...(await readPlatform(db)),
    'org.legal_name': orgName(billing),
    effective_at: args.effective_at?.toISOString().slice(0, 10) ?? null,
    subprocessors: subprocessorTable(await currentSubprocessors(context)),
    measures: measures.map((measure) => `- ${measure}`).join('\n'),
  };
}

/** The text of `version`, for an organization or (null) for everybody. */
export async function textOf(
  context: Context,
  args: { version: LegalVersion; org_id: Id<'org'> | null },
): Promise<string> {
  const { version, org_id } = args;
  return fill(version.text, await valuesFor(context, { org_id, effective_at: version.effective_at }));
}

/** The version of `kind` that is in force; the first that comes where none is yet. @throws ServiceError not_found. */
export async function currentVersion(
  context: { readonly db: Db; now(): Date },
  kind: DocumentKind,
): Promise<LegalVersion> {
  const versions = await listVersions(context.db, kind);
  const found = versionInForce(versions, context.now()) ?? versions[0];
  if (found === undefined) throw notFound();
  return found;
}

/** The version of that name. @throws ServiceError not_found. */
export async function namedVersion(db: Db, kind: DocumentKind, name: string): Promise<LegalVersion> {
  const found = (await listVersions(db, kind)).find(({ version }) => version === name);
  if (found === undefined) throw notFound();
  return found;
}

/** What to write when personal data got out, to the people and to the Board. */
export async function breachTemplate(context: Context, org_id: Id<'org'>): Promise<string> {
  return fill(shippedText('breach-template'), await valuesFor(context, { org_id, effective_at: null }));
}

/** What an acceptance names its text by. */
export function digestOf(text: string): Buffer {
  return sha256(text);
}
