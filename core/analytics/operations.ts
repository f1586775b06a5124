// Looking up calls.
import { type Static, Type } from 'typebox';
import {
  type Context,
  EventAnswer,
  invalid,
  isRequestId,
  notFound,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  requestId,
  ServiceError,
  TimeIn,
  timeInMs,
  walkPage,
} from '../kernel/index.ts';
import { getUsageAdviceOperation } from './advice/operation.ts';
import { readContent } from './content.ts';
import { readerOf } from './engine/postgres.ts';
import { generationExample, rowDetailExample, rowExample } from './examples.ts';
import { findGeneration } from './generation.ts';
import { getLimitsOperation } from './limits-view.ts';
import { enterTail, tailEvents } from './live/tail.ts';
import { Generation, RowView, RowWithPayload } from './schema.ts';
import type { RowFilter } from './store.ts';
import { rowStatuses } from './types.ts';
import { callerFilterOf, callerFilters } from './usage/caller-filters.ts';

import { getUsageOperation } from './usage.ts';
import { viewDetail, viewRow } from './view.ts';
import { usageViewOperations } from './views/operations.ts';

const audience = {
  kind: 'key',
  scopes: ['read:usage'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
const DEFAULT_LIMIT = 50;
const INTERVAL_MS = 2_000;
const Cost = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const Name = Type.Optional(Type.String());

const filterMembers = {
  project_id: Name,
  key_id: Name,
  model: Name,
  provider: Name,
  status: Type.Optional(oneOf(rowStatuses, 'RequestStatus')),
  errors_only: Type.Optional(Type.Boolean()),
  fallbacks_only: Type.Optional(Type.Boolean()),
  min_cost_micro: Cost,
  max_cost_micro: Cost,
  q: Type.Optional(Type.String({ description: 'prefix of a request id' })),
  ...callerFilters,
  environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
};
const ListInput = Type.Object({
  since: Type.Optional(Type.String({ format: 'date-time', description: 'not after `until`' })),
  until: Type.Optional(TimeIn),
  ...filterMembers,
  ...pageInput(500),
});
const TailInput = Type.Object({
  after: Type.Optional(
    Type.String({
      description:
        'a request id: begins with what came after its row; else `Last-Event-ID`, else from now on',
    }),
  ),
  interval_ms: Type.Optional(
    Type.Integer({ minimum: 500, maximum: 30_000, description: 'between two looks; 2,000 unless given' }),
  ),
  ...filterMembers,
});

function timeOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(timeInMs(text));
}

type Wanted = Static<typeof TailInput> & Pick<Static<typeof ListInput>, 'since' | 'until'>;

function filterOf(input: Wanted): RowFilter {
  const since = timeOf(input.since);
  const until = timeOf(input.until);
  if (since !== null && until !== null && since > until) {
    throw invalid('since', 'range', 'since lies after until.');
  }
  return {
    since,
    until,
    project_id: input.project_id ?? null,
    key_id: input.key_id ?? null,
    model: input.model ?? null,
    provider: input.provider ?? null,
    status: input.status ?? null,
    errors_only: input.errors_only ?? false,
    fallbacks_only: input.fallbacks_only ?? false,
    min_cost_micro: input.min_cost_micro ?? null,
    max_cost_micro: input.max_cost_micro ?? null,
    q: input.q?.toUpperCase() ?? null,
    ...callerFilterOf(input),
  };
}

function tellLag(context: Context): void {
  context.header('x-svc-analytics-lag-s', String(context.services.request_log.lag_s()));
}

export const listRequestsOperation = operation({
  name: 'requests.list',
  method: 'GET',
  path: '/v1/requests',
  summary: 'List calls, newest first',
  audience,
  input: ListInput,
  output: pageOf(RowView),
  errors: [],
  example: { object: 'list', data: [rowExample], next_cursor: '' },
  async run(context, input) {
    const caller = orgCaller(context);
    const filter = filterOf(input);
    const environment = input.environment ?? caller.environment;
    tellLag(context);
    if (caller.environment === 'test' && environment === 'live') {
      return page([], '');
    }
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `requests.list ${caller.org_id} ${environment} ${JSON.stringify(filter)}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        readerOf(context).listRows({ org_id: caller.org_id, environment, filter, after, limit }),
      placeOf: (row) => ({ at: row.ts.getTime(), id: row.request_id }),
    });
    return page(rows.map(viewRow), next_cursor, cursorAt);
  },
});

const tailRequestsOperation = operation({
  name: 'requests.tail',
  method: 'GET',
  path: '/v1/requests/tail',
  summary: 'Follow calls as their rows become readable, as server-sent events',
  audience,
  input: TailInput,
  output: RowView,
  errors: [],
  produces: 'text/event-stream',
  example: rowExample,
  async run(context, input) {
    const caller = orgCaller(context);
    const { org_id } = caller;
    const environment = input.environment ?? caller.environment;
    if (caller.environment === 'test' && environment === 'live') {
      throw new ServiceError('permission_denied', 'A test key follows calls of the sandbox alone.');
    }
    const watch = {
      ...{ org_id, environment, filter: filterOf(input), interval_ms: input.interval_ms ?? INTERVAL_MS },
      after: input.after ?? context.requestHeader('last-event-id'),
    };
    const { limits } = context.services;
    const slot = limits === undefined ? null : await enterTail(limits, org_id);
    tellLag(context);
    return new EventAnswer((signal) => {
      signal.addEventListener('abort', () => slot?.leave());
      return tailEvents(readerOf(context), watch, signal);
    });
  },
});

export const getRequestOperation = operation({
  name: 'requests.get',
  method: 'GET',
  path: '/v1/requests/:id',
  summary: 'Read one call with everything measured, its attempts, and its content where it was logged',
  audience,
  input: Type.Object({ id: requestId() }),
  output: RowWithPayload,
  errors: [],
  example: rowDetailExample,
  async run(context, { id }) {
    const caller = orgCaller(context);
    if (!isRequestId(id)) throw notFound();
    const environment = caller.environment === 'test' ? 'test' : null;
    const reader = readerOf(context);
    const row = await reader.findRow({ org_id: caller.org_id, environment, request_id: id });
    if (row === null) throw notFound();
    tellLag(context);
    const attempts = await reader.listAttempts(id);
    const { state, payload } = await readContent(context, row);
    const copies = await reader.listCopies({ org_id: caller.org_id, environment, request_ids: [id] });
    return { ...viewDetail(row, attempts, copies.get(id) ?? [], state), ...payload };
  },
});

export const getGenerationOperation = operation({
  name: 'generation.get',
  method: 'GET',
  path: '/v1/generation/:id',
  summary: 'Read what one call cost and how it went; the cost is final at once, timings follow',
  audience,
  input: Type.Object({ id: requestId() }),
  output: Generation,
  errors: [],
  example: generationExample,
  async run(context, { id }) {
    if (!isRequestId(id)) throw notFound();
    const generation = await findGeneration(context, orgCaller(context), id);
    if (generation === null) throw notFound();
    return generation;
  },
});

export const analyticsOperations = [
  listRequestsOperation,
  tailRequestsOperation,
  getRequestOperation,
  getGenerationOperation,
  getUsageOperation,
  getUsageAdviceOperation,
  ...usageViewOperations,
  getLimitsOperation,
] as const;
