// Legal documents as people and keys of an organization read and accept them.
import { Type } from 'typebox';
import {
  type Context,
  csv,
  FileAnswer,
  lineOf,
  listOf,
  notFound,
  oneOf,
  operation,
  orgCaller,
} from '../kernel/index.ts';
import { findDataPolicy } from '../orgs/index.ts';
import { acceptDocument } from './accept.ts';
import { readDocuments, versionInForce } from './documents.ts';
import { printDocument } from './print.ts';
import { processingFields, processingRecord } from './processing.ts';
import {
  AcceptanceView,
  acceptanceExample,
  documentExample,
  KindIn,
  LegalDocumentView,
  listExample,
  SubprocessorListView,
  viewAcceptance,
  viewDocument,
  viewList,
} from './schema.ts';
import { processorsOf, sellerEntry } from './seller.ts';
import { readPlatform } from './setting.ts';
import { listAcceptances } from './store.ts';
import { readLists } from './subprocessors.ts';
import { breachTemplate, currentSubprocessors, currentVersion, table, textOf } from './texts.ts';
import { type DocumentKind, documentKinds } from './types.ts';

const everybody = {
  kind: 'key',
  scopes: 'any',
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
const MARKDOWN = 'text/markdown; charset=utf-8';

export const listLegalDocumentsOperation = operation({
  name: 'legal.documents.list',
  method: 'GET',
  path: '/v1/legal/documents',
  summary: 'List the legal documents in force, and versions that come',
  audience: everybody,
  input: Type.Object({}),
  output: listOf(LegalDocumentView),
  errors: [],
  example: { object: 'list', data: [documentExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const now = context.now();
    const all = await readDocuments(context.db, { org_id, kind: null, now });
    const versions = all.map(({ version }) => version);
    const current = new Set(
      documentKinds.map((kind) =>
        versionInForce(
          versions.filter((one) => one.kind === kind),
          now,
        ),
      ),
    );
    const shown = all.filter(
      ({ version }) => current.has(version) || version.effective_at.getTime() > now.getTime(),
    );
    const order = (kind: DocumentKind) => documentKinds.indexOf(kind);
    shown.sort((a, b) => order(a.version.kind) - order(b.version.kind));
    return { object: 'list' as const, data: shown.map((state) => viewDocument(context, state)) };
  },
});

function refuseUnknownKind(kind: string): void {
  if (!documentKinds.some((one) => one === kind)) throw notFound();
}

export const getLegalDocumentOperation = operation({
  name: 'legal.documents.get',
  method: 'GET',
  path: '/v1/legal/documents/:kind',
  summary: 'Read what is known of a legal document; its text is the page at `url`',
  audience: everybody,
  input: Type.Object({
    kind: KindIn,
    version: Type.Optional(lineOf(20)),
  }),
  output: LegalDocumentView,
  errors: [],
  example: documentExample,
  async run(context, { kind, version }) {
    refuseUnknownKind(kind);
    const { org_id } = orgCaller(context);
    const all = await readDocuments(context.db, { org_id, kind, now: context.now() });
    const name = version ?? (await currentVersion(context, kind)).version;
    const found = all.find((state) => state.version.version === name);
    if (found === undefined) throw notFound();
    return viewDocument(context, found);
  },
});

/** Answers that repeat an acceptance of before: 200 instead of 201. */
const replays = new WeakSet<object>();

export const acceptLegalDocumentOperation = operation({
  name: 'legal.documents.accept',
  method: 'POST',
  path: '/v1/legal/documents/:kind/accept',
  summary: 'Accept a version for the organization; again: the acceptance of before',
  audience: {
    kind: 'key',
    scopes: ['manage:keys'],
    session: ['owner'],
    sandbox: false,
    // What is owed is not owed less while the organization is suspended.
    while_suspended: true,
  },
  input: Type.Object({
    kind: KindIn,
    version: lineOf(20),
    signer_name: Type.Optional(lineOf(120)),
    signer_title: Type.Optional(lineOf(120)),
  }),
  output: AcceptanceView,
  errors: ['version_mismatch', 'sandbox_key_not_allowed'],
  status: 201,
  isReplay: (output) => replays.has(output),
  request: { version: '2026-11-01', signer_name: 'Ann Rao', signer_title: 'Director' },
  example: acceptanceExample,
  async run(context, input) {
    refuseUnknownKind(input.kind);
    const { acceptance, replay } = await acceptDocument(context, input);
    const view = viewAcceptance(acceptance);
    if (replay) replays.add(view);
    return view;
  },
});

export const listAcceptancesOperation = operation({
  name: 'legal.acceptances.list',
  method: 'GET',
  path: '/v1/legal/acceptances',
  summary: 'List what the organization has accepted, newest first',
  audience: { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin', 'billing'] },
  input: Type.Object({}),
  output: listOf(AcceptanceView),
  errors: [],
  example: { object: 'list', data: [acceptanceExample] },
  async run(context) {
    const accepted = await listAcceptances(context.db, orgCaller(context).org_id);
    return { object: 'list' as const, data: accepted.map(viewAcceptance) };
  },
});

export const listSubprocessorsOperation = operation({
  name: 'legal.subprocessors',
  method: 'GET',
  path: '/v1/legal/subprocessors',
  summary:
    'Show who processes data for the service, and the next list; a customer of a reseller finds that first',
  audience: everybody,
  input: Type.Object({}),
  output: SubprocessorListView,
  errors: [],
  example: listExample,
  async run(context) {
    const { current, pending } = await readLists(context);
    if (current === null) throw notFound();
    const entries = await processorsOf(context, orgCaller(context).org_id);
    return viewList(current, { entries, pending });
  },
});

function markdown(name: string, body: string): FileAnswer {
  return new FileAnswer({ content_type: MARKDOWN, filename: `${name}.md`, body });
}

const textOutput = () => Type.String({ description: 'the text' });

const breachTemplateOperation = operation({
  name: 'legal.breach_template',
  method: 'GET',
  path: '/v1/legal/breach-template',
  summary: 'Read templates of the notices after a breach of personal data',
  audience: everybody,
  input: Type.Object({}),
  output: textOutput(),
  produces: 'text/markdown',
  errors: [],
  example: '# Notices of a breach of personal data\n',
  run: async (context) =>
    markdown('breach-template', await breachTemplate(context, orgCaller(context).org_id)),
});

async function documentText(context: Context, kind: DocumentKind): Promise<FileAnswer> {
  const version = await currentVersion(context, kind);
  const { org_id } = orgCaller(context);
  return markdown(`${kind}-${version.version}`, await textOf(context, { version, org_id }));
}

const dpdpNoticeOperation = operation({
  name: 'legal.dpdp_notice',
  method: 'GET',
  path: '/v1/legal/dpdp-notice',
  summary: 'Read the notice of the Digital Personal Data Protection Act',
  audience: everybody,
  input: Type.Object({}),
  output: textOutput(),
  produces: 'text/markdown',
  errors: [],
  example: '# Notice under the Digital Personal Data Protection Act, 2023\n',
  run: (context) => documentText(context, 'dpdp_notice'),
});

const sccOperation = operation({
  name: 'legal.scc',
  method: 'GET',
  path: '/v1/legal/scc',
  summary: 'Read the annexes of the standard contractual clauses, filled for the organization',
  audience: everybody,
  input: Type.Object({}),
  output: textOutput(),
  produces: 'text/markdown',
  errors: [],
  example: '# Annexes to the standard contractual clauses\n',
  run: (context) => documentText(context, 'sccs'),
});

const ropaOperation = operation({
  name: 'legal.ropa',
  method: 'GET',
  path: '/v1/legal/ropa',
  summary: 'Read the record of processing activities; `format=csv` for a spreadsheet',
  audience: { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin'] },
  input: Type.Object({ format: Type.Optional(oneOf(['markdown', 'csv'])) }),
  output: textOutput(),
  produces: 'text/markdown',
  also_produces: 'text/csv',
  errors: [],
  example: '# Record of processing activities\n',
  async run(context, { format = 'markdown' }) {
    const { org_id } = orgCaller(context);
    const policy = await findDataPolicy(context.db, org_id);
    if (policy === null) throw notFound();
    const rows = processingRecord(policy.data_policy, {
      subprocessors: await currentSubprocessors(context),
      reseller: await sellerEntry(context, org_id),
    });
    if (format === 'csv') {
      const body = csv(processingFields, rows);
      return new FileAnswer({ content_type: 'text/csv; charset=utf-8', filename: 'ropa.csv', body });
    }
    const head = processingFields.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}`);
    const lines = rows.map((row) => processingFields.map((name) => row[name]));
    return markdown('ropa', `# Record of processing activities\n\n${table(head, lines)}\n`);
  },
});

const dpaOperation = operation({
  name: 'legal.dpa',
  method: 'GET',
  path: '/v1/documents/dpa',
  summary: 'Read the agreement on processing, as Markdown or (`Accept: application/pdf`) as PDF',
  audience: everybody,
  input: Type.Object({}),
  output: textOutput(),
  produces: 'text/markdown',
  also_produces: 'application/pdf',
  errors: ['service_unavailable'],
  example: '# Agreement on the processing of personal data\n',
  async run(context) {
    const accept = context.requestHeader('accept') ?? '';
    context.header('vary', 'accept');
    if (!/\bapplication\/pdf\b/i.test(accept)) return documentText(context, 'dpa');
    const version = await currentVersion(context, 'dpa');
    const text = await textOf(context, { version, org_id: orgCaller(context).org_id });
    return new FileAnswer({
      content_type: 'application/pdf',
      filename: `dpa-${version.version}.pdf`,
      body: await printDocument(version, text, await readPlatform(context.db)),
    });
  },
});

export const legalOperations = [
  listLegalDocumentsOperation,
  getLegalDocumentOperation,
  acceptLegalDocumentOperation,
  listAcceptancesOperation,
  listSubprocessorsOperation,
  breachTemplateOperation,
  dpdpNoticeOperation,
  sccOperation,
  ropaOperation,
  dpaOperation,
] as const;
