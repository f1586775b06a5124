// The list of exports is in an export as well: who has taken the organization's data out, and when.
import { listOrgExportsOperation } from './list-operation.ts';
import type { RowFile } from './types.ts';
import { pagesOf } from './walk.ts';

export const exportsFile: RowFile = {
  name: 'exports',
  about: 'Exports of the organization that were made, this one too.',
  route: 'GET /v1/orgs/{id}/exports',
  pages: ({ live, org_id }) => pagesOf(live, listOrgExportsOperation, { id: org_id }),
};
