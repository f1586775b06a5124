// The data policy, redaction tried out, and erasure and export of end users.
import { OrgView } from '@svc/core/orgs/index.ts';
import {
  DataPolicyPatch,
  eraseSubjectOperation,
  exportSubjectOperation,
  getSubjectRequestOperation,
  listSubjectRequestsOperation,
  SubjectExportView,
  SubjectRequestView,
  subjectKinds,
  subjectStates,
  updateOrgOperation,
} from '@svc/core/privacy/index.ts';
import { presets, previewRedactionOperation, RedactionPreviewView } from '@svc/core/redaction/index.ts';
import { Type } from 'typebox';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';
import { Organization } from './organization.ts';

derive.enum('RedactionPreset', presets);
derive.enum('DataSubjectRequestKind', subjectKinds);
derive.enum('DataSubjectRequestStatus', subjectStates);

const Request = derive.output('DataSubjectRequest', SubjectRequestView, {
  names: { receipt: 'ErasureReceipt' },
});
const Export = derive.output('DataSubjectExport', SubjectExportView, {
  names: { records: 'DataSubjectRecord' },
});
const Preview = derive.output('RedactionPreview', RedactionPreviewView);
const Requests = connectionType('DataSubjectRequest', Request);

builder.queryFields((t) => ({
  privacyRequests: pageField(t, 'PrivacyRequests', {
    operation: listSubjectRequestsOperation,
    type: Requests,
    description: 'Erasures and exports of end users, newest first.',
    options: () => ({}),
  }),
  privacyRequest: t.field({
    type: Request,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getSubjectRequestOperation.name },
    resolve: (_root, { id }, { runner }) =>
      nullWhenMissing(runner.run(getSubjectRequestOperation, { id: String(id) })),
  }),
}));

interface Payload {
  readonly answer: unknown;
}

mutation({
  name: 'eraseSubject',
  operation: eraseSubjectOperation,
  input: eraseSubjectOperation.input,
  description: 'Erases an end user: calls are unlinked, their tags and content deleted.',
  payload: (t) => ({ request: t.field({ type: Request, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'exportSubject',
  operation: exportSubjectOperation,
  input: Type.Pick(exportSubjectOperation.input, ['user_id']),
  description: 'Exports what is stored of an end user, at most 10,000 records.',
  payload: (t) => ({ export: t.field({ type: Export, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'updateDataPolicy',
  operation: updateOrgOperation,
  input: Type.Object({ id: OrgView.properties.id, data_policy: DataPolicyPatch }),
  description: 'Changes the data policy of the organization; what is left out stays, null is the default.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'previewRedaction',
  operation: previewRedactionOperation,
  input: previewRedactionOperation.input,
  description: 'Shows what redaction would make of a text. Nothing is stored.',
  payload: (t) => ({ preview: t.field({ type: Preview, resolve: ({ answer }: Payload) => answer }) }),
});
