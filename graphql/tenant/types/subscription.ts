// Live updates. Streams are served only on the console's address (docs/graphql.md); the gateway refuses subscriptions
// before they reach this file.
import { setTimeout as pause } from 'node:timers/promises';
import { listRequestsOperation, type RowView } from '@svc/core/analytics/index.ts';
import { type Environment, ServiceError } from '@svc/core/kernel/index.ts';
import { getTopupOperation, type TopupView } from '@svc/core/topups/index.ts';
import type { Static } from 'typebox';
import { environmentOf } from '../../run.ts';
import { builder } from '../builder.ts';
import type { StreamLife, TenantContext } from '../context.ts';
import { EnvironmentEnum } from './common.ts';
import { Topup } from './money/topup.ts';
import { Request } from './request.ts';

type Row = Static<typeof RowView>;
type TopupRow = Static<typeof TopupView>;

const POLL_MS = 1_000;

builder.subscriptionType({});

function noStream(): ServiceError {
  return new ServiceError(
    'session_required',
    'Subscriptions need a session and are served at the address of the console.',
  );
}

interface Filter {
  readonly environment: Environment | null;
  readonly key_id: string | null;
  readonly project_id: string | null;
}

/** Throws before the stream opens, so that the caller gets an answer and not a broken stream. */
async function added(filter: Filter, { runner, feed, stream }: TenantContext): Promise<AsyncGenerator<Row>> {
  runner.admit(listRequestsOperation, filter.environment);
  const { caller } = runner;
  if (feed === null || stream === null || caller.kind !== 'session' || caller.org_id === null)
    throw noStream();
  const environment = filter.environment ?? environmentOf(caller);
  return matching(await feed.follow({ org_id: caller.org_id, environment }, stream.signal), filter, stream);
}

async function* matching(rows: AsyncGenerator<Row>, filter: Filter, stream: StreamLife): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (filter.key_id !== null && row.key_id !== filter.key_id) continue;
    if (filter.project_id !== null && row.project_id !== filter.project_id) continue;
    stream.renew();
    yield row;
  }
}

builder.subscriptionField('requestAdded', (t) =>
  t.field({
    type: Request,
    description: 'Each new row once, within about two seconds of the end of its call.',
    args: {
      environment: t.arg({ type: EnvironmentEnum }),
      keyId: t.arg.id(),
      projectId: t.arg.id(),
    },
    extensions: { operation: listRequestsOperation.name },
    subscribe: (_root, args, context) =>
      added(
        {
          environment: (args.environment as Environment | null | undefined) ?? null,
          key_id: args.keyId ?? null,
          project_id: args.projectId ?? null,
        },
        context,
      ),
    resolve: (row) => row as never,
  }),
);

async function followTopup(id: string, { runner, stream }: TenantContext): Promise<AsyncGenerator<TopupRow>> {
  if (stream === null) throw noStream();
  const read = () => runner.run(getTopupOperation, { id });
  return topupStates(await read(), read, stream.signal);
}

async function* topupStates(
  first: TopupRow,
  read: () => Promise<TopupRow>,
  signal: AbortSignal,
): AsyncGenerator<TopupRow> {
  let topup = first;
  let sent = '';
  while (!signal.aborted) {
    const state = JSON.stringify(topup);
    if (state !== sent) yield topup;
    sent = state;
    if (topup.status === 'paid') return;
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
    if (!signal.aborted) topup = await read();
  }
}

builder.subscriptionField('topupUpdated', (t) =>
  t.field({
    type: Topup,
    description: 'The top-up now, then at each change, until it is paid.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getTopupOperation.name },
    subscribe: (_root, { id }, context) => followTopup(id, context),
    resolve: (topup) => topup as never,
  }),
);
