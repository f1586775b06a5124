// Prices of endpoints that one member of staff proposes and another one confirms. A confirmed price is one of the catalog's from
// its day on, as if a file had it.
import { Type } from 'typebox';
import { findApproval, propose } from '../../approvals/index.ts';
import {
  listSetPrices,
  listSetRecords,
  OVERTAKEN,
  planPrice,
  setPrice,
  type WantedPrice,
  withSetPrices,
} from '../../catalog/index.ts';
import { writeAudit } from '../../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  isId,
  notFound,
  oneOf,
  operation,
  ServiceError,
  Time,
} from '../../kernel/index.ts';
import { effectOf } from './effect.ts';
import { Changes, PricePlanView, planExample, priceInput, Reason, viewPlan } from './schema.ts';

export const PROPOSE_PRICE = 'staff.prices.propose';
const proposers = { kind: 'staff', roles: ['catalog', 'finance'] } as const;
const readers = { kind: 'staff', roles: ['finance', 'support', 'catalog', 'compliance'] } as const;
const SET_MAX = 100;

/** What a proposal is kept with. */
interface Proposed extends WantedPrice {
  readonly replaces: string;
}

const planOf = (context: Context, wanted: WantedPrice) =>
  planPrice(context.db, { catalog: context.services.catalog(), wanted, now: context.now() });

/** What a look comes to is read outside the transaction that notes it: it may take seconds. */
const noteLook = (context: Context, action: string, target: { type: string; id: string; display: string }) =>
  context.transaction((context) => writeAudit(context, { action, org_id: null, target }));

export const previewPriceOperation = operation({
  name: 'staff.prices.preview',
  method: 'POST',
  path: '/staff/prices/preview',
  summary: 'Show what other prices of an endpoint would come to; nothing is kept',
  audience: proposers,
  input: Type.Object({ ...priceInput, changes: Changes(0) }),
  output: PricePlanView,
  errors: [],
  example: planExample,
  async run(context, wanted) {
    const { endpoint_id: id } = wanted;
    await noteLook(context, 'staff.prices.preview', { type: 'endpoint', id, display: id });
    const planned = await planOf(context, wanted);
    return viewPlan(planned, wanted.from, await effectOf(context, planned));
  },
});

export const proposePriceOperation = operation({
  name: PROPOSE_PRICE,
  method: 'POST',
  path: '/staff/prices/propose',
  summary: 'Propose other prices of an endpoint from a day on; a second person confirms them',
  audience: proposers,
  input: Type.Object({
    ...priceInput,
    changes: Changes(1),
    replaces: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'of the preview: the prices that these stand in the place of',
    }),
    reason: Reason,
  }),
  output: Type.Object({ approval_id: idOf('approval') }),
  errors: ['version_mismatch'],
  example: { approval_id: 'apr_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  async run(context, { reason, replaces, ...wanted }) {
    // The prices first: a change that does not fit other prices says less than that they are others.
    const present = await planOf(context, { ...wanted, changes: [] });
    if (present.replaces !== replaces)
      throw new ServiceError('version_mismatch', OVERTAKEN, { param: 'replaces' });
    await planOf(context, wanted);
    const input = { ...wanted, replaces };
    const act = { action: PROPOSE_PRICE, input, org_id: null, amount_micro_usd: null, reason };
    return { approval_id: await propose(context, act) };
  },
});

/** Sets a price that a second person confirms. @throws ServiceError state_conflict. */
export async function priceApproved(
  context: Context,
  input: Proposed,
  approval: { readonly id: Id<'approval'>; readonly reason: string },
): Promise<void> {
  const { endpoint, filed, pairs } = await setPrice(context, { ...input, approval_id: approval.id });
  const changed = pairs.filter(({ before, after }) => before !== after);
  await writeAudit(context, {
    ...{ action: 'staff.prices.set', org_id: null, reason: approval.reason },
    target: { type: 'endpoint', id: endpoint.id, display: `${filed.model_id} at ${endpoint.provider}` },
    after: { from: input.from, changes: changed },
  });
}

export const getProposedPriceOperation = operation({
  name: 'staff.prices.proposed',
  method: 'GET',
  path: '/staff/prices/proposed/:approval_id',
  summary: 'Show what proposed prices come to as things are now',
  audience: readers,
  input: Type.Object({ approval_id: idOf('approval') }),
  output: PricePlanView,
  errors: ['state_conflict'],
  example: planExample,
  async run(context, { approval_id }) {
    const found = isId('approval', approval_id) ? await findApproval(context.db, approval_id) : null;
    if (found === null || found.action !== PROPOSE_PRICE) throw notFound();
    const { id, action: display } = found;
    await noteLook(context, 'staff.prices.proposed', { type: 'approval', id, display });
    const { replaces, ...wanted } = found.input as unknown as Proposed;
    const planned = await planOf(context, wanted).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      const param = error.param ?? 'endpoint_id';
      throw new ServiceError('state_conflict', error.message, { param, details: { state: 'impossible' } });
    });
    if (planned.replaces !== replaces)
      throw new ServiceError('state_conflict', OVERTAKEN, {
        param: 'replaces',
        details: { state: 'overtaken' },
      });
    return viewPlan(planned, wanted.from, await effectOf(context, planned));
  },
});

export const setPriceStates = ['coming', 'in_force', 'followed', 'overtaken', 'left'] as const;

export const SetPriceView = Type.Object({
  approval_id: idOf('approval'),
  endpoint_id: idOf('endpoint'),
  model: Type.String(),
  provider: Type.String(),
  region: Type.String(),
  from: Type.String({ format: 'date' }),
  set_at: Time,
  state: oneOf(setPriceStates, 'SetPriceState'),
});

/** What became of set prices, as the files are now. */
async function statesOf(
  context: Context,
): Promise<(set_no: number, endpoint_id: string, from: string) => State> {
  const { filed } = context.services.catalog();
  const today = context.now().toISOString().slice(0, 10);
  const set = await listSetPrices(context.db, null);
  const priced = new Map(
    [...set].flatMap(([id, own]) => {
      const file = filed?.get(id as Id<'endpoint'>)?.file;
      return file === undefined ? [] : [[id, { own, ...withSetPrices(file, own) }] as const];
    }),
  );
  return (set_no, endpoint_id, from) => {
    const of = priced.get(endpoint_id);
    if (of === undefined) return 'left';
    if (!of.held.has(set_no)) return 'overtaken';
    const { own, held, file } = of;
    if (own.some((one) => held.has(one.set_no) && one.from === from && one.set_no > set_no))
      return 'followed';
    if (from > today) return 'coming';
    return (file.scheduled ?? []).some((one) => one.from > from && one.from <= today)
      ? 'followed'
      : 'in_force';
  };
}
type State = (typeof setPriceStates)[number];

export const listSetPricesOperation = operation({
  name: 'staff.prices.list_set',
  method: 'GET',
  path: '/staff/prices/set',
  summary: `List the ${SET_MAX} newest prices that staff set, and what became of them`,
  audience: readers,
  input: Type.Object({}),
  output: Type.Object({ object: Type.Literal('list'), data: Type.Array(SetPriceView) }),
  errors: [],
  example: { object: 'list', data: [] },
  run: (context) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.prices.list_set', org_id: null });
      const stateOf = await statesOf(context);
      const records = await listSetRecords(context.db, SET_MAX);
      return {
        object: 'list' as const,
        data: records.map(({ set_no, prices: _, replaces: _of, set_at, ...rest }) => ({
          ...rest,
          set_at: set_at.toISOString(),
          state: stateOf(set_no, rest.endpoint_id, rest.from),
        })),
      };
    }),
});
