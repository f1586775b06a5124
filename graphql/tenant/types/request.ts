// Calls: one row each, and details that are read together for all rows of an answer.
import {
  attemptOutcomes,
  Generation,
  getGenerationOperation,
  getRequestOperation,
  listRequestsOperation,
  RowDetail,
  RowView,
  rowStatuses,
} from '@svc/core/analytics/index.ts';
import { builder, derive, Node } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import type { TenantContext } from '../context.ts';
import { nullWhenMissing } from '../missing.ts';
import { byEndpoint } from '../route.ts';
import { Key } from './key.ts';
import { Project } from './organization.ts';
import { RequestRoute } from './route.ts';

derive.enum('RequestStatus', rowStatuses);
derive.enum('AttemptOutcome', attemptOutcomes);

interface Row {
  readonly request_id: string;
  readonly key_id: string;
  readonly project_id: string;
}

/** The members of the detail that the row does not have. */
const RequestDetail = derive.output('RequestDetail', RowDetail, {
  // `timing` and `usage` repeat fields of the row; `route` is shown by endpoint, in a field of its own.
  omit: [...Object.keys(RowView.properties), 'timing', 'usage', 'route'],
  names: { attempt_row: 'RequestAttempt' },
});

export const Request = derive.output('Request', RowView, {
  interfaces: [Node],
  omit: ['request_id'],
  // biome-ignore lint/suspicious/noExplicitAny: the builder of a derived type
  extra: (t: any) => ({
    id: t.id({ resolve: (row: Row) => row.request_id }),
    key: t.field({
      type: Key,
      nullable: true,
      resolve: (row: Row, _args: unknown, { loaders }: TenantContext) => loaders.keys.load(row.key_id),
    }),
    project: t.field({
      type: Project,
      nullable: true,
      resolve: async (row: Row, _args: unknown, { loaders }: TenantContext) =>
        (await loaders.projects()).get(row.project_id) ?? null,
    }),
    detail: t.field({
      type: RequestDetail,
      nullable: true,
      description: 'everything measured and the attempts',
      resolve: (row: Row, _args: unknown, { loaders }: TenantContext) => loaders.details.load(row.request_id),
    }),
    route: t.field({
      type: RequestRoute,
      nullable: true,
      description: 'why this endpoint; null where no decision was made',
      resolve: async (row: Row, _args: unknown, { loaders }: TenantContext) => {
        const route = (await loaders.details.load(row.request_id))?.route ?? null;
        return route === null ? null : byEndpoint(route);
      },
    }),
  }),
});

const RequestConnection = connectionType('Request', Request);

const GenerationType = derive.output('Generation', Generation, {
  description: 'What a call cost, line by line, from the ledger; timings follow within a second.',
  names: { attempt: 'GenerationAttempt' },
});

builder.queryFields((t) => ({
  requests: pageField(t, 'Requests', {
    operation: listRequestsOperation,
    type: RequestConnection,
    options: () => ({}),
  }),
  request: t.field({
    type: Request,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getRequestOperation.name },
    resolve: (_root, { id }, { loaders }) => loaders.details.load(id),
  }),
  generation: t.field({
    type: GenerationType,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    complexity: { field: 5 },
    extensions: { operation: getGenerationOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(getGenerationOperation, { id })),
  }),
}));
