// Register, read and end mandates; set automatic top-up; skip a debit.
import { Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  isId,
  named,
  notFound,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { mandateMethods } from '../topups/index.ts';
import { skipAttempt } from './attempt.ts';
import { actOnMandate, createMandate } from './register.ts';
import { AutoTopupView, MandateView, SetAutoTopup, viewMandate } from './schema.ts';
import { findMandate, listMandates } from './store.ts';
import type { Mandate } from './types.ts';
import { readAutoTopup, readConfigOf, setAutoTopup } from './view.ts';

const roles = ['owner', 'admin', 'billing'] as const;
const readers = { kind: 'key', scopes: ['read:credits'], session: roles } as const;
const payers = { kind: 'key', scopes: ['manage:credits'], session: roles, sandbox: false } as const;
const DEFAULT_LIMIT = 50;
const MandateAnswer = named('MandateAnswer', Type.Object({ mandate: MandateView }));
const MandateCreated = named(
  'MandateCreated',
  Type.Object({ mandate: MandateView, registration_url: Type.String() }),
);

const config = { enabled: true, threshold_micro: 10_000_000, amount_minor: 5_000 };
const mandateExample = {
  id: 'mnd_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  gateway: 'rail-b',
  method: 'card',
  mandate_ref: 'cs_test_a1',
  token_ref: 'pm_a1',
  max_amount_minor: 500_000,
  currency: 'USD',
  status: 'active',
  reason: '',
  auto_topup: config,
  notify_hours: 0,
  consecutive_failures: 0,
  registered_at: '2026-11-21T10:01:00.000Z',
  expires_at: '2026-11-22T10:00:00.000Z',
  ends_at: null,
  created_at: '2026-11-21T10:00:00.000Z',
} as const;
const pendingExample = {
  ...mandateExample,
  token_ref: null,
  status: 'pending',
  registered_at: null,
  auto_topup: { ...config, enabled: false },
  registration_url: 'https://rail.example/setup/cs_test_a1',
} as const;
const autoExample: AutoTopupView = {
  mandate: mandateExample,
  config,
  rail: 'rail-b',
  methods: ['card'],
  cap_minor: 500_000,
  notify_hours: 0,
  currency: 'USD',
  min_amount_minor: 500,
  next: { step: 'watching', reason: '', at: null, topup_id: null, total_minor: 5_000, can_skip: false },
  last_attempt: null,
};

/** Mandates are of live rows: a test key of the same organization finds none. */
function liveOrg(context: Context): Id<'org'> {
  const { org_id, environment } = orgCaller(context);
  if (environment !== 'live') throw notFound();
  return org_id;
}

async function answerOf(context: Context, mandate: Mandate): Promise<{ mandate: MandateView }> {
  return { mandate: viewMandate(context, mandate, await readConfigOf(context, mandate.org_id)) };
}

export const listMandatesOperation = operation({
  name: 'credits.mandates.list',
  method: 'GET',
  path: '/v1/credits/mandates',
  summary: 'List mandates, newest first',
  audience: readers,
  input: Type.Object(pageInput(200)),
  output: pageOf(MandateView),
  errors: [],
  example: { object: 'list', data: [mandateExample], next_cursor: '' },
  async run(context, input) {
    const { org_id, environment } = orgCaller(context);
    if (environment !== 'live') return page([], '');
    const auto = await readConfigOf(context, org_id);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `mandates ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        listMandates(context.db, {
          org_id,
          before: after === null ? null : { at: new Date(after.at), id: after.id },
          limit,
        }),
      placeOf: (mandate) => ({ at: mandate.created_at.getTime(), id: mandate.id }),
    });
    return page(
      rows.map((mandate) => viewMandate(context, mandate, auto)),
      next_cursor,
      cursorAt,
    );
  },
});

export const getMandateOperation = operation({
  name: 'credits.mandates.get',
  method: 'GET',
  path: '/v1/credits/mandates/:id',
  summary: 'Read one mandate',
  audience: readers,
  input: Type.Object({ id: idOf('mandate') }),
  output: MandateAnswer,
  errors: [],
  example: { mandate: mandateExample },
  async run(context, { id }) {
    const org_id = liveOrg(context);
    const mandate = isId('mandate', id) ? await findMandate(context.db, { id, org_id }) : null;
    if (mandate === null) throw notFound();
    return answerOf(context, mandate);
  },
});

export const createMandateOperation = operation({
  name: 'credits.mandates.create',
  method: 'POST',
  path: '/v1/credits/mandates',
  summary: 'Begin to register a mandate and get the address to register at',
  audience: payers,
  input: Type.Object({ method: oneOf(mandateMethods, 'MandateMethod') }),
  output: MandateCreated,
  errors: [
    ...(['mandate_exists', 'rail_unavailable', 'conflict', 'currency_not_supported'] as const),
    'legal_acceptance_required',
  ],
  status: 201,
  idempotent: true,
  // The rail is asked between the row and its answer; run again, it makes another row that nobody can register.
  own_transactions: true,
  request: { method: 'card' },
  example: { mandate: pendingExample, registration_url: 'https://rail.example/setup/cs_test_a1' },
  async run(context, { method }) {
    const { org_id } = orgCaller(context);
    const { mandate, registration_url } = await createMandate(context, { org_id, method });
    return { ...(await answerOf(context, mandate)), registration_url };
  },
});

async function act(context: Context, id: string, act: 'pause' | 'resume' | 'cancel') {
  const { org_id } = orgCaller(context);
  if (!isId('mandate', id)) throw notFound();
  return answerOf(context, await actOnMandate(context, { org_id, id, act }));
}

const Named = Type.Object({ id: idOf('mandate') });

export const pauseMandateOperation = operation({
  name: 'credits.mandates.pause',
  method: 'POST',
  path: '/v1/credits/mandates/:id/pause',
  summary: 'Pause a mandate: nothing is debited until it is resumed',
  audience: payers,
  input: Named,
  output: MandateAnswer,
  errors: ['state_conflict'],
  example: { mandate: { ...mandateExample, status: 'paused', reason: 'by_people' } },
  run: (context, { id }) => act(context, id, 'pause'),
});

export const resumeMandateOperation = operation({
  name: 'credits.mandates.resume',
  method: 'POST',
  path: '/v1/credits/mandates/:id/resume',
  summary: 'Resume a paused mandate',
  audience: payers,
  input: Named,
  output: MandateAnswer,
  errors: ['state_conflict'],
  example: { mandate: mandateExample },
  run: (context, { id }) => act(context, id, 'resume'),
});

export const cancelMandateOperation = operation({
  name: 'credits.mandates.cancel',
  method: 'POST',
  path: '/v1/credits/mandates/:id/cancel',
  summary: 'Cancel a mandate, here at once and at the payment rail as soon as that can be reached',
  audience: payers,
  input: Named,
  output: MandateAnswer,
  errors: ['state_conflict'],
  example: { mandate: { ...mandateExample, status: 'cancelled', reason: 'by_people' } },
  run: (context, { id }) => act(context, id, 'cancel'),
});

export const getAutoTopupOperation = operation({
  name: 'credits.auto_topup.get',
  method: 'GET',
  path: '/v1/credits/auto-topup',
  summary: 'Automatic top-up: what is set, what happens next, and why it does not',
  audience: readers,
  input: Type.Object({}),
  output: AutoTopupView,
  errors: ['currency_not_supported'],
  example: autoExample,
  run: (context) => readAutoTopup(context, liveOrg(context)),
});

export const setAutoTopupOperation = operation({
  name: 'credits.auto_topup.set',
  method: 'PUT',
  path: '/v1/credits/auto-topup',
  summary: 'Set automatic top-up; switching it on needs an active mandate',
  audience: payers,
  input: SetAutoTopup,
  output: AutoTopupView,
  errors: [
    'state_conflict',
    'amount_above_cap',
    'amount_too_small',
    'amount_too_large',
    'currency_not_supported',
    'invalid_gstin',
    'rail_unavailable',
    'fx_stale',
  ],
  request: config,
  example: autoExample,
  async run(context, input) {
    const org_id = liveOrg(context);
    await setAutoTopup(context, { org_id, ...input });
    return readAutoTopup(context, org_id);
  },
});

export const skipAutoTopupOperation = operation({
  name: 'credits.auto_topup.skip',
  method: 'POST',
  path: '/v1/credits/auto-topup/skip',
  summary: 'Skip a debit that was announced and not made yet',
  audience: payers,
  input: Type.Object({ topup_id: idOf('topup') }),
  output: AutoTopupView,
  errors: ['state_conflict', 'currency_not_supported'],
  request: { topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G' },
  example: autoExample,
  async run(context, { topup_id }) {
    const org_id = liveOrg(context);
    if (!isId('topup', topup_id)) throw notFound();
    await skipAttempt(context, { topup_id, org_id });
    return readAutoTopup(context, org_id);
  },
});

export const mandateOperations = [
  listMandatesOperation,
  getMandateOperation,
  createMandateOperation,
  pauseMandateOperation,
  resumeMandateOperation,
  cancelMandateOperation,
  getAutoTopupOperation,
  setAutoTopupOperation,
  skipAutoTopupOperation,
] as const;
