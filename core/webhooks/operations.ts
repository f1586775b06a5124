// Endpoints: read, make, change, delete, rotate.
import { Type } from 'typebox';
import { egressOf } from '../egress/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  documented,
  type Id,
  idOf,
  invalid,
  lineOf,
  listOf,
  Nothing,
  named,
  nullable,
  oneOf,
  operation,
  orgCaller,
  refuseOtherVersion,
  ServiceError,
  sendVersion,
  Time,
} from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { deliveryOperations } from './delivery-operations.ts';
import { dropQueued } from './delivery-store.ts';
import { ALL_EVENTS, eventTypes, findUnknownEvent } from './events.ts';
import { examples } from './examples.ts';
import { getWebhook } from './find.ts';
import { viewWebhook, WebhookView, WebhookWithSecret, webhookExample } from './schema.ts';
import { newWebhookSecret, openReplaced, openSecret, sealReplaced, sealSecret, secretHint } from './sign.ts';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  readSecrets,
  rotateSecret,
  updateWebhook,
} from './store.ts';
import { type WebhookRow, webhookStatuses } from './types.ts';

const session = ['owner', 'admin', 'developer'] as const;
const readers = { kind: 'key', scopes: ['manage:keys'], session } as const;
/** Endpoints get events of live calls too, so a test key may not change them. */
const writers = { kind: 'key', scopes: ['manage:keys'], session, sandbox: false } as const;
const WEBHOOKS_MAX = 20;
const OVERLAP_MS = 24 * 3_600_000;
const secretExample = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

const EventName = named(
  'EventName',
  documented(lineOf(64), { enum: [...Object.keys(eventTypes), ALL_EVENTS] }),
);
/** Which addresses are safe to call is decided by `egress`. */
const Url = documented(
  Type.String({ minLength: 1, maxLength: 2_048, format: 'line', description: 'https address' }),
  { format: 'uri' },
);
const Description = Type.String({ maxLength: 500, format: 'lines' });
const Events = Type.Array(EventName, {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'event types, or * for all',
});

function refuseUnknownEvents(events: readonly string[]): void {
  const unknown = findUnknownEvent(events);
  if (unknown === null) return;
  const at = events.indexOf(unknown);
  throw invalid(`events[${at}]`, 'enum', 'There is no such event. GET /v1/webhooks/events lists all.');
}

async function refuseUnsafeUrl(context: Context, url: string): Promise<void> {
  const reason = await egressOf(context.services).refusalOf(url);
  if (reason === null) return;
  throw new ServiceError('unsafe_url', `The address ${reason}.`, { param: 'url', details: { reason } });
}

function audit(
  context: Context,
  action: string,
  webhook: Pick<WebhookRow, 'id' | 'org_id' | 'url'>,
  change: { before?: Record<string, unknown>; after?: Record<string, unknown> } = {},
): Promise<void> {
  const target = { type: 'webhook', id: webhook.id, display: webhook.url };
  return writeAudit(context, { action, org_id: webhook.org_id, target, ...change });
}

function newSecret(context: Context, id: Id<'webhook'>) {
  const secret = newWebhookSecret();
  return {
    secret,
    secret_hint: secretHint(secret),
    secret_sealed: sealSecret(context.services.root_key, id, secret),
  };
}

export const listWebhooksOperation = operation({
  name: 'webhooks.list',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints, oldest first',
  audience: readers,
  input: Type.Object({}),
  output: listOf(WebhookView),
  errors: [],
  example: { object: 'list', data: [webhookExample] },
  async run(context) {
    const rows = await listWebhooks(context.db, orgCaller(context).org_id);
    return { object: 'list' as const, data: rows.map((row) => viewWebhook(row, context.now())) };
  },
});

export const EventTypeView = named(
  'EventType',
  Type.Object({
    name: Type.String(),
    description: Type.String(),
    example: Type.Object(
      {
        id: idOf('event'),
        type: Type.String(),
        timestamp: Time,
        org_id: idOf('org'),
        data: Type.Record(Type.String(), Type.Unknown()),
      },
      { description: 'a body as it arrives' },
    ),
  }),
);

function viewEvent(name: keyof typeof eventTypes) {
  const example = {
    ...{ id: 'evt_01KACZ3V8S6T5R4Q3P2N1M0K9J', type: name, timestamp: '2026-11-21T10:00:00.000Z' },
    ...{ org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', data: { ...examples[name] } },
  };
  return { name, description: eventTypes[name], example };
}

export const listEventsOperation = operation({
  name: 'webhooks.events',
  method: 'GET',
  path: '/v1/webhooks/events',
  summary: 'List the events that endpoints can subscribe to',
  audience: { kind: 'key', scopes: 'any', session: ['owner', 'admin', 'developer', 'billing', 'viewer'] },
  input: Type.Object({}),
  output: listOf(EventTypeView),
  errors: [],
  example: {
    object: 'list',
    data: [viewEvent('topup.completed')],
  },
  async run() {
    const data = (Object.keys(eventTypes) as (keyof typeof eventTypes)[]).map(viewEvent);
    return { object: 'list' as const, data };
  },
});

export const getWebhookOperation = operation({
  name: 'webhooks.get',
  method: 'GET',
  path: '/v1/webhooks/:id',
  summary: 'Read a webhook endpoint',
  audience: readers,
  input: Type.Object({ id: idOf('webhook') }),
  output: WebhookView,
  errors: [],
  versioned: true,
  example: webhookExample,
  async run(context, { id }) {
    const webhook = await getWebhook(context, id, findWebhook);
    sendVersion(context, webhook.updated_at);
    return viewWebhook(webhook, context.now());
  },
});

export const createWebhookOperation = operation({
  name: 'webhooks.create',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Create a webhook endpoint; the answer shows its secret once',
  audience: writers,
  input: Type.Object({ url: Url, description: Type.Optional(Description), events: Events }),
  output: WebhookWithSecret,
  errors: ['unsafe_url', 'plan_limit_reached'],
  status: 201,
  idempotent: true,
  request: {
    url: webhookExample.url,
    description: 'billing',
    events: ['topup.completed', 'budget.threshold'],
  },
  example: { ...webhookExample, secret: secretExample },
  async run(context, { url, description, events }) {
    refuseUnknownEvents(events);
    await refuseUnsafeUrl(context, url);
    return context.transaction(async (context) => {
      const caller = orgCaller(context);
      const { org_id } = caller;
      // When two requests create the twentieth endpoint at the same time, one waits for the lock and is refused.
      await lockOrg(context.db, org_id);
      if ((await countWebhooks(context.db, org_id)) >= WEBHOOKS_MAX) {
        throw new ServiceError(
          'plan_limit_reached',
          `An organization has at most ${WEBHOOKS_MAX} endpoints.`,
          {
            details: { limit: 'webhooks', limit_value: WEBHOOKS_MAX },
          },
        );
      }
      const id = context.newId('webhook');
      const { secret, secret_hint, secret_sealed } = newSecret(context, id);
      const created_by = caller.kind === 'session' ? caller.user_id : caller.key_id;
      const at = context.now();
      const webhook = await insertWebhook(context.db, {
        ...{
          id,
          org_id,
          url,
          description: description ?? '',
          events,
          secret_sealed,
          secret_hint,
          created_by,
          at,
        },
      });
      await audit(context, 'webhooks.create', webhook, { after: { url, events } });
      return { ...viewWebhook(webhook, at), secret };
    });
  },
});

/** `webhook` with the state that a PATCH asks for: active starts fresh, disabled is by hand. */
function withStatus(webhook: WebhookRow, status: WebhookRow['status']): WebhookRow {
  if (status === webhook.status) return webhook;
  if (status === 'disabled') return { ...webhook, status, disabled_reason: 'manual' };
  return { ...webhook, status, disabled_reason: null, failing_since: null, failed_attempts: 0 };
}

export const patchWebhookOperation = operation({
  name: 'webhooks.update',
  method: 'PATCH',
  path: '/v1/webhooks/:id',
  summary: 'Change a webhook endpoint; disabling drops what is queued for it',
  audience: writers,
  input: Type.Object({
    id: idOf('webhook'),
    url: Type.Optional(Url),
    description: Type.Optional(nullable(Description)),
    events: Type.Optional(Events),
    status: Type.Optional(oneOf(webhookStatuses, 'WebhookStatus')),
  }),
  output: WebhookView,
  errors: ['unsafe_url'],
  versioned: true,
  request: { events: ['*'], status: 'active' },
  example: webhookExample,
  async run(context, input) {
    // The endpoint is looked up first: a caller who may not see it must not learn whether the new address is allowed.
    const seen = await getWebhook(context, input.id, findWebhook);
    if (input.events !== undefined) refuseUnknownEvents(input.events);
    if (input.url !== undefined && input.url !== seen.url) await refuseUnsafeUrl(context, input.url);
    return context.transaction(async (context) => {
      const before = await getWebhook(context, input.id, lockWebhook);
      refuseOtherVersion(context, before.updated_at);
      const changed: WebhookRow = {
        ...withStatus(before, input.status ?? before.status),
        url: input.url ?? before.url,
        description: input.description === undefined ? before.description : (input.description ?? ''),
        events: input.events ?? before.events,
      };
      const at = context.now();
      const webhook = await updateWebhook(context.db, changed, at);
      if (webhook.status === 'disabled' && before.status === 'active')
        await dropQueued(context.db, webhook.id);
      const shown = ({ url, description, events, status }: WebhookRow) => ({
        url,
        description,
        events,
        status,
      });
      await audit(context, 'webhooks.update', webhook, { before: shown(before), after: shown(webhook) });
      return viewWebhook(webhook, at);
    });
  },
});

export const deleteWebhookOperation = operation({
  name: 'webhooks.delete',
  method: 'DELETE',
  path: '/v1/webhooks/:id',
  summary: 'Delete a webhook endpoint with its deliveries',
  audience: writers,
  input: Type.Object({ id: idOf('webhook') }),
  output: Nothing,
  errors: [],
  status: 204,
  versioned: true,
  example: {},
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const webhook = await getWebhook(context, id, lockWebhook);
      refuseOtherVersion(context, webhook.updated_at);
      await deleteWebhook(context.db, webhook);
      await audit(context, 'webhooks.delete', webhook);
      return {};
    }),
});

/**
 * The present secret, which signs until `ends_at`, and earlier ones that still sign: after two rotations in a day both
 * do.
 */
async function replacedSecrets(
  context: Context,
  id: Id<'webhook'>,
  { at, ends_at }: { at: Date; ends_at: Date },
): Promise<Buffer> {
  const { root_key } = context.services;
  const stored = await readSecrets(context.db, id);
  const present = { secret: openSecret(root_key, id, stored.secret_sealed), until_ms: ends_at.getTime() };
  const before = openReplaced(root_key, id, {
    ...{ sealed: stored.previous_secret_sealed, ends_at: stored.previous_secret_expires_at },
    at_ms: at.getTime(),
  });
  return sealReplaced(root_key, id, [present, ...before]);
}

export const rotateWebhookOperation = operation({
  name: 'webhooks.rotate',
  method: 'POST',
  path: '/v1/webhooks/:id/rotate',
  summary: 'Replace the secret of an endpoint; for 24 hours the old one signs too',
  audience: writers,
  input: Type.Object({ id: idOf('webhook') }),
  output: WebhookWithSecret,
  errors: [],
  idempotent: true,
  example: {
    ...webhookExample,
    previous_secret_expires_at: '2026-11-22T10:00:00.000Z',
    secret: secretExample,
  },
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const before = await getWebhook(context, id, lockWebhook);
      const { secret, secret_hint, secret_sealed } = newSecret(context, before.id);
      const at = context.now();
      const previous_ends_at = new Date(at.getTime() + OVERLAP_MS);
      const previous_sealed = await replacedSecrets(context, before.id, { at, ends_at: previous_ends_at });
      const webhook = await rotateSecret(context.db, {
        ...{ id: before.id, secret_sealed, secret_hint, previous_sealed, previous_ends_at, at },
      });
      await audit(context, 'webhooks.rotate', webhook, { after: { secret: '[redacted]' } });
      return { ...viewWebhook(webhook, at), secret };
    }),
});

export const webhookOperations = [
  listWebhooksOperation,
  listEventsOperation,
  createWebhookOperation,
  getWebhookOperation,
  patchWebhookOperation,
  deleteWebhookOperation,
  rotateWebhookOperation,
  ...deliveryOperations,
] as const;
