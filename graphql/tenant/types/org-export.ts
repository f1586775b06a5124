// Exports of the whole organization. The archive itself is downloaded from the path that each of them names.
import {
  createOrgExportOperation,
  listOrgExportsOperation,
  OrgExportView,
} from '@svc/core/org-export/index.ts';
import { builder, derive } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { mutation } from '../mutation.ts';

const OrgExport = derive.output('OrganizationExport', OrgExportView);
const OrgExports = connectionType('OrganizationExport', OrgExport);

builder.queryFields((t) => ({
  orgExports: pageField(t, 'OrgExports', {
    operation: listOrgExportsOperation,
    type: OrgExports,
    description: 'Exports of an organization that were made, newest first; for its owners.',
    options: () => ({}),
  }),
}));

mutation({
  name: 'createOrgExport',
  operation: createOrgExportOperation,
  input: createOrgExportOperation.input,
  description: 'Makes an export of everything of the organization, to be downloaded within 24 hours.',
  payload: (t) => ({
    export: t.field({ type: OrgExport, resolve: ({ answer }: { readonly answer: unknown }) => answer }),
  }),
});
