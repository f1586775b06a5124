// Export of a whole organization over REST and GraphQL (docs/organizations/export.md).
import { Type } from 'typebox';
import { FileAnswer, idOf, isId, notFound, operation } from '../kernel/index.ts';
import {
  audience,
  listOrgExportsOperation,
  OrgExportView,
  orgExportExample,
  ownOrg,
  viewExport,
} from './list-operation.ts';
import { makeOrgExport, openOrgExport } from './make.ts';

export const createOrgExportOperation = operation({
  name: 'orgs.exports.create',
  method: 'POST',
  path: '/v1/orgs/:id/export',
  summary: 'Make an export of everything of an organization, to be downloaded within 24 hours',
  audience,
  input: Type.Object({ id: idOf('org') }),
  output: OrgExportView,
  errors: ['state_conflict', 'csrf_failed'],
  status: 201,
  example: orgExportExample,
  async run(context, { id }) {
    ownOrg(context, id);
    return viewExport(await makeOrgExport(context));
  },
});

const getOrgExportOperation = operation({
  name: 'orgs.exports.get',
  method: 'GET',
  path: '/v1/orgs/:id/exports/:export',
  summary: 'Download an export: a ZIP with lines of JSON, PDF files of invoices, and a manifest',
  audience,
  input: Type.Object({ id: idOf('org'), export: idOf('org_export') }),
  output: Type.String({ description: 'the bytes of the file' }),
  produces: 'application/zip',
  errors: ['gone', 'state_conflict'],
  example: 'PK',
  async run(context, input) {
    ownOrg(context, input.id);
    if (!isId('org_export', input.export)) throw notFound();
    const { filename, body } = await openOrgExport(context, input.export);
    return new FileAnswer({ content_type: 'application/zip', filename, body });
  },
});

export const orgExportOperations = [
  createOrgExportOperation,
  listOrgExportsOperation,
  getOrgExportOperation,
] as const;
