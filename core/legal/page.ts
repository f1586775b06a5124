// What the public pages of legal texts show.
import { type Context, notFound } from '../kernel/index.ts';
import { versionInForce } from './documents.ts';
import { processorsOf } from './seller.ts';
import { listVersions } from './store.ts';
import { namedVersion, subprocessorTable, textOf } from './texts.ts';
import { documentKinds } from './types.ts';

/** A page in Markdown, or the address that the reader is to go on to. */
type LegalPage = { readonly title: string; readonly markdown: string } | { readonly to: string };

async function contents(context: Context): Promise<LegalPage> {
  const versions = await listVersions(context.db, null);
  const lines = documentKinds.flatMap((kind) => {
    const made = versionInForce(
      versions.filter((one) => one.kind === kind),
      context.now(),
    );
    return made === null ? [] : [`- [${made.title}](/docs/legal/${kind}/${made.version}) ${made.summary}`];
  });
  const list = '- [Sub-processors](/docs/legal/subprocessors) Who processes data for the service.';
  return { title: 'Legal', markdown: ['# Legal', '', ...lines, list].join('\n') };
}

/**
 * The page below `/docs/legal` that `kind` and `version` name: without both the contents, without a version what is in
 * force. @throws ServiceError not_found.
 */
export async function readLegalPage(
  context: Context,
  { kind, version }: { kind: string | null; version: string | null },
): Promise<LegalPage> {
  if (kind === null) return contents(context);
  if (kind === 'subprocessors' && version === null) {
    const markdown = `# Sub-processors\n\n${subprocessorTable(await processorsOf(context, null))}`;
    return { title: 'Sub-processors', markdown };
  }
  const known = documentKinds.find((one) => one === kind);
  if (known === undefined) throw notFound();
  if (version === null) {
    const made = versionInForce(await listVersions(context.db, known), context.now());
    if (made === null) throw notFound();
    return { to: `/docs/legal/${known}/${made.version}` };
  }
  const made = await namedVersion(context.db, known, version);
  return { title: made.title, markdown: await textOf(context, { version: made, org_id: null }) };
}
