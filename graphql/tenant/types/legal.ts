// Legal documents, what was accepted, and sub-processors. Their texts are pages, and files of REST.
import {
  AcceptanceView,
  acceptLegalDocumentOperation,
  documentKinds,
  getLegalDocumentOperation,
  LegalDocumentView,
  listAcceptancesOperation,
  listLegalDocumentsOperation,
  listSubprocessorsOperation,
  SubprocessorListView,
} from '@svc/core/legal/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';

derive.enum('LegalDocumentKind', documentKinds);
derive.enum('LegalAcceptanceMethod', ['click_through', 'api']);
const LegalDocument = derive.output('LegalDocument', LegalDocumentView);
const LegalAcceptance = derive.output('LegalAcceptance', AcceptanceView);
const SubprocessorList = derive.output('SubprocessorList', SubprocessorListView);

const Legal = builder.objectRef<object>('Legal').implement({
  description: 'Legal documents of the service as the organization stands to them.',
  fields: (t) => ({
    documents: t.field({
      type: [LegalDocument],
      nullable: true,
      description: 'Those in force, and versions that come.',
      extensions: { operation: listLegalDocumentsOperation.name },
      resolve: async (_root, _args, { runner }) => (await runner.run(listLegalDocumentsOperation, {})).data,
    }),
    document: t.field({
      type: LegalDocument,
      nullable: true,
      args: derive.args(t.arg, 'LegalDocument', getLegalDocumentOperation.input),
      extensions: { operation: getLegalDocumentOperation.name },
      resolve: (_root, args, { runner }) =>
        nullWhenMissing(runner.run(getLegalDocumentOperation, toWire(getLegalDocumentOperation.input, args))),
    }),
    acceptances: t.field({
      type: [LegalAcceptance],
      nullable: true,
      description: 'What the organization has accepted, newest first; for owners, admins and billing.',
      extensions: { operation: listAcceptancesOperation.name },
      resolve: async (_root, _args, { runner }) => (await runner.run(listAcceptancesOperation, {})).data,
    }),
    subprocessors: t.field({
      type: SubprocessorList,
      nullable: true,
      description: 'Who processes data for the service, and the next list.',
      extensions: { operation: listSubprocessorsOperation.name },
      resolve: (_root, _args, { runner }) => nullWhenMissing(runner.run(listSubprocessorsOperation, {})),
    }),
  }),
});

builder.queryField('legal', (t) =>
  t.field({ type: Legal, nullable: true, extensions: { operation: null }, resolve: () => ({}) }),
);

mutation({
  name: 'acceptLegalDocument',
  operation: acceptLegalDocumentOperation,
  input: acceptLegalDocumentOperation.input,
  description: 'Accepts a version for the organization; again: the acceptance of before.',
  payload: (t) => ({
    acceptance: t.field({
      type: LegalAcceptance,
      resolve: ({ answer }: { readonly answer: unknown }) => answer,
    }),
  }),
});
