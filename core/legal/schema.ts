// Wire shapes of legal documents, acceptances and the list of sub-processors.
import { type Static, Type } from 'typebox';
import { type Context, idOf, lineOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { acceptedBy } from './accept.ts';
import { documentUrl } from './address.ts';
import type { DocumentState } from './documents.ts';
import { type Acceptance, documentKinds, type Subprocessor, type SubprocessorList } from './types.ts';

export const KindIn = oneOf(documentKinds, 'LegalDocumentKind');
const VersionName = Type.String({
  description: 'a date, maybe with a number after it',
  examples: ['2026-11-01'],
});

export const LegalDocumentView = named(
  'LegalDocument',
  Type.Object({
    kind: KindIn,
    version: VersionName,
    title: Type.String(),
    url: Type.String({ description: 'the public page of this version' }),
    summary: Type.String({ description: 'what it says, or what it changes' }),
    requires_acceptance: Type.Boolean(),
    scope: Type.Literal('org', { description: 'whom it binds' }),
    effective_at: Time,
    accepted_at: nullable(Time),
    accepted_by: nullable(Type.String({ description: 'e-mail address or id of whoever did' })),
    outstanding: Type.Boolean({ description: 'it is in force and waits to be accepted' }),
    previous_version: nullable(Type.String()),
  }),
);

/** A document as callers see it. */
export function viewDocument(context: Context, state: DocumentState): Static<typeof LegalDocumentView> {
  const { version: made, previous, acceptance, outstanding } = state;
  const { kind, version, title, summary, requires_acceptance } = made;
  return {
    ...{ kind, version, title, summary, requires_acceptance, outstanding, scope: 'org' },
    url: documentUrl(context, made),
    effective_at: made.effective_at.toISOString(),
    accepted_at: acceptance?.accepted_at.toISOString() ?? null,
    accepted_by: acceptance === null ? null : acceptedBy(acceptance),
    previous_version: previous?.version ?? null,
  };
}

export const AcceptanceView = named(
  'LegalAcceptance',
  Type.Object({
    id: Type.Integer(),
    org_id: idOf('org'),
    user_id: nullable(Type.String()),
    user_email: nullable(Type.String()),
    kind: KindIn,
    version: VersionName,
    accepted_at: Time,
    ip: nullable(Type.String({ description: 'the whole address, as evidence' })),
    method: oneOf(['click_through', 'api'], 'LegalAcceptanceMethod'),
    signer_name: nullable(Type.String()),
    signer_title: nullable(Type.String()),
    text_sha256: Type.String({ description: 'digest of the text as it was shown, in hexadecimal' }),
  }),
);

/** An acceptance as callers see it; which key it was stays in the audit log. */
export function viewAcceptance(made: Acceptance): Static<typeof AcceptanceView> {
  const { key_id: _, accepted_at, text_sha256, ...rest } = made;
  return { ...rest, accepted_at: accepted_at.toISOString(), text_sha256: text_sha256.toString('hex') };
}

export const SubprocessorView = named(
  'Subprocessor',
  Type.Object({
    id: Type.String(),
    name: lineOf(120),
    category: lineOf(60),
    location: lineOf(120),
    purpose: lineOf(300),
    trains: Type.Boolean({ description: 'it may train on what it gets' }),
    retention_days: nullable(
      Type.Integer({ minimum: 0, description: 'how long it keeps content; null: not stated' }),
    ),
    zdr: Type.Boolean({ description: 'it can be called without keeping anything' }),
    regions: Type.Array(lineOf(60), { maxItems: 50 }),
  }),
);

const ids = () => Type.Array(Type.String());
export const ListChangeView = named(
  'SubprocessorChange',
  Type.Object({ added: ids(), removed: ids(), changed: ids() }),
);

export const SubprocessorListView = named(
  'SubprocessorList',
  Type.Object({
    version: VersionName,
    entries: Type.Array(SubprocessorView),
    published_at: Time,
    effective_at: Time,
    notice_days: Type.Integer(),
    pending: nullable(
      named(
        'PendingSubprocessorList',
        Type.Object({
          version: VersionName,
          published_at: Time,
          effective_at: Time,
          change: ListChangeView,
        }),
      ),
    ),
  }),
);

const wireChange = ({ change }: SubprocessorList) => ({
  ...{ added: [...change.added], removed: [...change.removed], changed: [...change.changed] },
});
/** An entry as callers see it. */
export const wireEntry = (entry: Subprocessor) => ({ ...entry, regions: [...entry.regions] });

/** A list with the `entries` that are shown of it. */
export function viewList(
  current: SubprocessorList,
  beside: { entries: readonly Subprocessor[]; pending: SubprocessorList | null },
): Static<typeof SubprocessorListView> {
  const { entries, pending } = beside;
  return {
    ...{ version: current.version, entries: entries.map(wireEntry), notice_days: current.notice_days },
    published_at: current.published_at.toISOString(),
    effective_at: current.effective_at.toISOString(),
    pending:
      pending === null
        ? null
        : {
            version: pending.version,
            published_at: pending.published_at.toISOString(),
            effective_at: pending.effective_at.toISOString(),
            change: wireChange(pending),
          },
  };
}

export const documentExample = {
  kind: 'tos',
  version: '2026-11-01',
  title: 'Terms of service',
  url: 'https://gateway.example.com/docs/legal/tos/2026-11-01',
  summary: 'What the service is, what it costs, and what both sides owe each other.',
  requires_acceptance: true,
  scope: 'org',
  effective_at: '2026-11-01T00:00:00.000Z',
  accepted_at: null,
  accepted_by: null,
  outstanding: true,
  previous_version: null,
} as const satisfies Static<typeof LegalDocumentView>;

export const acceptanceExample = {
  id: 17,
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  user_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  user_email: 'ann@acme.example',
  kind: 'tos',
  version: '2026-11-01',
  accepted_at: '2026-11-21T10:00:00.000Z',
  ip: '203.0.113.7',
  method: 'click_through',
  signer_name: 'Ann Rao',
  signer_title: 'Director',
  text_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const satisfies Static<typeof AcceptanceView>;

export const entryExample = {
  id: 'example-cloud',
  name: 'Example Cloud',
  category: 'hosting',
  location: 'Germany',
  purpose: 'hosting of the database',
  trains: false,
  retention_days: 30,
  zdr: false,
  regions: ['eu-central'],
} satisfies Static<typeof SubprocessorView>;

export const listExample = {
  version: '2026-11-01',
  entries: [entryExample],
  published_at: '2026-10-01T00:00:00.000Z',
  effective_at: '2026-11-01T00:00:00.000Z',
  notice_days: 30,
  pending: {
    version: '2026-12-01',
    published_at: '2026-12-01T00:00:00.000Z',
    effective_at: '2026-12-31T00:00:00.000Z',
    change: { added: ['example-mail'], removed: [], changed: [] },
  },
} satisfies Static<typeof SubprocessorListView>;
