// Live updates. Streams are served only on the console's address (docs/graphql.md); the gateway refuses subscriptions
// before they reach this file.
import { setTimeout as pause } from 'node:timers/promises';
import { type ArrivedRow, listRequestsOperation, type RowView } from '@svc/core/analytics/index.ts';
import { type BalanceView, getBalanceOperation } from '@svc/core/credits/index.ts';
import { getRunOperation, type RunView } from '@svc/core/evals/index.ts';
import { type Environment, ServiceError } from '@svc/core/kernel/index.ts';
import { type Canary, listCanariesOperation } from '@svc/core/rollouts/index.ts';
import { getTopupOperation, type TopupView } from '@svc/core/topups/index.ts';
import {
  type DeliveryView,
  type DeliveryWatch,
  listDeliveriesOperation,
  watchDeliveries,
} from '@svc/core/webhooks/index.ts';
import type { Static } from 'typebox';
import { environmentOf } from '../../run.ts';
import { builder } from '../builder.ts';
import type { StreamLife, TenantContext } from '../context.ts';
import { EnvironmentEnum } from './common.ts';
import { EvalRun } from './eval.ts';
import { Balance } from './money/credits.ts';
import { Topup } from './money/topup.ts';
import { PolicyCanary } from './policy.ts';
import { Request } from './request.ts';
import { Delivery } from './webhook.ts';

type Row = Static<typeof RowView>;
type EvalRunRow = Static<typeof RunView>;
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
  /** "" is the calls without one, as for the list. */
  readonly app: string | null;
  readonly user: string | null;
  readonly session: string | null;
  /** Calls that have the tag; with a value, those with that value, where "" is the calls without the tag. */
  readonly tag: string | null;
  readonly tag_value: string | null;
}

function hasTag({ tags }: ArrivedRow, { tag, tag_value }: Filter): boolean {
  if (tag === null) return true;
  const said = Object.hasOwn(tags, tag) ? tags[tag] : undefined;
  return tag_value === null ? said !== undefined : (said ?? '') === tag_value;
}

/** Whether the list with the same filters has `row`. */
function isWanted(row: ArrivedRow, filter: Filter): boolean {
  const asked = [
    [filter.key_id, row.key_id],
    [filter.project_id, row.project_id],
    [filter.app, row.app_id],
    [filter.user, row.user_hash],
    [filter.session, row.session_id],
  ] as const;
  return asked.every(([wanted, said]) => wanted === null || wanted === said) && hasTag(row, filter);
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

async function* matching(
  rows: AsyncGenerator<ArrivedRow>,
  filter: Filter,
  stream: StreamLife,
): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (!isWanted(row, filter)) continue;
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
      app: t.arg.string({ description: 'Of an app; empty: of none.' }),
      user: t.arg.string({ description: 'Of an end user, by the hash; empty: of none.' }),
      session: t.arg.string({ description: 'Of a session; empty: of none.' }),
      tag: t.arg.string({ description: 'With this tag.' }),
      tagValue: t.arg.string({ description: 'With this value of the tag; empty: without the tag.' }),
    },
    extensions: { operation: listRequestsOperation.name },
    subscribe: (_root, args, context) =>
      added(
        {
          environment: (args.environment as Environment | null | undefined) ?? null,
          key_id: args.keyId ?? null,
          project_id: args.projectId ?? null,
          ...{ app: args.app ?? null, user: args.user ?? null, session: args.session ?? null },
          ...{ tag: args.tag ?? null, tag_value: args.tagValue ?? null },
        },
        context,
      ),
    resolve: (row) => row as never,
  }),
);

/** `first`, then each other state that `read` gives, until one is the last. */
async function* states<T>(
  first: T,
  { read, isLast }: { read: () => Promise<T>; isLast: (state: T) => boolean },
  signal: AbortSignal,
): AsyncGenerator<T> {
  let now = first;
  let sent = '';
  while (!signal.aborted) {
    const text = JSON.stringify(now);
    if (text !== sent) yield now;
    sent = text;
    if (isLast(now)) return;
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
    if (!signal.aborted) now = await read();
  }
}

async function followTopup(id: string, { runner, stream }: TenantContext): Promise<AsyncGenerator<TopupRow>> {
  if (stream === null) throw noStream();
  const read = () => runner.run(getTopupOperation, { id });
  return states(await read(), { read, isLast: ({ status }) => status === 'paid' }, stream.signal);
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

async function followRun(id: string, { runner, stream }: TenantContext): Promise<AsyncGenerator<EvalRunRow>> {
  if (stream === null) throw noStream();
  const read = () => runner.run(getRunOperation, { id });
  const isLast = ({ finished_at }: EvalRunRow) => finished_at !== null;
  return states(await read(), { read, isLast }, stream.signal);
}

builder.subscriptionField('evalRunUpdated', (t) =>
  t.field({
    type: EvalRun,
    description: 'The run now, then each second in which it has got further, until it has ended.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getRunOperation.name },
    subscribe: (_root, { id }, context) => followRun(id, context),
    resolve: (run) => run as never,
  }),
);

async function followDeliveries(
  id: string,
  { runner, stream }: TenantContext,
): Promise<AsyncGenerator<DeliveryView>> {
  if (stream === null) throw noStream();
  runner.admit(listDeliveriesOperation);
  return movements(await watchDeliveries(runner.context(null), id), stream.signal);
}

/** Each delivery that `watch` finds new or moved, until `signal`. */
async function* movements(watch: DeliveryWatch, signal: AbortSignal): AsyncGenerator<DeliveryView> {
  while (!signal.aborted) {
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
    if (!signal.aborted) yield* await watch.moved();
  }
}

builder.subscriptionField('webhookDelivery', (t) =>
  t.field({
    type: Delivery,
    description:
      'Each delivery of the endpoint `id` from now on, when it is queued and whenever its status or its attempts change.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: listDeliveriesOperation.name },
    subscribe: (_root, { id }, context) => followDeliveries(id, context),
    resolve: (delivery) => delivery as never,
  }),
);

async function followBalance(
  environment: Environment | null,
  { runner, stream }: TenantContext,
): Promise<AsyncGenerator<BalanceView>> {
  if (stream === null) throw noStream();
  const read = () => runner.run(getBalanceOperation, {}, { environment });
  return states(await read(), { read, isLast: () => false }, stream.signal);
}

builder.subscriptionField('balanceChanged', (t) =>
  t.field({
    type: Balance,
    description:
      'The balance now, then as it is each second in which it has changed: what came and went between is not told of.',
    args: { environment: t.arg({ type: EnvironmentEnum }) },
    extensions: { operation: getBalanceOperation.name },
    subscribe: (_root, { environment }, context) =>
      followBalance((environment as Environment | null | undefined) ?? null, context),
    resolve: (balance) => balance as never,
  }),
);

async function followCanaries(
  name: string,
  { runner, stream }: TenantContext,
): Promise<AsyncGenerator<readonly Canary[]>> {
  if (stream === null) throw noStream();
  const read = async () => (await runner.run(listCanariesOperation, { name })).data;
  return states(await read(), { read, isLast: () => false }, stream.signal);
}

builder.subscriptionField('policyCanary', (t) =>
  t.field({
    type: [PolicyCanary],
    description:
      'The canaries of a policy now, then each second in which one was judged or its share changed.',
    args: { name: t.arg.string({ required: true }) },
    extensions: { operation: listCanariesOperation.name },
    subscribe: (_root, { name }, context) => followCanaries(name, context),
    resolve: (canaries) => canaries as never,
  }),
);
